/**
 * Compares what a file says of fields, coordinates and times with what they are taken for, and finds numbers that
 * nothing applies.
 */
import { shortList } from "../../shared/messages.js";
import { AXIS_NAMES, type AxisName, type FieldName } from "../dataset/dataset.js";
import { partsIn } from "../dataset/descriptor.js";
import { placeOf } from "../dataset/files.js";
import { isPackingName } from "../dataset/packing.js";
import type { AttributeValue } from "../dataset/stored.js";
import { unitText } from "../dataset/units.js";
import { componentNames } from "./evidence.js";
import type { Contents, FieldOfPlan, Findings, LayoutPlan, Recognition } from "./layout.js";
import { askCoordinateNames, askNames, askPlaces } from "./stated-names.js";
import { areInOrder, roleNamed } from "./usual-names.js";

const LISTED = 6;

/**
 * Adds a red line for each contradiction, and one for numbers that nothing applies (of a known format: beside all that was read).
 *
 * @returns units and labels as text
 */
export function compareStatements(contents: Contents, found: Recognition, isKnown: boolean): string {
  const { plan, findings, defined } = found;
  const fields = fieldPaths(contents, plan);
  const values = [...fields.values()].flat(2);
  const places = coordinatePaths(plan);
  const numbers = [...(findings.timeTable === null ? [] : [findings.timeTable]), ...contents.usedDatasets()];
  const tables = [...places.map(([, path]) => path), ...numbers];
  const { datasets, holders } = contents.read;
  const read = isKnown ? [...datasets, ...(defined === undefined ? [] : holders)] : [];
  const stated = [...new Set([...values, ...tables, ...read])];
  addForeign(
    stated.flatMap((path) => foreignAt(contents, path, defined ?? [])),
    findings,
  );
  for (const path of new Set([...values, ...tables])) refuseScaledUnit(contents, path, findings);
  for (const [name, parts] of fields) {
    const { dimensions = [] } = plan.fields[name] ?? {};
    for (const [path] of parts)
      if (path !== undefined) askComponents(contents, path, dimensions.indexOf("c"), findings);
    askOfFrames(contents, name as FieldName, parts, hasOwnNodes(plan.fields[name]), findings);
  }
  if (findings.timeTable !== null && contents.attributes(findings.timeTable).has("climatology"))
    findings.contradict(
      "times",
      `${findings.timeTable} has the attribute climatology: each time is a statistic over several years; that the frames are those of one flow is a guess.`,
      "--times FIRST:STEP or a list",
    );
  for (const [axis, path] of places) askCoordinateNames(contents, axis, path, findings);
  // A constant component has the place of another.
  for (const path of new Set([...fields.values()].flat().flatMap(([one]) => one ?? [])))
    addPacking(contents, path, findings);
  const coordinates = places.map(([axis, path]) => `${axis} ${labelsAt(contents, path)}`);
  return [labelsOfAll(contents, fields, findings), ...coordinates].join("; ");
}

/** A number before a unit, multiples of pi, and places that are counted. */
const SCALED_UNIT =
  /^\s*[-+]?[\d.]+(e[-+]?\d+)?\s*[* ]?\s*[a-z%]|\bpi\b|π|^\s*(index|indices|(grid[- ]?)?(cells?|points?|nodes?)|pixels?|voxels?)\s*$/i;

function refuseScaledUnit(contents: Contents, path: string, findings: Findings): void {
  if (SCALED_UNIT.test(contents.units(path)))
    findings.contradict(
      "scale",
      `The attribute units of ${path} is "${contents.units(path)}", and nothing is multiplied.`,
      "--despite scale if the stored numbers are the values; else scale_factor on the field",
    );
}

function askComponents(contents: Contents, path: string, dimension: number, findings: Findings): void {
  const named = dimension < 0 ? null : componentNames(contents, path, dimension);
  const inOrder = named === null ? true : areInOrder(named.names);
  const isKnown = inOrder === true || (inOrder === null && named?.isShared === true);
  if (named === null || isKnown || contents.answers.components !== undefined) return;
  findings.contradict(
    "order",
    `The components of ${path} are ${named.names.join(", ")} by ${named.where}; that they are those along x, y and z in this order is a guess.`,
    "--components with their axes in stored order, as in z,y,x",
  );
}

function hasOwnNodes(field: FieldOfPlan | undefined): boolean {
  return partsIn(field).length > 1 && partsIn(field).some(({ at }) => at !== undefined);
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

type Foreign = Readonly<Record<"path" | "name" | "text", string>>;

/** Attributes by which HDF5 and netCDF keep dimensions and storage, in any file. */
const OF_THE_LIBRARY =
  /^(CLASS|NAME|REFERENCE_LIST|DIMENSION_LIST|DIMENSION_LABELS|PALETTE|IMAGE_\w+|_Netcdf4Dimid|_Netcdf4Coordinates|_NCProperties|_nc3_strict|_ChunkSizes|_DeflateLevel|_Shuffle|_Endianness|_Storage|_NoFill|_ARRAY_DIMENSIONS)$/;

export function isOfLibrary(name: string): boolean {
  return OF_THE_LIBRARY.test(name);
}

/** Numbers that nothing applies, and labels of sources that their virtual dataset does not state alike. */
function foreignAt(contents: Contents, path: string, defined: readonly string[]): Foreign[] {
  const own = contents.attributes(path);
  return [{ name: path, attributes: own }, ...contents.sources(path)].flatMap(({ name: place, attributes }) =>
    [...attributes].flatMap(([name, value]) => {
      const isKnown = defined.includes(name) || isPackingName(name) || OF_THE_LIBRARY.test(name);
      const isText = [value].flat().every((one) => typeof one === "string");
      const isSource = attributes !== own;
      if (isKnown || (isText && !(isSource && LABELS.test(name)))) return [];
      const text = valueText(value);
      const isAlike = isSource && spelled(text) === spelled(valueText(own.get(name) ?? null));
      return isAlike || (!isSource && contents.isSaid(path, name)) ? [] : [{ path: place, name, text }];
    }),
  );
}

function addForeign(all: readonly Foreign[], findings: Findings): void {
  if (all.length === 0) return;
  const alike = new Map<string, string[]>();
  for (const { path, name, text } of all) {
    const key = `${name} = ${text}`;
    alike.set(key, [...(alike.get(key) ?? []), path]);
  }
  const texts = [...alike].map(([text, [first, ...more]]) => {
    return `${text} of ${first}${more.length === 0 ? "" : ` and ${more.length} more`}`;
  });
  findings.contradict(
    "values",
    `${all.some(({ text }) => text.startsWith('"')) ? "Statements" : "Numbers"} that nothing applies: ${shortList(texts, LISTED)}.`,
    "--despite values if the stored numbers are the values; else scale_factor and add_offset on the field",
  );
}

export function hasForeign(contents: Contents, path: string, defined: readonly string[]): boolean {
  return foreignAt(contents, path, defined).length > 0;
}

export function valueText(value: AttributeValue | null): string {
  if (value === null) return "(neither a number nor a text)";
  return typeof value === "string" ? `"${value}"` : typeof value === "number" ? `${value}` : [...value].join(", ");
}

function fieldPaths(contents: Contents, { fields, time }: LayoutPlan): Map<string, string[][]> {
  const count = "values" in time ? time.values.length : time.count;
  return new Map(Object.entries(fields).map(([name, field]) => [name, partsOf(contents, field as FieldOfPlan, count)]));
}

function partsOf(contents: Contents, field: FieldOfPlan, count: number): string[][] {
  return partsIn(field).map(({ path }) => {
    const frames = path.includes("{step") ? count : 1;
    const all = Array.from({ length: frames }, (_, frame) => placeOf(path, field, frame));
    return all.filter((one) => contents.dataset(one) !== null);
  });
}

function coordinatePaths({ axes }: LayoutPlan): (readonly [AxisName, string])[] {
  return AXIS_NAMES.flatMap((name) => {
    const axis = axes[name];
    return "coordinates" in axis && !Array.isArray(axis.coordinates) ? [[name, axis.coordinates.path] as const] : [];
  });
}

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
        findings.contradict(
          "order",
          `${frames[0]} and ${frames[at]} are of the ${name} and say ${texts[0]} and ${texts[at]}; that both are stored alike is a guess.`,
          "the same attributes in all frames, or a descriptor without this question",
        );
      return `${name}${parts.length > 1 ? part : ""} ${texts[0] ?? ""}`;
    }),
  );
  return said.join("; ");
}

const spelled = (text: string): string => unitText(text.replaceAll('"', "")) ?? text;

function labelsAt(contents: Contents, path: string): string {
  const names = [...contents.attributes(path).keys()].filter((name) => LABELS.test(name));
  const scales = contents.scales(path).map((list) => list[0]?.split("/").pop() ?? null);
  const labels = contents.labels(path).map((label, dimension) => label ?? scales[dimension] ?? null);
  const dimensions = labels.filter((label) => label !== null);
  const isComponents = (label: string | null) => label === null || !"txyz".includes(roleNamed(label) ?? "c");
  const along = labels.flatMap((label, dimension) =>
    isComponents(label) ? (componentNames(contents, path, dimension)?.names ?? []) : [],
  );
  const said = (name: string) => valueText(contents.attributes(path).get(name) ?? null);
  const labelled = names.map((name) => `${name} ${/^units?$/i.test(name) ? spelled(said(name)) : said(name)}`);
  const all = [...labelled, ...new Set(along)];
  return [...all, ...(dimensions.length === 0 ? [] : [dimensions.join(" ")])].join(", ") || "nothing";
}

function addPacking(contents: Contents, path: string, findings: Findings): void {
  const names = [...contents.attributes(path).keys()].filter(
    (name) => isPackingName(name) && !/fill|missing/i.test(name),
  );
  const said = names.map((name) => `${name} ${valueText(contents.attributes(path).get(name) ?? null)}`);
  if (said.length > 0) findings.addReason(`${path}: values by ${said.join(", ")}.`);
}
