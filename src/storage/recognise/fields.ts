/** Finds the datasets of fields by their names, also if each time has its own group or dataset. */
import { DataError } from "../../shared/errors.js";
import { FIELDS, fieldNameProblem } from "../../shared/operations.js";
import type { FieldName } from "../dataset/dataset.js";
import { join, parentOf } from "./evidence.js";
import type { Contents, Findings } from "./layout.js";
import { OTHERS, type OtherField, PRESSURES, TRIPLES, VECTORS } from "./usual-names.js";

/** Fields of one group, by their paths at the first time. */
export interface FoundFields {
  readonly velocity: readonly string[];
  readonly pressure: string | null;
  readonly others: readonly OtherField[];
  readonly named: readonly OtherField[];
  /** One text per time if every time has its own group or dataset, ascending; null if it has not. */
  readonly steps: readonly string[] | null;
  /** A path with `{step}` in place of the first step. */
  readonly place: (path: string) => string;
}

/** Levels of groups below the root that are searched. */
const MAX_DEPTH = 4;
const MAX_GROUPS = 4000;
const MAX_LISTED = 4;
const FIELDS_ANSWER = "--velocity PATH (or three paths) and --pressure PATH, or fields in a descriptor";
const NUMBER = String.raw`\d+(?:\.\d+)?(?:[eE][+-]?\d+)?`;
/** A group that holds one time: a number after a name or none. */
const TIME_GROUP = new RegExp(`^(.*?[^0-9.]|)(${NUMBER})$`);
/** A dataset that holds one time: the number of its time has three digits at least, as a component never has. */
const TIME_DATASET = /^(.*?)[_-]?(\d{3,})$/;

/** The datasets of a group, or those of a group with one time in their names. */
interface DatasetGroup {
  readonly group: string;
  /** Paths by the names of datasets in lower case, without the number of a time. */
  readonly paths: ReadonlyMap<string, string>;
}

/**
 * @returns null if no dataset has the name of a field
 * @throws DataError if fields have only two dimensions, or the user names one that is not there
 */
export function findFields(contents: Contents, findings: Findings): FoundFields | null {
  const { answers } = contents;
  if (answers.velocity !== undefined || answers.pressure !== undefined) return answeredFields(contents);
  const holders = allGroups(contents).flatMap((group) => datasetGroupsIn(contents, group));
  const candidates = candidatesIn(contents, holders);
  const [chosen] = candidates;
  const pair = twoComponentsIn(contents, holders);
  const unread = unreadField(contents, holders);
  if (chosen === undefined) {
    if (unread !== null) throw new DataError(`${unread}; write it anew as float32 or float64`);
    refuseFlat(contents, holders);
    if (pair !== null) throw new DataError(`${twoComponentsText(pair)}, without a third; ${THIRD_ADVICE}`);
    if (answers.fields !== undefined) return answeredFields(contents);
    return unnamedFields(contents, findings);
  }
  const series = seriesOf(candidates.map(({ holder }) => holder));
  const velocity = chosen.velocities[0] ?? [];
  const rivals = [
    ...chosen.velocities.slice(1),
    ...(series === null ? candidates.slice(1).flatMap(({ velocities }) => velocities.slice(0, 1)) : []),
    ...sameButForCase(contents, velocity),
  ];
  askWhich(contents, findings, "velocity", velocity, rivals);
  const pressure = chosen.pressure ?? (series === null ? pressureBeside(contents, chosen.holder, holders) : null);
  const taken = pressure === null ? [] : [pressure];
  const pressures = [...namedIn(contents, chosen.holder, PRESSURES), ...sameButForCase(contents, taken)];
  askWhich(contents, findings, "pressure", taken, pressures);
  findings.addReason(
    `velocity: ${velocity.length === 0 ? "none" : velocity.join(", ")}; pressure: ${pressure ?? "none"}.`,
  );
  if (velocity.length === 0 && pair !== null)
    findings.addWarning(`${twoComponentsText(pair)}, and left out without a third; ${THIRD_ADVICE}.`);
  if (unread !== null) findings.addWarning(`${unread}, and is left out.`);
  const others = otherFields(contents, findings, chosen, velocity);
  return { ...withNamed(contents, chosen.holder, { velocity, pressure, others }), ...series };
}

/** Which dataset with the name of a field has values of a type that is not read, as text; null if there is none. */
function unreadField(contents: Contents, groups: readonly DatasetGroup[]): string | null {
  for (const { paths } of groups)
    for (const [name, path] of paths) {
      const { element, filters, shape } = contents.dataset(path) ?? { element: "float", filters: [], shape: [] };
      if (element !== "other" || shape.length < 3 || !USUAL_NAMES.has(name)) continue;
      const names = filters.map((filter) => (filter === "#5" ? "n-bit" : filter)).join(", ");
      return `${path} holds values of a type that is not read${names === "" ? "" : ` (${names})`}`;
    }
  return null;
}

/** What may be the velocity, the pressure and other fields in a group. */
interface FieldCandidate {
  readonly holder: DatasetGroup;
  readonly velocities: readonly (readonly string[])[];
  readonly pressure: string | null;
  readonly others: readonly OtherField[];
}

function candidatesIn(contents: Contents, holders: readonly DatasetGroup[]): readonly FieldCandidate[] {
  const candidates = holders.flatMap((holder) => {
    const velocities = velocitiesIn(contents, holder);
    const [[pressure = null] = []] = namedIn(contents, holder, PRESSURES);
    const others = othersIn(contents, holder);
    const none = velocities.length === 0 && pressure === null && others.length === 0;
    return none ? [] : [{ holder, velocities, pressure, others }];
  });
  const withVelocity = candidates.filter(({ velocities }) => velocities.length > 0);
  const withPressure = candidates.filter(({ pressure }) => pressure !== null);
  return [withVelocity, withPressure].find((list) => list.length > 0) ?? candidates;
}

/** Fields other than velocity and pressure: those that the user names, and those that have their usual names. */
function otherFields(contents: Contents, findings: Findings, chosen: FieldCandidate, velocity: readonly string[]) {
  const answered = answeredOthers(contents);
  const isAnswered = (field: FieldName) => answered.some((other) => other.field === field);
  const isFree = ({ field, paths }: OtherField) => !paths.some((path) => velocity.includes(path)) && !isAnswered(field);
  const others = [...chosen.others.filter(isFree), ...answered];
  for (const { field, paths } of others) {
    findings.addReason(`${field}: ${paths.join(", ")}${isAnswered(field) ? ", from your answer" : ""}.`);
    const rivals = [...rivalsOf(contents, chosen.holder, field), ...sameButForCase(contents, paths)];
    if (!isAnswered(field)) askWhich(contents, findings, field, paths, rivals);
  }
  return others;
}

/** Asks whether the datasets taken for a field are the right ones if others could be it, too. */
function askWhich(
  contents: Contents,
  findings: Findings,
  field: FieldName,
  taken: readonly string[],
  rivals: readonly (readonly string[])[],
): void {
  const identity = (paths: readonly string[]) => paths.map((path) => contents.identity(path)).join();
  const isComputed = (path: string) => contents.attributes(path).has("formula");
  const others = rivals.filter((paths) => identity(paths) !== identity(taken) && !paths.every(isComputed));
  if (taken.length === 0 || others.length === 0) return;
  const rest = [...new Set(others.map((paths) => paths.join(", ")))].slice(0, MAX_LISTED);
  const claim = `${taken.join(", ")} is taken for the ${field}, not ${rest.join(" or ")}, which is a guess.`;
  findings.ask("fields", claim, FIELDS_ANSWER);
}

/** Datasets whose names differ from those of a field in letter case only. */
function sameButForCase(contents: Contents, paths: readonly string[]): string[][] {
  const candidates = paths.map((path) => {
    const [group, name] = [parentOf(path), path.split("/").at(-1) ?? ""];
    const sameNames = contents.datasets(group).filter((other) => other.toLowerCase() === name.toLowerCase());
    return sameNames.map((other) => join(group, other)).filter((other) => other !== path && rank(contents, other) >= 3);
  });
  const isAll = candidates.length > 0 && candidates.every((list) => list.length > 0);
  return isAll ? [candidates.map((list) => list[0] as string)] : candidates.flat().map((path) => [path]);
}

function namedIn(contents: Contents, { paths }: DatasetGroup, names: readonly string[]): string[][] {
  return names.flatMap((name) => (rank(contents, paths.get(name)) >= 3 ? [[paths.get(name) as string]] : []));
}

function rivalsOf(contents: Contents, holder: DatasetGroup, field: OtherField["field"]): string[][] {
  const row = OTHERS.find((other) => other.field === field);
  return row === undefined || row.triples.length > 0 ? [] : namedIn(contents, holder, row.whole);
}

/** Fields by their shapes, if no dataset has a usual name: a vector, three datasets of one shape, or a scalar. */
function unnamedFields(contents: Contents, findings: Findings): FoundFields | null {
  const paths = fieldDatasets(contents);
  const [lead] = paths;
  if (lead === undefined) return null;
  const shapeOf = (path: string) => contents.dataset(path)?.shape ?? [];
  const vector = paths.find((path) => shapeOf(path).length > 3 && shapeOf(path).includes(3));
  const sameShape = paths.filter((path) => shapeOf(path).join() === shapeOf(lead).join());
  const velocity = vector !== undefined ? [vector] : sameShape.length === 3 ? sameShape : [];
  const pressure = velocity.length === 0 ? lead : null;
  const taken = pressure ?? velocity.join(", ");
  const others = paths.filter((path) => path !== pressure && !velocity.includes(path));
  const guess = `that ${taken} is the ${pressure === null ? "velocity" : "pressure"} is a guess by its shape`;
  const further = others.length === 0 ? "" : `, and ${others.slice(0, 4).join(", ")} might be fields as well`;
  findings.ask("fields", `No dataset has the usual name of a field; ${guess}${further}.`, FIELDS_ANSWER);
  return { velocity, pressure, others: [], named: [], steps: null, place: (path) => path };
}

function requireDatasets(contents: Contents, paths: readonly string[]): void {
  const missing = paths.find((path) => contents.dataset(path) === null);
  if (missing === undefined) return;
  const isGroup = contents.group(missing) !== null;
  throw new DataError(isGroup ? `${missing} is a group, not a dataset` : `there is no dataset ${missing}`);
}

export function answeredOthers(contents: Contents): readonly OtherField[] {
  const { fields = [] } = contents.answers;
  for (const { paths } of fields) requireDatasets(contents, paths);
  return fields;
}

function answeredFields(contents: Contents): FoundFields {
  const { velocity = [], pressure = null } = contents.answers;
  requireDatasets(contents, [...velocity, ...(pressure === null ? [] : [pressure])]);
  const advice = velocity.length === 2 ? `; ${THIRD_ADVICE}` : "";
  if (velocity.length === 2 || velocity.length > 3)
    throw new DataError(`--velocity names ${velocity.length} datasets, not one vector or three components${advice}`);
  return { velocity, pressure, others: answeredOthers(contents), named: [], steps: null, place: (path) => path };
}

export function fieldDatasets(contents: Contents): string[] {
  const all = allGroups(contents).flatMap((group) => contents.datasets(group).map((name) => join(group, name)));
  return all.filter((path) => rank(contents, path) >= 3);
}

/** Fields, and the other datasets of numbers in their group under names of their own. */
export function withNamed(
  contents: Contents,
  group: DatasetGroup,
  fields: Pick<FoundFields, "velocity" | "pressure" | "others">,
): FoundFields {
  const { velocity, pressure, others } = fields;
  const used = new Set([...velocity, pressure ?? [], ...others.flatMap(({ paths }) => paths)].flat());
  return { ...fields, named: otherNamed(contents, group, used), steps: null, place: (path) => path };
}

/** The root and the groups below it, the upper ones first; each once, whatever links lead to it. */
function allGroups(contents: Contents): string[] {
  const all = ["/"];
  const seen = new Set([contents.identity("/")]);
  let level = ["/"];
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    const next: string[] = [];
    for (const group of level)
      for (const name of contents.group(group) ?? []) {
        const path = join(group, name);
        if (contents.group(path) === null || seen.size === seen.add(contents.identity(path)).size) continue;
        next.push(path);
        if (all.push(path) === MAX_GROUPS) return all;
      }
    level = next;
  }
  return all;
}

export function datasetGroupsIn(contents: Contents, group: string): DatasetGroup[] {
  const names = contents.datasets(group);
  const plain = new Map(names.map((name) => [name.toLowerCase(), join(group, name)]));
  const numbered = new Map<string, Map<string, string>>();
  for (const name of names) {
    const [, stem, digits] = TIME_DATASET.exec(name) ?? [];
    if (stem === undefined || digits === undefined) continue;
    const paths = numbered.get(digits) ?? new Map<string, string>();
    numbered.set(digits, paths.set(stem.toLowerCase(), join(group, name)));
  }
  // Thousands of numbered datasets may be no fields at all.
  const withFields = [...numbered].filter(([, paths]) => [...paths.keys()].some((name) => USUAL_NAMES.has(name)));
  const times = withFields.map(([digits, paths]) => ({ group: join(group, digits), paths }));
  return [{ group, paths: plain }, ...times];
}

function velocitiesIn(contents: Contents, { paths }: DatasetGroup): string[][] {
  const triples = TRIPLES.flatMap((names) => componentsNamed(contents, paths, names));
  const vectors = VECTORS.flatMap((name) => vectorNamed(contents, paths, name));
  const isPart = (path: string) => triples.some((triple) => triple.includes(path));
  return [...triples, ...vectors.filter(([path]) => !isPart(path))];
}

function othersIn(contents: Contents, holder: DatasetGroup): OtherField[] {
  const { paths } = holder;
  return OTHERS.flatMap(({ field, whole, triples }) => {
    const vectors = () => [
      ...triples.flatMap((names) => componentsNamed(contents, paths, names)),
      ...whole.flatMap((name) => vectorNamed(contents, paths, name)),
    ];
    const [datasets] = triples.length > 0 ? vectors() : namedIn(contents, holder, whole);
    return datasets === undefined ? [] : [{ field, paths: datasets }];
  });
}

const USUAL_NAMES = new Set([
  ...[...VECTORS, ...PRESSURES, ...TRIPLES.flat()],
  ...OTHERS.flatMap(({ whole, triples }) => [...whole, ...triples.flat()]),
]);

/** Datasets of numbers in a group that have no usual name; three that end in `_x`, `_y` and `_z` are one vector. */
function otherNamed(contents: Contents, { paths }: DatasetGroup, used: ReadonlySet<string>): OtherField[] {
  const free = [...paths].filter(([name, path]) => {
    const isNumber = contents.dataset(path)?.element === "float" && rank(contents, path) >= 3;
    return isNumber && !used.has(path) && !USUAL_NAMES.has(name) && !contents.isUnwritten(path);
  });
  const byName = new Map(free.map(([name, path]) => [name.replaceAll(/\W+/g, "_"), path]));
  const fields = [...byName].flatMap(([name, path]): OtherField[] => {
    const stem = name.replace(/_[xyz]$/, "");
    const parts = ["_x", "_y", "_z"].map((end) => byName.get(stem + end));
    const isVector = stem !== name && !byName.has(stem) && !parts.includes(undefined);
    if (isVector) return name.endsWith("_x") ? [{ field: stem, paths: parts as string[] }] : [];
    return [{ field: name, paths: [path] }];
  });
  return fields.filter(({ field }) => fieldNameProblem(field) === null && !Object.hasOwn(FIELDS, field));
}

/** The three datasets with these names; none if one is missing or has fewer than three dimensions. */
function componentsNamed(contents: Contents, paths: DatasetGroup["paths"], names: readonly string[]): string[][] {
  const stored = names.flatMap((name) => paths.get(name) ?? []);
  return stored.length === 3 && stored.every((path) => rank(contents, path) >= 3) ? [stored] : [];
}

function shapeNamed(contents: Contents, paths: DatasetGroup["paths"], name: string) {
  const path = paths.get(name);
  return { path: path ?? "", shape: path === undefined ? [] : (contents.dataset(path)?.shape ?? []) };
}

function vectorNamed(contents: Contents, paths: DatasetGroup["paths"], name: string): string[][] {
  const { path, shape } = shapeNamed(contents, paths, name);
  return shape.length >= 4 && shape.includes(3) ? [[path]] : [];
}

function rank(contents: Contents, path: string | undefined): number {
  const stored = path === undefined ? null : contents.dataset(path);
  return stored === null || (stored.element !== "float" && stored.element !== "integer") ? 0 : stored.shape.length;
}

/** The only pressure in the groups next to a group. */
function pressureBeside(contents: Contents, holder: DatasetGroup, all: readonly DatasetGroup[]): string | null {
  const pressures = all
    .filter(({ group }) => parentOf(group) === parentOf(holder.group) && group !== holder.group)
    .flatMap(({ paths }) => PRESSURES.flatMap((name) => paths.get(name) ?? []))
    .filter((path) => rank(contents, path) >= 3);
  return pressures.length === 1 ? pressures[0] : null;
}

/** The times of groups or numbered datasets if all of them hold the same names; else null. */
function seriesOf(holders: readonly DatasetGroup[]): { steps: string[]; place: (path: string) => string } | null {
  const parsed = holders.map(({ group }) => ({
    parent: parentOf(group),
    match: TIME_GROUP.exec(group.split("/").pop() ?? ""),
  }));
  const [head] = parsed;
  const [holder] = holders;
  if (head?.match === null || head === undefined || holder === undefined) return null;
  const [, prefix, text] = head.match as unknown as [string, string, string];
  const namesOf = ({ paths }: DatasetGroup) => [...paths.keys()].sort().join();
  const isAlike = parsed.every(({ parent, match }) => parent === head.parent && match?.[1] === prefix);
  if (!isAlike || holders.some((other) => namesOf(other) !== namesOf(holder))) return null;
  const steps = parsed.map(({ match }) => (match as RegExpExecArray)[2]).sort((a, b) => Number(a) - Number(b));
  requireDistinct(steps, "groups or datasets");
  const start = join(head.parent, prefix);
  const isGroup = [...holder.paths.values()].every((path) => path.startsWith(`${start}${text}/`));
  return {
    steps,
    place: (path) =>
      isGroup ? `${start}{step}${path.slice(start.length + text.length)}` : `${path.slice(0, -text.length)}{step}`,
  };
}

/** @throws DataError if two texts are one number */
export function requireDistinct(steps: readonly string[], what: string): void {
  const at = steps.findIndex((step, index) => index > 0 && Number(step) === Number(steps[index - 1]));
  if (at > 0) throw new DataError(`two ${what} have the same number: ${steps[at - 1]} and ${steps[at]}`);
}

const THIRD_ADVICE =
  "a flow of two components needs a third of zeros in a separate dataset (docs/datasets.md shows how)";

function twoComponentsIn(contents: Contents, holders: readonly DatasetGroup[]): readonly string[] | null {
  const pairs = holders.flatMap(({ paths }) =>
    TRIPLES.map((names) => names.flatMap((name) => paths.get(name) ?? [])).filter(
      (pair) => pair.length === 2 && pair.every((path) => rank(contents, path) >= 3),
    ),
  );
  return pairs[0] ?? null;
}

const twoComponentsText = (pair: readonly string[]): string => `${pair.join(" and ")} are two components of a velocity`;

/** What a dataset with the name of a vector lacks, a third component or a third axis, as text; null if nothing. */
function flatVector(contents: Contents, { paths }: DatasetGroup): string | null {
  for (const name of VECTORS.filter((vector) => vector.length > 1)) {
    const { path, shape } = shapeNamed(contents, paths, name);
    const components = [3, 2].find((count) => shape[0] === count || shape.at(-1) === count);
    if ((shape.length !== 3 && shape.length !== 4) || components === undefined) continue;
    const needs = [
      ...(shape.length === 3 ? ["a third axis of one node"] : []),
      ...(components === 2 ? ["a third component of zeros"] : []),
    ];
    if (needs.length > 0)
      return `${path} is ${shape.join(" x ")}: a vector in a plane needs ${needs.join(" and ")} (docs/datasets.md shows how)`;
  }
  return null;
}

function refuseFlat(contents: Contents, holders: readonly DatasetGroup[]): void {
  for (const holder of holders) {
    const vector = flatVector(contents, holder);
    if (vector !== null) throw new DataError(vector);
    for (const name of [...VECTORS, ...TRIPLES.flat(), ...PRESSURES]) {
      const { path, shape } = shapeNamed(contents, holder.paths, name);
      const advice = "store each with a third dimension of one node (docs/datasets.md shows how)";
      const refusal = `arrays of fewer than three dimensions are not served; ${advice}`;
      if (shape.length === 1 || shape.length === 2) throw new DataError(`${path} is ${shape.join(" x ")}: ${refusal}`);
    }
  }
}
