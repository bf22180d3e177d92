/**
 * Recognises files whose fields have usual names, by labels, coordinates and attributes. What these leave open becomes
 * a question.
 */
import { DataError } from "../../shared/errors.js";
import { FIELDS, type KnownField } from "../../shared/operations.js";
import { AXIS_NAMES, type AxisName, type FieldName } from "../dataset/dataset.js";
import type { DescriptorInput } from "../dataset/descriptor.js";
import { agrees, assignments, type Dimension } from "./assign.js";
import { unitAt } from "./component-units.js";
import { datedUnitOf } from "./dated-unit.js";
import {
  type CoordinateTable,
  componentNames,
  curvedIn,
  type DimensionLabels,
  groupsAround,
  join,
  labelsOf,
  parentOf,
  StatedNumbers,
  tableNodes,
  tablesIn,
} from "./evidence.js";
import { type FoundFields, findFields } from "./fields.js";
import {
  type AxisClues,
  askBoxes,
  axisOf,
  edgesWithin,
  NO_CLUES,
  oneNode,
  type StatedNumber,
  timesOf,
} from "./grid.js";
import {
  askOrderOfComponents,
  BY_LENGTHS,
  BY_TIMES,
  type Contents,
  Findings,
  type Layout,
  type Recognition,
} from "./layout.js";
import { hasForeign } from "./statements.js";
import { contradictionOf, factorBetween, isNoLength } from "./units.js";
import { areInOrder, type OtherField, type Role } from "./usual-names.js";

interface OrientedDataset {
  readonly path: string;
  readonly shape: readonly number[];
  readonly dimensions: readonly Dimension[];
  readonly labels: DimensionLabels;
}

interface OrientedField {
  readonly field: FieldName;
  readonly datasets: readonly OrientedDataset[];
}

interface OrientedFields {
  readonly velocity: readonly OrientedDataset[];
  readonly pressure: OrientedDataset | null;
  readonly others: readonly { readonly field: FieldName; readonly datasets: readonly OrientedDataset[] | null }[];
  /** Scalars: a component of the velocity, the pressure. */
  readonly singles: readonly OrientedDataset[];
  /** Whether components of the velocity have different nodes. */
  readonly isStaggered: boolean;
  readonly first: OrientedDataset;
}

interface SharedEvidence {
  readonly contents: Contents;
  readonly tables: readonly CoordinateTable[];
  readonly facts: StatedNumbers;
  readonly findings: Findings;
  readonly format: Format;
  /** A second in the unit of length over velocity; null if it is not known. */
  readonly second: number | null;
}

/** What the format of a file defines beside what it states by names, labels, coordinates and attributes. */
export interface Format {
  /** Attributes of numbers that fields, coordinates and times may have. */
  readonly attributes: readonly string[];
  /** Whether the components of a vector are in the order of its axes. */
  readonly componentsFollowAxes?: true;
}

const DEGREES = /degree/i;
/** Attributes of a file that name the unit of its times. */
const TIME_UNITS = ["time_units", "time_unit", "units_time", "unit_time"];
/** Units of time that velocities are not stated in, so that times in them need a question. */
const FOREIGN_TIMES = /^\s*([mun]s\b|msec|(milli|micro|nano)sec|min|hour|hr|day|week|month|year|yr|h\b|d\b)/i;
const LISTED = 4;

export const generic: Layout = {
  producer: "generic",
  proposes: true,
  recognise(contents) {
    const findings = new Findings();
    const fields = findFields(contents, findings);
    return fields === null ? null : describeFields(contents, fields, findings, { attributes: [] });
  },
};

/** Describes fields by what their file states; what that leaves open becomes a question. */
export function describeFields(
  contents: Contents,
  all: FoundFields,
  findings: Findings,
  format: Format,
): Required<Omit<Recognition, "name">> {
  const fields = byTime(contents, all);
  const lead = fields.velocity[0] ?? fields.pressure ?? fields.others[0]?.paths[0];
  const groups = groupsAround(contents, parentOf(lead));
  const { shape } = contents.dataset(lead) as { shape: readonly number[] };
  const tables = tablesIn(contents, [lead, ...groups], shape);
  const facts = new StatedNumbers(contents, [lead, ...groups]);
  const shared = { contents, tables, facts, findings, format, second: null };
  const oriented = orient(shared, fields, lead);
  const { first } = oriented;
  if (fields.steps !== null) requireSameTables(contents, fields, first.path, tables);
  askSteps(shared, fields, lead, first);
  const tablesOf = fixTables(shared, first, findings);
  const { found, nodesAt } = placeFields(shared, fields, oriented);
  const fieldOf = ({ field, datasets }: OrientedField) => ({
    ...storageOf(contents, fields, datasets, nodesAt),
    ...(Object.hasOwn(FIELDS, field) ? {} : wordsOf(contents, datasets[0]?.path as string)),
  });
  const timed = { ...shared, second: secondOf(contents, first, tablesOf) };
  return {
    plan: {
      title: contents.name,
      axes: axesOf(shared, first, tablesOf),
      time: timeOf(timed, first, fields, framesOf(first, fields)),
      fields: Object.fromEntries(found.map((one) => [one.field, fieldOf(one)])) as DescriptorInput["fields"],
    },
    findings,
    defined: { attributes: format.attributes, groups: [] },
  };
}

function orient(shared: SharedEvidence, fields: FoundFields, lead: string): OrientedFields {
  const isWhole = fields.velocity.length === 1;
  const velocity: OrientedDataset[] = [];
  for (const path of fields.velocity)
    velocity.push(likeFirst(shared, velocity[0], path) ?? orderOf(shared, "velocity", path, isWhole));
  const like = isWhole ? undefined : velocity[0];
  const pressure =
    fields.pressure === null ? null : pressureOf(shared, like, fields.pressure, fields.pressure === lead);
  const wholes = isWhole ? velocity : [];
  const singles = [...(isWhole ? [] : velocity.slice(0, 1)), ...(pressure === null ? [] : [pressure])];
  const others = fields.others.map((other) => ({
    field: other.field,
    datasets: otherOf(shared, other, isVector(other) ? wholes : singles, other.paths[0] === lead, isVector(other)),
  }));
  const isStaggered = velocity.slice(1).some((other) => !isSameGrid(shared, velocity[0] as OrientedDataset, other));
  const scalars = [...(pressure === null ? [] : [pressure]), ...others.flatMap(({ datasets }) => datasets ?? [])];
  const first = isStaggered ? mostlyOf([...velocity, ...scalars]) : (velocity[0] ?? (scalars[0] as OrientedDataset));
  return { velocity, pressure, others, singles, isStaggered, first };
}

/** Finds the nodes of each field; those on other axes than the first are left out. */
function placeFields(
  shared: SharedEvidence,
  fields: FoundFields,
  { velocity, pressure, others, singles, isStaggered, first }: OrientedFields,
): { readonly found: readonly OrientedField[]; readonly nodesAt: ReadonlyMap<string, NodesOfField> } {
  const { findings } = shared;
  const nodesAt = new Map<string, NodesOfField>();
  for (const other of isStaggered ? velocity : [])
    nodesAt.set(other.path, requireNodes(shared, first, other, velocity));
  const grid = first.dimensions.flatMap((role, at) => (role === "c" ? [] : [first.shape[at] as number]));
  const candidates = [
    { field: "velocity", datasets: velocity },
    { field: "pressure", datasets: pressure === null ? null : [pressure] },
    ...others,
    ...namedOf(shared, fields.named, singles, grid),
  ];
  const found = candidates.flatMap(({ field, datasets }): OrientedField[] => {
    if (datasets === null || datasets.length === 0) return [];
    if (field === "velocity" && isStaggered) return [{ field, datasets }];
    const at = datasets.map((dataset) => (dataset === first ? {} : ownNodes(shared, first, dataset)));
    if (at.every((nodes) => nodes !== null)) {
      for (const [i, { path }] of datasets.entries()) nodesAt.set(path, at[i] ?? {});
      return [{ field, datasets }];
    }
    findings.addWarning(`${datasets[0]?.path} is left out: its axes are not those of ${first.path}.`);
    return [];
  });
  for (const [path, at] of nodesAt)
    for (const [axis, own] of Object.entries(at))
      findings.addReason(`${path}: its own nodes along ${axis}, ${"path" in own ? own.path : "by a mesh"}.`);
  return { found, nodesAt };
}

function mostlyOf(datasets: readonly OrientedDataset[]): OrientedDataset {
  const [first] = datasets as readonly [OrientedDataset];
  const nodesOf = ({ dimensions, labels, shape }: OrientedDataset, role: Dimension) => {
    const at = dimensions.indexOf(role);
    const table = labels.tables[at] ?? null;
    return { length: shape[at] as number, table, name: labels.names[at] ?? null, key: `${table?.path} ${shape[at]}` };
  };
  const chosen = first.dimensions.map((role) => {
    const all = datasets.map((dataset) => nodesOf(dataset, role));
    const timesOfKey = (key: string) => all.filter((one) => one.key === key).length;
    return all.reduce((best, one) => (timesOfKey(one.key) > timesOfKey(best.key) ? one : best));
  });
  const labels = { ...first.labels, tables: chosen.map(({ table }) => table), names: chosen.map(({ name }) => name) };
  return { ...first, shape: chosen.map(({ length }) => length), labels };
}

/** Assigns roles to the dimensions of a dataset by everything that the file states about it. */
function orderOf(
  { contents, tables, facts, findings, format }: SharedEvidence,
  field: FieldName,
  path: string,
  isVector: boolean,
): OrientedDataset {
  const { shape } = contents.dataset(path) as { shape: readonly number[] };
  const labels = labelsOf(contents, path);
  const { answers } = contents;
  const said = answers.fieldDims?.get(field) ?? answers.dims ?? null;
  const blank = shape.map(() => null);
  const three = new Map<Role, number[]>([["c", [3]]]);
  const roles = said === null ? labels.roles : blank;
  const orders = said === null ? ordersOf(tables, labels) : [said];
  const found = [
    assignments(shape, isVector, { labels: roles, lengths: lengthsOf(tables, facts, shape), orders }),
    assignments(shape, isVector, { labels: roles, lengths: three, orders }),
    assignments(shape, isVector, { labels: blank, lengths: three, orders: said === null ? [] : [said] }),
  ];
  const used = found.findIndex((list) => list.length > 0);
  const options = found[used] ?? [];
  const [chosen] = options;
  if (chosen === undefined) throw new DataError(noFieldText(contents, path, isVector, said !== null));
  const evidence = evidenceOfLengths(tables, facts);
  const contradicted = used === 1 ? (evidence ?? "the times") : used === 2 ? "the names of the dimensions" : null;
  const conflict = said === null ? contradictionText(path, shape, chosen, contradicted, labels) : null;
  const doubt =
    conflict ?? (contradicted === null || said !== null ? ambiguityText(path, shape, options, evidence) : null);
  const answer = "--dims with the dimensions in stored order, or fields.*.dimensions in a descriptor";
  if (doubt !== null) findings.add({ about: "order", question: doubt, answer, ...(conflict ? { red: true } : {}) });
  else {
    const stated = labels.where === "" ? evidence : labels.where;
    if (said !== null) warnOfOtherOrder(path, chosen, labels, findings);
    findings.addReason(`${path}: dimensions ${chosen.join(" ")}, from ${said === null ? stated : "your answer"}.`);
  }
  if (isVector) askComponents(contents, path, chosen, findings, format);
  return { path, shape, dimensions: chosen, labels };
}

/** Names next to a field which show that its values are in elements or blocks. */
const ELEMENTS = /^(nel[vtg]?|lx1|elements?|n(um)?_?elements?|connectivity|n(um)?_?blocks?|blocks?|patches)$/i;

function noFieldText(contents: Contents, path: string, isVector: boolean, isSaid: boolean): string {
  const { shape } = contents.dataset(path) as { shape: readonly number[] };
  const claim = isSaid ? "--dims does not make" : "is not";
  const text = `${path} is ${shape.join(" x ")}, which ${claim} ${isVector ? "a vector" : "a scalar"} field on x, y and z`;
  const rank = isVector ? 4 : 3;
  const others = [...contents.datasets(parentOf(path)), ...contents.attributes("/").keys()];
  const element = others.find((name) => ELEMENTS.test(name));
  if (shape.length > rank && element !== undefined)
    return `${text}; ${element} says that its values lie in elements or blocks; resample them onto one grid`;
  if (shape.length > rank + 1) return `${text}; fields of more dimensions need a descriptor`;
  if (shape.length < rank)
    return `${text}; data of fewer dimensions need an axis of one node (docs/datasets.md shows how)`;
  return text;
}

/** Says what contradicts the order that a dataset is read in; null if nothing does. */
function contradictionText(
  path: string,
  shape: readonly number[],
  chosen: readonly Dimension[],
  contradicted: string | null,
  { where, contradiction }: DimensionLabels,
): string | null {
  const order = chosen.join(" ");
  if (contradicted !== null)
    return `${path} is ${shape.join(" x ")}, which contradicts ${contradicted} in the file; ${order} is a guess.`;
  return contradiction === null ? null : `${path} is read as ${order}, from ${where}, and ${contradiction}.`;
}

/** Says which other orders of a dataset are as good as the first; null if there are none. */
function ambiguityText(
  path: string,
  shape: readonly number[],
  options: readonly (readonly Dimension[])[],
  evidence: string | null,
): string | null {
  const others = reversedFirst(options.slice(1)).slice(0, LISTED - 1);
  if (others.length === 0) return null;
  const lack = evidence === null ? "nothing in the file names" : `${evidence} do not tell apart`;
  const more = options.length > LISTED ? " or another order" : "";
  return (
    `${path} is ${shape.join(" x ")}, and ${lack} its dimensions: ${options[0]?.join(" ")} is a guess, ` +
    `${others.join(" or ")}${more} would do as well.`
  );
}

/** Orders as text, those with x, y, z in this order first: it is the most usual one after z, y, x. */
function reversedFirst(options: readonly (readonly Dimension[])[]): string[] {
  const texts = options.map((option) => option.join(" "));
  const isReversed = (text: string): boolean => /x.*y.*z/.test(text);
  return [...texts.filter(isReversed), ...texts.filter((text) => !isReversed(text))];
}

function askComponents(
  contents: Contents,
  path: string,
  dimensions: readonly Dimension[],
  findings: Findings,
  { componentsFollowAxes }: Format,
): void {
  const dimension = dimensions.indexOf("c");
  const axes = dimensions.filter((role) => (AXIS_NAMES as readonly string[]).includes(role));
  if (componentsFollowAxes) askOrderOfComponents(contents, path, axes, findings);
  const named = componentNames(contents, path, dimension);
  const inOrder = named === null ? true : areInOrder(named.names);
  const isKnown = inOrder === true || (inOrder === null && named?.isLoose === true);
  if (named === null || isKnown || contents.answers.components !== undefined) return;
  findings.contradict(
    "order",
    `The components of ${path} are ${named.names.join(", ")} by ${named.where}; that they are those along x, y and z in this order is a guess.`,
    "--components with their axes in stored order, as in z,y,x",
  );
}

function warnOfOtherOrder(
  path: string,
  chosen: readonly Dimension[],
  labels: DimensionLabels,
  findings: Findings,
): void {
  const { roles, order, where } = labels;
  const isOther =
    order === null ? roles.some((role, at) => role !== null && role !== chosen[at]) : !agrees(chosen, order);
  const stated = order ?? roles.map((role) => role ?? "?");
  if (isOther)
    findings.addWarning(`${path} is read as ${chosen.join(" ")}, as --dims says; ${where} says ${stated.join(" ")}.`);
}

/** Orders that the file states: in an attribute that names some dimensions, and by meshes that vary along one each. */
function ordersOf(tables: readonly CoordinateTable[], labels: DimensionLabels): string[][] {
  const meshes = tables.filter(({ along }) => along !== null).sort((a, b) => (a.along as number) - (b.along as number));
  const roles = new Set(meshes.map(({ role }) => role));
  const places = new Set(meshes.map(({ along }) => along));
  const isClear = meshes.length === 3 && roles.size === 3 && places.size === 3;
  return [...(isClear ? [meshes.map(({ role }) => role)] : []), ...(labels.order === null ? [] : [[...labels.order]])];
}

/** The order of a component that has the shape and the labels of the first: one question is enough for both. */
function likeFirst(
  { contents }: SharedEvidence,
  first: OrientedDataset | undefined,
  path: string,
): OrientedDataset | null {
  if (first === undefined) return null;
  const { shape } = contents.dataset(path) as { shape: readonly number[] };
  const labels = labelsOf(contents, path);
  const same = shape.join() === first.shape.join() && labels.roles.join() === first.labels.roles.join();
  return same && `${labels.order}` === `${first.labels.order}` ? { ...first, path, labels } : null;
}

/** The order of the pressure; one that is not a scalar field is left out, unless it is the first field of all. */
function pressureOf(
  shared: SharedEvidence,
  like: OrientedDataset | undefined,
  path: string,
  isFirst: boolean,
): OrientedDataset | null {
  try {
    const isSaid = shared.contents.answers.fieldDims?.has("pressure") === true;
    return (isSaid ? null : likeFirst(shared, like, path)) ?? orderOf(shared, "pressure", path, false);
  } catch (error) {
    if (isFirst || !(error instanceof DataError)) throw error;
    shared.findings.addWarning(`The pressure is left out: ${error.message}.`);
    return null;
  }
}

function isVector({ field, paths }: OtherField): boolean {
  return paths.length === 1 && FIELDS[field as KnownField] === 3;
}

/** Fields under names of their own: those on the nodes of the others whose order is known. */
function namedOf(
  shared: SharedEvidence,
  named: readonly OtherField[],
  like: readonly OrientedDataset[],
  grid: readonly number[],
): { readonly field: FieldName; readonly datasets: readonly OrientedDataset[] | null }[] {
  const { contents, findings, format } = shared;
  return named.flatMap(({ field, paths }) => {
    const shapes = paths.map((path) => contents.dataset(path)?.shape ?? []);
    const isWhole = shapes.length === 1 && shapes[0]?.length === grid.length + 1 && shapes[0].includes(3);
    const isNamed = (path: string) => labelsOf(contents, path).tables.every((table) => table !== null);
    const isOff = (shape: readonly number[], i: number) => shape.join() !== grid.join() && !isNamed(paths[i] as string);
    if (!isWhole && shapes.some(isOff)) return [];
    const doubtful = paths.find((path) => hasForeign(contents, path, format.attributes));
    if (doubtful !== undefined) {
      findings.addWarning(
        `The ${field} is left out: ${doubtful} has numbers in attributes that nothing applies; --named ${field}=PATH takes it.`,
      );
      return [];
    }
    return [{ field, datasets: otherOf(shared, { field, paths }, isWhole ? [] : like, false, isWhole) }];
  });
}

function wordsOf(contents: Contents, path: string): { unit?: string; long_name?: string } {
  const [unit, title] = ["units", "long_name"].map((name) => contents.words(path, name));
  return { ...(unit ? { unit } : {}), ...(title ? { long_name: title } : {}) };
}

/**
 * In the order of a similar dataset or in their own. A field without a known order is left out, unless it is the first
 * of all.
 */
function otherOf(
  shared: SharedEvidence,
  { field, paths }: OtherField,
  like: readonly OrientedDataset[],
  isFirst: boolean,
  whole: boolean,
): readonly OrientedDataset[] | null {
  const { contents, findings } = shared;
  const own = isFirst ? findings : new Findings();
  const datasets: OrientedDataset[] = [];
  try {
    for (const path of paths) {
      const known = contents.answers.fieldDims?.has(field) === true ? [] : like;
      const alike = [...known, ...datasets.slice(0, 1)].map((one) => likeFirst(shared, one, path));
      datasets.push(alike.find((one) => one !== null) ?? orderOf({ ...shared, findings: own }, field, path, whole));
    }
  } catch (error) {
    if (isFirst || !(error instanceof DataError)) throw error;
    findings.addWarning(`The ${field} is left out: ${error.message}.`);
    return null;
  }
  const [question] = own.questions;
  if (isFirst) return datasets;
  if (question !== undefined) {
    findings.addWarning(`The ${field} is left out: ${question.question} It needs ${question.answer}.`);
    return null;
  }
  findings.reasons.push(...own.reasons);
  for (const line of own.questions) findings.add(line);
  return datasets;
}

/** @throws DataError if a step has other coordinates than the first */
function requireSameTables(
  contents: Contents,
  { steps, place }: FoundFields,
  path: string,
  tables: readonly CoordinateTable[],
): void {
  const group = parentOf(path);
  for (const table of tables.filter(({ role }) => role !== "t")) {
    const [, holder = table.path, name] =
      contents.dataset(table.path) === null ? (/^(.*)@(.*)$/.exec(table.path) ?? []) : [];
    for (const step of steps ?? []) {
      const at = (own: string) => place(own).replace("{step}", step);
      const isBelow = holder.startsWith(`${group}/`);
      const twin = name === undefined && isBelow ? `${parentOf(at(path))}${holder.slice(group.length)}` : at(holder);
      const isThere =
        name === undefined ? isBelow && contents.dataset(twin) !== null : contents.attributes(twin).has(name);
      const moved = name === undefined ? twin : `${twin}@${name}`;
      if (isThere && contents.numbers(table.path).join() !== contents.numbers(moved).join())
        throw new DataError(`${moved} differs from ${table.path}: all steps must have the same coordinates`);
    }
  }
}

/** Asks about a group of another time that states another grid: that of the first is served. */
function askSteps(
  { contents, facts, findings }: SharedEvidence,
  { steps, place }: FoundFields,
  lead: string,
  { dimensions }: OrientedDataset,
): void {
  const { spacing, length } = contents.answers;
  if (steps === null || spacing !== undefined || length !== undefined) return;
  const stored = dimensions.filter((role): role is AxisName => (AXIS_NAMES as readonly string[]).includes(role));
  const statedBy = (numbers: StatedNumbers) =>
    AXIS_NAMES.map((axis) => {
      const clues = numbers.clues(axis, stored);
      // Places differ from step to step, also in contradictions.
      const values = { ...clues, contradictions: clues.contradictions.length };
      return JSON.stringify(values, (key, value) => (key === "where" ? undefined : value));
    });
  const first = statedBy(facts);
  for (const step of steps) {
    const path = place(lead).replace("{step}", step);
    const stated = statedBy(new StatedNumbers(contents, [path, ...groupsAround(contents, parentOf(path))]));
    const axes = AXIS_NAMES.filter((_, at) => stated[at] !== first[at]);
    for (const axis of axes)
      findings.contradict(
        "spacing",
        `What is stated of the grid at ${path} is not what is stated at ${lead}; that all times have the same grid is a guess.`,
        "--spacing and --origin, the same statements at all times, or a descriptor without this question",
        axis,
      );
    if (axes.length > 0) return;
  }
}

/** The evidence in a file of how many nodes lie along its axes, for people; null if there is none. */
function evidenceOfLengths(tables: readonly CoordinateTable[], facts: StatedNumbers): string | null {
  const isStated = AXIS_NAMES.some((axis) => facts.nodes(axis) !== null);
  const hasCoordinates = tables.some(({ role }) => role !== "t" && facts.nodes(role) === null);
  const found = [...(hasCoordinates ? ["the coordinates"] : []), ...(isStated ? ["the stated numbers of nodes"] : [])];
  return found.length === 0 ? null : found.join(" and ");
}

/** Possible lengths by tables and stated numbers of nodes. */
function lengthsOf(
  tables: readonly CoordinateTable[],
  facts: StatedNumbers,
  shape: readonly number[],
): Map<Role, number[]> {
  const lengths = new Map<Role, number[]>([["c", [3]]]);
  for (const role of [...AXIS_NAMES, "t"] as const) {
    const found = tables.filter((table) => table.role === role);
    const nodes = found.flatMap(({ length, isEdges }) => (isEdges ? [length - 1] : [length]));
    // A table of one number more than there are nodes can only be one of edges.
    const near = found.flatMap(({ length, isEdges }) => (isEdges || shape.includes(length) ? [] : [length - 1]));
    const stated = role === "t" ? null : facts.nodes(role);
    const all = stated === null ? [...nodes, ...near] : [stated];
    if (all.some((length) => shape.includes(length))) lengths.set(role, all);
    else if (all.length > 0 && role !== "t") lengths.set(role, all);
  }
  return lengths;
}

function nodesAlong({ shape, dimensions }: OrientedDataset, axis: AxisName): number {
  return shape[dimensions.indexOf(axis)];
}

/** The table of each axis of a field: the one attached to its dimension, else the nearest of that name and length. */
type TablesOf = ReadonlyMap<AxisName, CoordinateTable>;

function tableFor(
  { contents: { answers }, tables }: SharedEvidence,
  field: OrientedDataset,
  axis: AxisName,
): CoordinateTable[] {
  const at = field.dimensions.indexOf(axis);
  const said = answers.coordinates?.get(axis);
  if (said !== undefined) return tables.filter(({ path }) => path === said);
  const attached = field.labels.tables[at];
  if (attached !== null && attached !== undefined && attached.role === axis) return [attached];
  const nodes = nodesAlong(field, axis);
  const fitting = tables.filter(({ role, length, along, isEdges }) => {
    if (role !== axis) return false;
    return length === (isEdges ? nodes + 1 : nodes) && (along === null || length === nodes);
  });
  const centres = fitting.filter(({ isEdges }) => !isEdges);
  return centres.length > 0 ? centres : fitting;
}

function fixTables(shared: SharedEvidence, field: OrientedDataset, findings: Findings): TablesOf {
  const { contents, tables } = shared;
  const fixed = new Map<AxisName, CoordinateTable>();
  for (const axis of AXIS_NAMES) {
    const [chosen, ...others] = tableFor(shared, field, axis);
    if (chosen === undefined) {
      askEdges(contents, tables, field, axis, fixed, findings);
      continue;
    }
    fixed.set(axis, chosen);
    const different = others.find((other) => !agree(tableNodes(contents, chosen), tableNodes(contents, other)));
    if (different !== undefined)
      findings.contradict(
        "spacing",
        `${chosen.path} and ${different.path} both have a coordinate for each node along ${axis} and differ; ${chosen.path} is a guess.`,
        `axes.${axis} in a descriptor`,
      );
  }
  return fixed;
}

function askEdges(
  contents: Contents,
  tables: readonly CoordinateTable[],
  field: OrientedDataset,
  axis: AxisName,
  fixed: Map<AxisName, CoordinateTable>,
  findings: Findings,
): void {
  const nodes = nodesAlong(field, axis);
  const longer = tables.find(({ role, length, along }) => role === axis && along === null && length === nodes + 1);
  if (longer === undefined) {
    const unfit = tables.filter(({ role }) => role === axis);
    if (unfit.length > 0)
      findings.contradict(
        "spacing",
        `${unfit.map(({ path, length }) => `${path} (${length} numbers)`).join(", ")} does not fit the ${nodes} nodes along ${axis} and is not used.`,
        `--length or --spacing and --origin, or axes.${axis} in a descriptor`,
      );
    return;
  }
  fixed.set(axis, { ...longer, isEdges: true });
  const { spacing, length, cells } = contents.answers;
  if (spacing === undefined && length === undefined && cells?.includes(axis) !== true)
    findings.ask(
      "spacing",
      `${longer.path} has ${nodes + 1} numbers for ${nodes} nodes along ${axis}; that they are edges of cells and the nodes their centres is a guess.`,
      "--cells AXES, or --spacing and --origin",
    );
}

function agree(a: Float64Array, b: Float64Array): boolean {
  const span = Math.abs(a[a.length - 1] - a[0]);
  return a.length === b.length && a.every((value, index) => Math.abs(value - b[index]) <= 1e-6 * span);
}

function isSameGrid(shared: SharedEvidence, a: OrientedDataset, b: OrientedDataset): boolean {
  const { contents } = shared;
  if (framesIn(a) !== framesIn(b)) return false;
  return AXIS_NAMES.every((axis) => {
    if (nodesAlong(a, axis) !== nodesAlong(b, axis)) return false;
    if (contents.answers.spacing !== undefined) return true;
    const [first] = tableFor(shared, a, axis);
    const [second] = tableFor(shared, b, axis);
    const isOther = areNamedApart(
      a.labels.names[a.dimensions.indexOf(axis)],
      b.labels.names[b.dimensions.indexOf(axis)],
    );
    if (first === undefined || second === undefined || (first.path === second.path && isOther)) return !isOther;
    return first.path === second.path || agree(tableNodes(contents, first), tableNodes(contents, second));
  });
}

function areNamedApart(a: string | null | undefined, b: string | null | undefined): boolean {
  return a != null && b != null && a.toLowerCase() !== b.toLowerCase();
}

/** Nodes of a field along axes where they are not those of the dataset, as a descriptor says them. */
type NodesOfField = Readonly<
  Partial<Record<AxisName, readonly number[] | { readonly file: string; readonly path: string }>>
>;

/** Cells by which nodes of a staggered field may end before or behind those of the others. */
const MOST_APART = 1.5;

/**
 * Nodes of a field along the axes where they differ from another's, by the tables of its dimensions; null if these are
 * not there, or far away.
 */
function ownNodes(shared: SharedEvidence, first: OrientedDataset, other: OrientedDataset): NodesOfField | null {
  const { contents } = shared;
  if (isSameGrid(shared, first, other)) return {};
  if (framesIn(first) !== framesIn(other) || contents.answers.spacing !== undefined) return null;
  const found = AXIS_NAMES.map((axis) => {
    const [named, own] = [first, other].map(({ dimensions, labels }) => {
      const table = labels.tables[dimensions.indexOf(axis)];
      return table?.role === axis ? { ...table, isEdges: false } : null;
    });
    const [reference] = named === null ? tableFor(shared, first, axis) : [named];
    if (own === null || own === undefined || reference === undefined || reference === null)
      return own === reference && nodesAlong(first, axis) === nodesAlong(other, axis) ? [axis, undefined] : null;
    const [theirs, its] = [tableNodes(contents, reference), tableNodes(contents, own)];
    if (agree(theirs, its)) return [axis, undefined];
    const isNear = [0, -1].every((at) => {
      const [end, next] = [theirs.at(at) ?? 0, theirs.at(at === 0 ? 1 : -2) ?? 0];
      return Math.abs(end - (its.at(at) ?? Number.NaN)) <= MOST_APART * Math.abs(end - next);
    });
    if (!isNear) return null;
    return [axis, own.along === null ? { file: contents.name, path: own.path } : [...its]];
  });
  if (found.includes(null)) return null;
  return Object.fromEntries((found as [AxisName, unknown][]).filter(([, own]) => own !== undefined)) as NodesOfField;
}

/** @throws DataError for a component on other nodes that nothing states */
function requireNodes(
  shared: SharedEvidence,
  first: OrientedDataset,
  other: OrientedDataset,
  all: readonly OrientedDataset[],
): NodesOfField {
  const nodes = ownNodes(shared, first, other);
  if (nodes !== null) return nodes;
  const unlike = all.find((one) => one.path !== other.path && !isSameGrid(shared, one, other)) ?? first;
  throw new DataError(
    `${other.path} (${other.shape.join(" x ")}) is on other nodes than ${unlike.path} (${unlike.shape.join(" x ")}), and no ` +
      "coordinates of its dimensions say where: attach them as dimension scales, or say fields.velocity.components[].at in a descriptor",
  );
}

function framesIn({ shape, dimensions }: OrientedDataset): number {
  const at = dimensions.indexOf("t");
  return at < 0 ? 1 : shape[at];
}

function framesOf(field: OrientedDataset, { steps }: FoundFields): number {
  const frames = framesIn(field);
  if (steps !== null && frames > 1)
    throw new DataError(`${field.path} holds ${frames} times in a group that means one time`);
  return steps === null ? frames : steps.length;
}

function axesOf(
  { contents, facts, findings }: SharedEvidence,
  field: OrientedDataset,
  tables: TablesOf,
): DescriptorInput["axes"] {
  const stored = field.dimensions.filter((role): role is AxisName => (AXIS_NAMES as readonly string[]).includes(role));
  askUnits(contents, field, tables, findings);
  const axes = AXIS_NAMES.map((axis) => {
    const nodes = nodesAlong(field, axis);
    const clues = facts.clues(axis, stored);
    const table = tables.get(axis);
    if (nodes === 1) {
      const [place] = table === undefined || table.isEdges ? [] : tableNodes(contents, table);
      const origin = place === undefined ? clues.origin : { value: place, where: table?.path as string };
      return [axis, oneNode(axis, { ...clues, origin }, contents.answers, findings)];
    }
    if (table === undefined) {
      askCurved(contents, field, axis, findings);
      return [axis, axisOf(axis, nodes, clues, contents.answers, findings)];
    }
    const where = table.isEdges ? `${table.path}, the middles of its cells` : table.path;
    const isPlain = table.along === null && !table.isEdges && contents.dataset(table.path) !== null;
    const value = isPlain ? { file: contents.name, path: table.path } : [...tableNodes(contents, table)];
    askDegrees(contents, table, axis, findings);
    askEnds(tableNodes(contents, table), where, clues, contents, axis, findings);
    const { walls } = clues;
    const own = new StatedNumbers(contents, [table.path]).clues(axis, stored).periodic;
    const periodic = clues.periodic ?? own;
    const isUnlike = own !== null && own.value !== periodic?.value;
    const unlike = isUnlike ? [`${own.where} and ${periodic?.where} differ on whether ${axis} is periodic`] : [];
    const contradictions = [...clues.contradictions, ...unlike];
    const edges = cellsOf(contents, table, clues, axis, findings);
    const found = { ...NO_CLUES, coordinates: { value, where }, periodic, walls, edges, contradictions };
    return [axis, axisOf(axis, nodes, found, contents.answers, findings)];
  });
  return Object.fromEntries(axes) as DescriptorInput["axes"];
}

/** The faces of the cells around coordinates: a table of edges, CF's `bounds`, or the ends of the box. */
function cellsOf(
  contents: Contents,
  table: CoordinateTable,
  { limits }: AxisClues,
  axis: AxisName,
  findings: Findings,
): AxisClues["edges"] {
  const { path, along, isEdges } = table;
  const place = { file: contents.name, path };
  if (isEdges) return { value: contents.dataset(path) === null ? [...contents.numbers(path)] : place, where: path };
  const nodes = tableNodes(contents, table);
  const name = contents.attribute(path, "bounds");
  const bounds = typeof name === "string" ? join(parentOf(path), name) : path;
  const [length, ends] = contents.dataset(bounds)?.shape ?? [];
  if (bounds === path || along !== null || length !== nodes.length || ends !== 2)
    return edgesWithin([nodes[0], nodes[nodes.length - 1]], nodes.length, limits);
  const faces = facesOfBounds(contents.numbers(bounds));
  if (faces === null) findings.addWarning(`${bounds} is not used: its cells along ${axis} do not follow each other.`);
  return faces === null ? null : { value: faces, where: `${bounds}, the bounds of ${path}` };
}

/** The faces of n cells from 2 n bounds, cell after cell; null if the cells leave gaps or overlap. Source: CF 7.1. */
function facesOfBounds(bounds: Float64Array): number[] | null {
  const cells = bounds.length / 2;
  const slack = Math.abs(bounds[bounds.length - 1] - bounds[0]) * 1e-6;
  // The two ends of a descending cell are in either order.
  for (const first of [0, 1]) {
    const isWhole = Array.from({ length: cells - 1 }, (_, i) => bounds[2 * i + 1 - first] - bounds[2 * i + 2 + first]);
    if (isWhole.every((gap) => Math.abs(gap) <= slack))
      return [...Array.from({ length: cells }, (_, i) => bounds[2 * i + first]), bounds[2 * cells - 1 - first]];
  }
  return null;
}

function askCurved(contents: Contents, { path, shape }: OrientedDataset, axis: AxisName, findings: Findings): void {
  const { spacing, length } = contents.answers;
  const mesh = curvedIn(contents, groupsAround(contents, parentOf(path)), axis, shape);
  if (mesh === null || spacing !== undefined || length !== undefined) return;
  findings.ask(
    "spacing",
    `${mesh} varies along more than one dimension, so the mesh is curved; only nodes on lines along x, y and z are served.`,
    "values on such nodes, or --spacing and --origin if these coordinates do not hold",
    axis,
  );
}

/** Asks about degrees, which are not a length: derivatives would be per degree. */
function askDegrees(contents: Contents, { path }: CoordinateTable, axis: AxisName, findings: Findings): void {
  const units = contents.words(path, "units");
  if (DEGREES.test(units) && contents.answers.spacing === undefined)
    findings.contradict(
      "spacing",
      `${path} is in ${units}; it is served as it is, so that derivatives along ${axis} are per degree and particles move in degrees.`,
      BY_LENGTHS,
    );
}

/** Relative difference allowed between stated numbers of an axis and its coordinates, because they may be rounded. */
const STATED_SLACK = 1e-3;

/**
 * Asks about a spacing, origin, length or limits that are not those of the coordinates. Ends of a box may be half a
 * cell off, and a period is a step longer than its nodes. A list in an unknown order contradicts if none of its numbers
 * fits.
 */
function askEnds(
  nodes: Float64Array,
  where: string,
  clues: AxisClues,
  { answers }: Contents,
  axis: AxisName,
  findings: Findings,
): void {
  if (answers.spacing !== undefined || answers.length !== undefined) return;
  const { spacing, origin, length, limits, unordered } = clues;
  const steps = Array.from(nodes.subarray(1), (node, index) => Math.abs(node - nodes[index]));
  const [least, most] = [Math.min(...steps), Math.max(...steps)];
  const ends = [nodes[0], nodes[nodes.length - 1]];
  const [first, last] = [Math.min(...ends), Math.max(...ends)];
  const mean = (last - first) / (nodes.length - 1);
  const isNear = (value: number, places: readonly number[], slack: number) =>
    places.some((place) => Math.abs(value - place) <= slack);
  const [from, to] = [least, most].map((step) => Number(step.toPrecision(6)));
  const range = from === to ? `${from}` : `${from} to ${to}`;
  const ask = (
    about: "spacing" | "origin",
    said: string,
    stated: StatedNumber | StatedNumber<readonly number[]> | null,
    fits: (value: number) => boolean,
  ) => {
    if (stated === null || [stated.value].flat().some((value) => fits(value as number))) return;
    findings.contradict(
      about,
      `${where} ${said} along ${axis}, and ${stated.where} is ${[stated.value].flat().join(", ")}; that the coordinates hold is a guess.`,
      `--spacing and --origin, or axes.${axis} in a descriptor`,
      axis,
    );
  };
  const isStep = (value: number) =>
    Math.abs(value) >= least * (1 - STATED_SLACK) && Math.abs(value) <= most * (1 + STATED_SLACK);
  const isLength = (value: number) =>
    value >= (last - first) * (1 - STATED_SLACK) && value <= (last - first + most) * (1 + STATED_SLACK);
  const list = spacing === null && unordered.spacing !== unordered.length ? unordered.spacing : null;
  ask("spacing", `has steps of ${range}`, spacing ?? list, isStep);
  ask("spacing", `is ${Number((last - first).toPrecision(6))} long`, length ?? unordered.length, isLength);
  ask("origin", `ends at ${last}`, limits.upper, (value) => isNear(value, ends, 1.01 * most));
  if (answers.origin !== undefined) return;
  askBoxes(axis, nodes.length, { first, last, step: most }, clues, findings);
  const starts = [first, nodes[0]];
  ask("origin", `begins at ${nodes[0]}`, origin ?? unordered.origin, (value) =>
    isNear(value, starts, STATED_SLACK * mean),
  );
  if (origin === null)
    ask("origin", `begins at ${nodes[0]}`, limits.lower, (value) => isNear(value, starts, 0.51 * mean));
}

/**
 * Asks about coordinates in several units, or not in the length of the velocity: derivatives could not be combined, and
 * particles would move too far.
 */
function askUnits(contents: Contents, { path: field }: OrientedDataset, tables: TablesOf, findings: Findings): void {
  const { answers } = contents;
  if (answers.spacing !== undefined || answers.length !== undefined) return;
  const unitOfField = unitAt(contents, field);
  const said = [...tables]
    .flatMap(([axis, { path }]) => ({ axis, units: contents.words(path, "units") }))
    .filter(({ units }) => units !== "");
  const [first] = said;
  if (first === undefined || said.some(({ units }) => DEGREES.test(units))) return;
  const other = said.find(({ units }) => isNoLength(units));
  if (other !== undefined)
    findings.contradict(
      "spacing",
      `${tables.get(other.axis)?.path} is in ${other.units}, which is no length; derivatives along ${other.axis} would be in another unit.`,
      BY_LENGTHS,
      other.axis,
    );
  if (other !== undefined) return;
  const isMixed = said.some(({ units }) => contradictionOf(first.units, units));
  const isFar = !isMixed && (factorBetween(`${first.units} s-1`, unitOfField) ?? 1) !== 1;
  if (!isMixed && !isFar) return;
  const places = said.map(({ axis, units }) => `${units} along ${axis}`).join(", ");
  const effect = isMixed
    ? "; they are served as they are, so that derivatives are in several units"
    : ` and ${field} in ${unitOfField}; they are served as they are, so that particles move in another unit of length`;
  findings.contradict("spacing", `The coordinates are in ${places}${effect}.`, BY_LENGTHS);
}

const TIME_NAMES = ["time", "t", "times", "sim_time", "simulation_time", "time_value"];

/** From a table, else an attribute, else the place of each frame. */
function timeOf(
  shared: SharedEvidence,
  field: OrientedDataset,
  fields: FoundFields,
  frames: number,
): DescriptorInput["time"] {
  const { contents, tables, facts, findings } = shared;
  const { answers } = contents;
  const step = facts.look(["dt", "time_step", "timestep", "delta_t"]);
  if (fields.steps !== null && answers.times === undefined) {
    const stated = timesOfSteps(contents, fields, field.path) ?? tableOfTimes(shared, frames);
    if (stated !== null) return timesOf(frames, stated, step, answers, findings);
    findings.ask(
      "times",
      `The times of the ${frames} steps are not stated; the numbers in their names (${fields.steps.slice(0, 3).join(", ")}, ...) are a guess.`,
      BY_TIMES,
    );
    return timesOf(
      frames,
      { value: fields.steps.map(Number), where: "the names of the steps" },
      null,
      answers,
      findings,
    );
  }
  const attached = field.labels.tables[field.dimensions.indexOf("t")];
  const table =
    attached?.role === "t" ? attached : tables.find(({ role, length }) => role === "t" && length === frames);
  const number = table === undefined ? facts.numbers(TIME_NAMES) : null;
  const used = table ?? (number === null ? tables.find(({ role }) => role === "t") : undefined);
  const stated = used === undefined ? number : timesIn(shared, used);
  askTimes(shared, stated, frames);
  return timesOf(frames, stated, step, answers, findings);
}

function askTimes(
  { contents, tables, facts, findings }: SharedEvidence,
  stated: StatedNumber<readonly number[]> | null,
  frames: number,
): void {
  if (stated === null || stated.value.length !== frames || contents.answers.times !== undefined) return;
  const other = tables.find(
    ({ role, path, length }) =>
      role === "t" &&
      path !== stated.where &&
      (length !== frames || !agree(contents.numbers(path), Float64Array.from(stated.value))),
  );
  const places = frames === 1 ? facts.contradiction(TIME_NAMES) : null;
  if (other === undefined && places === null) return;
  const text =
    places ??
    (other?.length === frames
      ? `${stated.where} and ${other.path} have other times for the ${frames} frames`
      : `${stated.where} has ${frames} and ${other?.path} has ${other?.length} times`);
  findings.contradict("times", `${text}; that ${stated.where} holds is a guess.`, BY_TIMES);
}

function tableOfTimes(shared: SharedEvidence, frames: number): StatedNumber<readonly number[]> | null {
  const table = shared.tables.find(({ role, length }) => role === "t" && length === frames);
  return table === undefined ? null : timesIn(shared, table);
}

/** In the unit of length over velocity if all three are known, or else with a question if they are not in seconds. */
function timesIn(
  { contents, facts, findings, second }: SharedEvidence,
  { path }: CoordinateTable,
): StatedNumber<readonly number[]> {
  const units = contents.words(path, "units") || (facts.text(TIME_UNITS)?.value ?? "");
  const since = datedUnitOf(units, contents.words(path, "calendar"));
  const unit = since?.unit ?? units;
  const value = [...contents.numbers(path)];
  findings.timeTable = path;
  contents.use(path);
  findings.dated = since;
  if (contents.answers.times !== undefined) return { value, where: path };
  const inSeconds = factorBetween(unit, "s");
  const factor = second === null ? null : inSeconds;
  if (factor !== null && second !== null && Math.abs(factor * second - 1) > 1e-9) {
    findings.convert(
      `${path} counts in "${unit}" and is multiplied by ${Number((factor * second).toPrecision(9))}, into the unit of length over velocity.`,
    );
    if (since !== null) findings.dated = { ...since, seconds: 1 / second };
    return { value: value.map((time) => time * factor * second), where: path };
  }
  // Beside a velocity in a known unit, any other text is no unit of its times.
  const isUnknown = second !== null && inSeconds === null && unit.trim() !== "";
  if (isUnknown || (factor === null && FOREIGN_TIMES.test(unit)))
    findings.contradict(
      "times",
      `${path} counts in "${unit}", which is served as it is: particles need times in the unit of the velocity.`,
      BY_TIMES,
    );
  return { value, where: path };
}

/** A second in the unit of length over velocity; null if one of the two is not known. */
function secondOf(contents: Contents, { path }: OrientedDataset, tables: TablesOf): number | null {
  const { answers } = contents;
  const isSaid = answers.spacing !== undefined || answers.length !== undefined;
  const lengths = [...tables.values()].map((table) => contents.words(table.path, "units").trim());
  const [length = ""] = lengths;
  const factor = factorBetween(unitAt(contents, path), `${length} s-1`);
  return isSaid || length === "" || lengths.some((other) => other !== length) ? null : factor;
}

/** The time that every group of a series states, in an attribute or a dataset of one number. */
function timesOfSteps(
  contents: Contents,
  { steps, place }: FoundFields,
  path: string,
): StatedNumber<readonly number[]> | null {
  const values = (steps ?? []).map((step) => timeAt(contents, place(path).replace("{step}", step)));
  const known = values.filter((value) => value !== null);
  if (known.length < values.length || known.some((value, index) => index > 0 && value <= known[index - 1])) return null;
  return { value: known, where: "each step" };
}

function timeAt(contents: Contents, path: string): number | null {
  return new StatedNumbers(contents, [path, parentOf(path)]).number(TIME_NAMES)?.value ?? null;
}

function byTime(contents: Contents, fields: FoundFields): FoundFields {
  const { steps, place } = fields;
  const lead = fields.velocity[0] ?? fields.pressure ?? fields.others[0]?.paths[0];
  if (steps === null || lead === undefined) return fields;
  const timed = steps.map((step) => ({ step, time: timeAt(contents, place(lead).replace("{step}", step)) }));
  if (timed.some(({ time }) => time === null)) return fields;
  return { ...fields, steps: timed.sort((a, b) => (a.time as number) - (b.time as number)).map(({ step }) => step) };
}

function storageOf(
  contents: Contents,
  { steps, place }: FoundFields,
  datasets: readonly OrientedDataset[],
  nodesAt: ReadonlyMap<string, NodesOfField>,
): object {
  const at = ({ path }: OrientedDataset) => {
    const nodes = nodesAt.get(path) ?? {};
    return { file: contents.name, path: place(path), ...(Object.keys(nodes).length === 0 ? {} : { at: nodes }) };
  };
  const series = steps === null ? {} : { steps: [...steps] };
  const [first, ...others] = datasets as readonly [OrientedDataset, ...OrientedDataset[]];
  const dimensions = [...first.dimensions];
  if (others.length === 0) return { ...at(first), dimensions, ...series };
  const own = (dataset: OrientedDataset) =>
    dataset.dimensions.join() === dimensions.join()
      ? at(dataset)
      : { ...at(dataset), dimensions: [...dataset.dimensions] };
  return { components: datasets.map(own), dimensions, ...series };
}
