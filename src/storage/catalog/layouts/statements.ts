/**
 * Asks about every statement of a file that may change values, places, components or times but is not applied: in the
 * attributes of fields and coordinates, of the groups above them, and in small datasets next to them.
 */
import { AXIS_NAMES, type AxisName, type FieldName } from "../../file/dataset.js";
import { placeOf } from "../../file/files.js";
import { isPackingName } from "../../file/packing.js";
import type { AttributeValue } from "../../file/stored.js";
import { componentNames, groupsAround, join, parentOf } from "./evidence.js";
import type { Contents, FieldOfPlan, Findings, LayoutPlan, Recognition } from "./layout.js";
import { askCoordinateNames, askNames, askPlaces } from "./stated-names.js";
import {
  HARMLESS_STATEMENTS,
  NARRATIVE,
  SHORT,
  SUSPECTS,
  type SuspectRow,
  WORDED,
  WORDINGS,
} from "./statement-table.js";
import { unitOf, unitText } from "./units.js";

/** Numbers of a list up to which they are read and shown. */
const FEW = 3;
/** Numbers of a list up to which they are read to see whether they change anything. */
const READ = 4096;
/** Objects that one question names. */
const LISTED = 3;

/** A stored object with attributes, and what it is to the dataset. */
interface StatingObject {
  readonly path: string;
  readonly role: "values" | "group";
}

/** A statement that nothing applies. */
interface Suspect {
  readonly noun: "attribute" | "dataset";
  readonly path: string;
  readonly name: string;
  readonly text: string;
  readonly about: SuspectRow["about"];
  readonly effect: string;
}

/**
 * Asks about the statements at the objects that a description reads, and above them.
 *
 * @returns units and labels of the fields and coordinates as text
 */
export function askStatements(contents: Contents, { plan, defined }: Recognition, findings: Findings): string {
  const fields = fieldPaths(contents, plan);
  const values = [...fields.values()].flat(2);
  const places = coordinatePaths(plan);
  const tables = [...places.map(([, path]) => path), ...(findings.timeTable === null ? [] : [findings.timeTable])];
  const groups = new Set<string>();
  for (const home of new Set([...values, ...tables].map(parentOf)))
    for (const group of groupsAround(contents, home)) groups.add(group);
  const holders: StatingObject[] = [
    ...[...values, ...tables].map((path) => ({ path, role: "values" as const })),
    ...[...groups].map((path) => ({ path, role: "group" as const })),
  ];
  const known = new Set([...values, ...tables]);
  const suspects =
    defined === undefined
      ? holders.flatMap((holder) => suspectsAt(contents, holder, known))
      : [...known, ...defined.groups].flatMap((path) => foreignAt(contents, path, defined.attributes));
  askSuspects(suspects, findings);
  for (const [name, parts] of fields) {
    askOfFrames(contents, name as FieldName, parts, hasOwnNodes(plan.fields[name]), findings);
  }
  if (findings.timeTable !== null && contents.attributes(findings.timeTable).has("climatology"))
    findings.ask(
      "times",
      `${findings.timeTable} has the attribute climatology: each time is a statistic over several years; that the frames are those of one flow is a guess.`,
      "--times FIRST:STEP or a list",
    );
  for (const [axis, path] of places) askCoordinateNames(contents, axis, path, findings);
  for (const [path] of [...fields.values()].flat()) if (path !== undefined) addPacking(contents, path, findings);
  const coordinates = places.map(([axis, path]) => `${axis} ${labelsAt(contents, path)}`);
  return [labelsOfAll(contents, fields, findings), ...coordinates].join("; ");
}

function hasOwnNodes(field: FieldOfPlan | undefined): boolean {
  return field !== undefined && "components" in field && field.components.some(({ at }) => at !== undefined);
}

function askOfFrames(
  contents: Contents,
  field: FieldName,
  parts: readonly string[][],
  isApart: boolean,
  findings: Findings,
): void {
  const before = findings.questions.length;
  for (let frame = 0; frame < (parts[0]?.length ?? 0) && findings.questions.length === before; frame++) {
    const paths = parts.flatMap((frames) => frames[Math.min(frame, frames.length - 1)] ?? []);
    askNames(contents, field, paths, findings);
    if (!isApart) askPlaces(contents, field, paths, findings);
  }
}

/** Says what an attribute of a dataset may change about its values; null if nothing may. */
export function doubtAbout(contents: Contents, path: string): string | null {
  const [suspect] = suspectsAt(contents, { path, role: "values" }, new Set());
  return suspect === undefined ? null : `the attribute ${suspect.name} of ${path} is ${suspect.text}`;
}

/** Paths of the datasets of each field: by component, every frame. */
function fieldPaths(contents: Contents, { fields, time }: LayoutPlan): Map<string, string[][]> {
  const count = "values" in time ? time.values.length : time.count;
  return new Map(Object.entries(fields).map(([name, field]) => [name, partsOf(contents, field as FieldOfPlan, count)]));
}

function partsOf(contents: Contents, field: FieldOfPlan, count: number): string[][] {
  const { firstStep = 0, stepIncrement = 1, steps = null } = field;
  const places = "components" in field ? field.components : [field];
  return places.map(({ path }) => {
    const frames = path.includes("{step") ? count : 1;
    const all = Array.from({ length: frames }, (_, frame) => placeOf(path, { firstStep, stepIncrement, steps }, frame));
    return all.filter((one) => contents.dataset(one) !== null);
  });
}

function coordinatePaths({ axes }: LayoutPlan): (readonly [AxisName, string])[] {
  return AXIS_NAMES.flatMap((name) => {
    const axis = axes[name];
    return "coordinates" in axis && !Array.isArray(axis.coordinates) ? [[name, axis.coordinates.path] as const] : [];
  });
}

/** The words of a name in lower case: `CGSConversionFactor` has three. */
export function wordsOf(name: string): string[] {
  const parted = name.replace(/([a-z\d])([A-Z])/g, "$1 $2").replace(/([A-Z]+)([A-Z][a-z])/g, "$1 $2");
  return parted.toLowerCase().match(/[a-z]+\d*/g) ?? [];
}

/**
 * The row of a name that raises a question, or null.
 *
 * @param ofValues whether it is the name of an attribute of a field or of coordinates
 */
export function suspectNamed(name: string, ofValues = false): SuspectRow | null {
  const words = wordsOf(name);
  const small = name.toLowerCase();
  const isHarmless = HARMLESS_STATEMENTS.filter(({ areSettings }) => !ofValues || areSettings !== true).some(
    (row) => row.names?.includes(small) || row.words?.some((word) => words.includes(word)),
  );
  if (isHarmless) return null;
  const pairs = words.slice(1).map((word, at) => `${words[at]}${word}`);
  const isOne = (row: SuspectRow) => {
    const stems = ofValues ? [...row.stems, ...(row.ofValues ?? [])] : row.stems;
    const isBegun = (word: string) => stems.some((stem) => word.startsWith(stem) && !word.startsWith("scalar"));
    return words.some(isBegun) || [...words, ...pairs].some((word) => row.words?.includes(word));
  };
  const isToUnit = words.some(
    (word, at) => word === "to" && [words[at - 1], words[at + 1]].every((unit) => unitOf(unit ?? "?") !== null),
  );
  return SUSPECTS.find(isOne) ?? (isToUnit ? (SUSPECTS[0] as SuspectRow) : null);
}

/** Whether a value says that nothing changes; what is neither number nor text may say anything. */
function isPlain(name: string, value: AttributeValue | null, { neutral: number, plain }: SuspectRow): boolean {
  // 1 is a factor, or says that something was done.
  const neutral = number === 1 && /ed$/i.test(name) ? 0 : number;
  if (typeof value === "string") return plain.includes(value.trim().toLowerCase());
  if (value === null) return false;
  const items = typeof value === "number" ? [value] : [...value];
  if (items.every((item) => typeof item === "string"))
    return items.every((item) => plain.includes((item as string).trim().toLowerCase()));
  return neutral === null ? items.every((item) => Number.isNaN(item)) : items.every((item) => item === neutral);
}

/** An attribute; null if it cannot be read, which is asked about as well. */
function valueAt(contents: Contents, path: string, name: string): AttributeValue | null {
  return contents.attributes(path).get(name) ?? null;
}

function textOf(value: AttributeValue | null): string {
  if (value === null) return "neither a number nor a text";
  return typeof value === "string" ? `"${value}"` : typeof value === "number" ? `${value}` : [...value].join(", ");
}

/**
 * The statements of an object that are not known to change nothing.
 *
 * @param known paths of fields, coordinates and times
 */
function suspectsAt(contents: Contents, { path, role }: StatingObject, known: ReadonlySet<string>): Suspect[] {
  const found: Suspect[] = [];
  const unnamed = new Set<string>();
  for (const name of contents.attributes(path).keys()) {
    // What packs the values of a dataset is applied as they are read.
    if (role === "values" && isPackingName(name)) continue;
    const value = () => valueAt(contents, path, name);
    const row = isPackingName(name) ? packingRow(name) : suspectNamed(name, role === "values");
    // Orders of accuracy are numbers; orders of dimensions are read from texts that name them.
    const isRead = row?.about === "order" && row.neutral === null && isOrderRead(value());
    const asks = row !== null && !isRead && !isPlain(name, value(), row);
    if (asks && !isUnitText(name, value()))
      found.push({ noun: "attribute", path, name, text: textOf(value()), ...row });
    else if (row === null && !NARRATIVE.test(name)) unnamed.add(name);
  }
  for (const [name, value] of contents.attributes(path))
    if (unnamed.has(name)) found.push(...wordedAt(path, name, value));
  if (role === "group") found.push(...suspectNumbers(contents, path, known));
  return found;
}

/** Attributes by which HDF5 and netCDF keep dimensions, in any file. */
const DIMENSION_ATTRIBUTES =
  /^(CLASS|NAME|REFERENCE_LIST|DIMENSION_LIST|DIMENSION_LABELS|_Netcdf4Dimid|_Netcdf4Coordinates)$/;

function foreignAt(contents: Contents, path: string, defined: readonly string[]): Suspect[] {
  return [...contents.attributes(path).keys()].flatMap((name) => {
    if (defined.includes(name) || isPackingName(name) || DIMENSION_ATTRIBUTES.test(name)) return [];
    const value = contents.attribute(path, name);
    const isText = typeof value === "string" || Array.isArray(value);
    return isText ? [] : [{ noun: "attribute", path, name, text: textOf(value), about: "scale", effect: "change" }];
  });
}

/** Whether an order is known: a number is one of accuracy, and names of dimensions are read elsewhere. */
function isOrderRead(value: AttributeValue | null): boolean {
  return (
    typeof value === "number" || value instanceof Float64Array || Array.isArray(value) || /[xyz]/i.test(`${value}`)
  );
}

function isUnitText(name: string, value: AttributeValue | null): boolean {
  return (
    wordsOf(name).some((word) => word.startsWith("unit")) &&
    typeof value === "string" &&
    !/\d{2}|[*×]/.test(value) &&
    !SCALED_UNIT.test(value)
  );
}

function packingRow(name: string): SuspectRow {
  const stem = /scale|unit/i.test(name) ? "scal" : /offset/i.test(name) ? "offset" : "fill";
  return SUSPECTS.find(({ stems }) => stems.includes(stem)) as SuspectRow;
}

/** A number before a unit, multiples of pi, and places that are counted. */
const SCALED_UNIT =
  /^\s*[-+]?[\d.]+(e[-+]?\d+)?\s*[* ]?\s*[a-z%]|\bpi\b|π|^\s*(index|indices|(grid[- ]?)?(cells?|points?|nodes?)|pixels?|voxels?)\s*$/i;

function wordedAt(path: string, name: string, value: AttributeValue | null): Suspect[] {
  if (typeof value !== "string") return [];
  if (/^units?$/i.test(name))
    return SCALED_UNIT.test(value)
      ? [{ noun: "attribute", path, name, text: textOf(value), about: "scale", effect: "scale" }]
      : [];
  const row =
    value.length > SHORT && !WORDED.test(name) ? undefined : WORDINGS.find(({ pattern }) => pattern.test(value));
  if (row === undefined) return [];
  return [{ noun: "attribute", path, name, text: textOf(value), about: row.about, effect: row.effect }];
}

/**
 * Datasets of numbers in a group whose names raise a question: numbers, lists and matrices, such as a factor for each
 * frame or node. Only those that scale are asked about if they are long: others are tables of places.
 */
function suspectNumbers(contents: Contents, group: string, known: ReadonlySet<string>): Suspect[] {
  return contents.datasets(group).flatMap((name) => {
    const row = suspectNamed(name);
    const path = join(group, name);
    const stored = contents.dataset(path);
    const shape = stored?.shape ?? [];
    const count = stored === null ? 0 : shape.reduce((product, length) => product * length, 1);
    const isNumber = stored?.element === "float" || stored?.element === "integer";
    if (row === null || row.about === "order" || !isNumber || count === 0 || known.has(path)) return [];
    if (count > FEW && (row.about !== "scale" || shape.filter((length) => length > 1).length > 2)) return [];
    if (contents.isUnwritten(path)) return [];
    const value = count > READ ? null : contents.numbers(path);
    if (value !== null && isPlain(name, value, row)) return [];
    const text = count > FEW ? `${shape.join(" x ")} numbers` : textOf(value);
    return [{ noun: "dataset", path: group, name, text, ...row }];
  });
}

/** One question for statements of one name and value, wherever they are. */
function askSuspects(suspects: readonly Suspect[], findings: Findings): void {
  const alike = new Map<string, Suspect[]>();
  for (const suspect of suspects) {
    const key = `${suspect.noun}\n${suspect.name}\n${suspect.text}\n${suspect.effect}`;
    alike.set(key, [...(alike.get(key) ?? []), suspect]);
  }
  for (const [first, ...others] of alike.values() as Iterable<[Suspect, ...Suspect[]]>) {
    const { noun, name, text, about, effect } = first;
    const paths = [...new Set([first, ...others].map(({ path }) => path))];
    const more = paths.length > LISTED ? ` and ${paths.length - LISTED} more` : "";
    findings.ask(
      about,
      `The ${noun} ${name} of ${paths.slice(0, LISTED).join(", ")}${more} is ${text}, and no convention says whether it ` +
        `is to ${effect} the stored numbers; that they are values as they are is a guess.`,
      ANSWERS[about as keyof typeof ANSWERS] ?? ANSWERS.scale,
    );
  }
}

const ANSWERS = {
  scale: "--assume, or a descriptor without this question, if they are; else scale_factor and add_offset on the field",
  spacing: "--spacing and --origin with --assume or a descriptor without this question, or axes.* in a descriptor",
  order: "--dims with the dimensions in stored order, and --assume or a descriptor without this question",
};

/** Attributes that name dimensions or components, or a unit. */
const LABELS =
  /^(units?|axes|axis_?order|axis_?labels|labels?|components?\w*|dims?|dimensions|dim_?order|standard_?name)$/i;

/** Units and labels of fields as text; what differs from frame to frame is asked about. */
function labelsOfAll(contents: Contents, fields: ReadonlyMap<string, string[][]>, findings: Findings): string {
  const said = [...fields].flatMap(([name, parts]) =>
    parts.map((frames, part) => {
      const texts = frames.map((path) => labelsAt(contents, path));
      const at = texts.findIndex((text) => text !== texts[0]);
      if (at > 0)
        findings.ask(
          "order",
          `${frames[0]} and ${frames[at]} are of the ${name} and say ${texts[0]} and ${texts[at]}; that both are stored alike is a guess.`,
          "the same attributes in all frames, or a descriptor without this question",
        );
      return `${name}${parts.length > 1 ? part : ""} ${texts[0] ?? ""}`;
    }),
  );
  return said.join("; ");
}

/** A unit in one spelling, if it is known: m/s and m s-1 are one. */
function spelled(text: string): string {
  return unitText(text.replaceAll('"', "")) ?? text;
}

function labelsAt(contents: Contents, path: string): string {
  const names = [...contents.attributes(path).keys()].filter((name) => LABELS.test(name));
  const scales = contents.scales(path).map((list) => list[0]?.split("/").pop() ?? null);
  const labels = contents.labels(path).map((label, dimension) => label ?? scales[dimension] ?? null);
  const dimensions = labels.filter((label) => label !== null);
  const along = labels.flatMap((_, dimension) => componentNames(contents, path, dimension)?.names ?? []);
  const said = (name: string) => textOf(valueAt(contents, path, name));
  const labelled = names.map((name) => `${name} ${/^units?$/i.test(name) ? spelled(said(name)) : said(name)}`);
  const all = [...labelled, ...new Set(along)];
  return [...all, ...(dimensions.length === 0 ? [] : [dimensions.join(" ")])].join(", ") || "nothing";
}

/** Says how the numbers of a dataset become values, if they do. */
function addPacking(contents: Contents, path: string, findings: Findings): void {
  const names = [...contents.attributes(path).keys()].filter(
    (name) => isPackingName(name) && !/fill|missing/i.test(name),
  );
  const said = names.map((name) => `${name} ${textOf(valueAt(contents, path, name))}`);
  if (said.length > 0) findings.addReason(`${path}: values by ${said.join(", ")}.`);
}
