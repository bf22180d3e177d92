/**
 * Compares the attributes of fields, coordinates and times with the description made of them, and finds numbers in
 * attributes that nothing applies.
 */
import { groupBy } from "../../shared/group-by.js";
import { shortList } from "../../shared/messages.js";
import { AXIS_NAMES, type AxisName, type FieldName } from "../dataset/dataset.js";
import { partsIn } from "../dataset/descriptor.js";
import { placeOf } from "../dataset/files.js";
import { isPackingName } from "../dataset/packing.js";
import type { AttributeValue } from "../dataset/stored.js";
import { unitText } from "../dataset/units.js";
import { componentNames } from "./evidence.js";
import type { Contents, FieldOfPlan, Findings, LayoutPlan, Recognition } from "./layout.js";
import { checkCoordinateNames, checkNames, checkPlaces } from "./stated-names.js";
import { areInOrder, roleNamed } from "./usual-names.js";

/** Most attributes that one message lists. */
const MAX_LISTED = 6;

/**
 * Adds a red line for each contradiction, and one for attributes that nothing applies. In a known format these are
 * looked for at everything that was read, in others at what the description uses.
 * @returns units and labels as text, which the files of a series must share
 */
export function compareStatements(contents: Contents, found: Recognition, isKnown: boolean): string {
  const { plan, findings, defined = [] } = found;
  const { timeTable } = findings;
  const fields = fieldPaths(contents, plan);
  const coordinates = coordinatePaths(plan);
  const values = [...fields.values()].flat(2);
  const tables = [...coordinates.map(([, path]) => path), ...(timeTable === null ? [] : [timeTable])];
  const used = [...new Set([...values, ...tables, ...contents.usedDatasets()])];
  const { datasets, holders } = contents.read;
  const read = isKnown ? [...datasets, ...(found.defined === undefined ? [] : holders)] : [];
  const unapplied = [...new Set([...used, ...read])].flatMap((path) => unappliedAt(contents, path, defined));
  reportUnapplied(unapplied, findings);
  for (const path of used) checkScaledUnit(contents, path, findings);
  for (const [name, components] of fields) {
    const field = plan.fields[name];
    const vectorDimension = field?.dimensions?.indexOf("c") ?? -1;
    for (const [path] of components)
      if (path !== undefined) checkComponentOrder(contents, path, vectorDimension, findings);
    checkFrames(contents, name as FieldName, components, hasOwnNodes(field), findings);
  }
  if (timeTable !== null) checkClimatology(contents, timeTable, findings);
  for (const [axis, path] of coordinates) checkCoordinateNames(contents, axis, path, findings);
  // A constant component has the path of another, which is named once.
  const firstPaths = [...fields.values()].flat().flatMap(([first]) => first ?? []);
  for (const path of new Set(firstPaths)) addPackingReason(contents, path, findings);
  const coordinateLabels = coordinates.map(([axis, path]) => `${axis} ${labelsAt(contents, path)}`);
  return [compareLabels(contents, fields, findings), ...coordinateLabels].join("; ");
}

/** A number before a unit, multiples of pi, and places that are counted. */
const SCALED_UNIT =
  /^\s*[-+]?[\d.]+(e[-+]?\d+)?\s*[* ]?\s*[a-z%]|\bpi\b|π|^\s*(index|indices|(grid[- ]?)?(cells?|points?|nodes?)|pixels?|voxels?)\s*$/i;

function checkScaledUnit(contents: Contents, path: string, findings: Findings): void {
  const units = contents.units(path);
  if (!SCALED_UNIT.test(units)) return;
  const answer = "--despite scale if the stored numbers are the values; else scale_factor on the field";
  findings.contradict("scale", `The attribute units of ${path} is "${units}", and nothing is multiplied.`, answer);
}

function checkClimatology(contents: Contents, path: string, findings: Findings): void {
  if (!contents.attributes(path).has("climatology")) return;
  const claim = `${path} has the attribute climatology: each time is a statistic over several years`;
  const answer = "--times FIRST:STEP or a list";
  findings.contradict("times", `${claim}; that the frames are those of one flow is a guess.`, answer);
}

/** Contradicts names of components along a dimension that are not known to be in the order x, y, z. */
function checkComponentOrder(contents: Contents, path: string, dimension: number, findings: Findings): void {
  const stated = dimension < 0 ? null : componentNames(contents, path, dimension);
  if (stated === null || contents.answers.components !== undefined) return;
  const { names, where, isShared } = stated;
  const isInOrder = areInOrder(names);
  if (isInOrder === true || (isInOrder === null && isShared)) return;
  const claim = `The components of ${path} are ${names.join(", ")} by ${where}`;
  const question = `${claim}; that they are those along x, y and z in this order is a guess.`;
  findings.contradict("order", question, "--components with their axes in stored order, as in z,y,x");
}

/** Whether the components of a field are each on nodes of their own. */
function hasOwnNodes(field: FieldOfPlan | undefined): boolean {
  return partsIn(field).length > 1 && partsIn(field).some(({ at }) => at !== undefined);
}

/** Checks the names of a field frame by frame, up to the first frame with a question. */
function checkFrames(
  contents: Contents,
  field: FieldName,
  components: readonly string[][],
  isStaggered: boolean,
  findings: Findings,
): void {
  const before = findings.questions.length;
  for (let frame = 0; frame < (components[0]?.length ?? 0) && findings.questions.length === before; frame++) {
    const paths = components.flatMap((frames) => frames[Math.min(frame, frames.length - 1)] ?? []);
    checkNames(contents, field, paths, findings);
    if (!isStaggered) checkPlaces(contents, field, paths, findings);
  }
}

/** An attribute that nothing applies, with its value as text. */
type Unapplied = Readonly<Record<"path" | "name" | "text", string>>;

/** Attributes by which HDF5 and netCDF keep dimensions and storage, in any file. */
const LIBRARY_ATTRIBUTES =
  /^(CLASS|NAME|REFERENCE_LIST|DIMENSION_LIST|DIMENSION_LABELS|PALETTE|IMAGE_\w+|_Netcdf4Dimid|_Netcdf4Coordinates|_NCProperties|_nc3_strict|_ChunkSizes|_DeflateLevel|_Shuffle|_Endianness|_Storage|_NoFill|_ARRAY_DIMENSIONS)$/;

export function isLibraryAttribute(name: string): boolean {
  return LIBRARY_ATTRIBUTES.test(name);
}

/** Numbers that nothing applies, and labels of sources that differ from those of their virtual dataset. */
function unappliedAt(contents: Contents, path: string, defined: readonly string[]): Unapplied[] {
  const attributes = contents.attributes(path);
  const isKnown = (name: string) => defined.includes(name) || isPackingName(name) || isLibraryAttribute(name);
  const isText = (value: AttributeValue | null) => [value].flat().every((part) => typeof part === "string");
  const ofDataset = [...attributes].flatMap(([name, value]) =>
    isKnown(name) || isText(value) || contents.isValueUsed(path, name) ? [] : [{ path, name, text: valueText(value) }],
  );
  const ofSources = contents.sources(path).flatMap((source) =>
    [...source.attributes].flatMap(([name, value]) => {
      const text = valueText(value);
      const isAlike = normalUnit(text) === normalUnit(valueText(attributes.get(name) ?? null));
      return isKnown(name) || isAlike || (isText(value) && !LABELS.test(name))
        ? []
        : [{ path: source.name, name, text }];
    }),
  );
  return [...ofDataset, ...ofSources];
}

function reportUnapplied(all: readonly Unapplied[], findings: Findings): void {
  if (all.length === 0) return;
  const texts = [...groupBy(all, ({ name, text }) => `${name} = ${text}`)].map(
    ([text, [first, ...others]]) =>
      `${text} of ${first?.path}${others.length === 0 ? "" : ` and ${others.length} more`}`,
  );
  const kind = all.some(({ text }) => text.startsWith('"')) ? "Statements" : "Numbers";
  const claim = `${kind} that nothing applies: ${shortList(texts, MAX_LISTED)}.`;
  const answer = "--despite values if the stored numbers are the values; else scale_factor and add_offset on the field";
  findings.contradict("values", claim, answer);
}

export function hasUnapplied(contents: Contents, path: string, defined: readonly string[]): boolean {
  return unappliedAt(contents, path, defined).length > 0;
}

export function valueText(value: AttributeValue | null): string {
  if (value === null) return "(neither a number nor a text)";
  return typeof value === "string" ? `"${value}"` : typeof value === "number" ? `${value}` : [...value].join(", ");
}

/** Paths of the datasets of each field: of each component, the dataset of each frame. */
function fieldPaths(contents: Contents, { fields, time }: LayoutPlan): Map<string, string[][]> {
  const count = "values" in time ? time.values.length : time.count;
  const framesOf = (field: FieldOfPlan) =>
    partsIn(field).map(({ path }) => {
      const frames = path.includes("{step") ? count : 1;
      const paths = Array.from({ length: frames }, (_, frame) => placeOf(path, field, frame));
      return paths.filter((stored) => contents.dataset(stored) !== null);
    });
  return new Map(Object.entries(fields).map(([name, field]) => [name, framesOf(field as FieldOfPlan)]));
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

/** Contradicts labels that differ from frame to frame. @returns units and labels of all fields as text */
function compareLabels(contents: Contents, fields: ReadonlyMap<string, string[][]>, findings: Findings): string {
  const labels = [...fields].flatMap(([name, components]) =>
    components.map((frames, component) => {
      const texts = frames.map((path) => labelsAt(contents, path));
      const other = texts.findIndex((text) => text !== texts[0]);
      const claim = `${frames[0]} and ${frames[other]} are of the ${name} and say ${texts[0]} and ${texts[other]}`;
      const answer = "the same attributes in all frames, or a descriptor without this question";
      if (other > 0) findings.contradict("order", `${claim}; that both are stored alike is a guess.`, answer);
      return `${name}${components.length > 1 ? component : ""} ${texts[0] ?? ""}`;
    }),
  );
  return labels.join("; ");
}

/** A unit in its normal spelling; any other text as it is. */
const normalUnit = (text: string): string => unitText(text.replaceAll('"', "")) ?? text;

/** The unit, the names of components and the labels of dimensions of a dataset as one text. */
function labelsAt(contents: Contents, path: string): string {
  const labelled = [...contents.attributes(path)].flatMap(([name, value]) => {
    const text = valueText(value);
    return LABELS.test(name) ? [`${name} ${/^units?$/i.test(name) ? normalUnit(text) : text}`] : [];
  });
  const scales = contents.scaleNames(path);
  const dimensions = contents.labels(path).map((label, dimension) => label ?? scales[dimension] ?? null);
  const mayBeComponents = (label: string | null) => label === null || !"txyz".includes(roleNamed(label) ?? "c");
  const components = dimensions.flatMap((label, dimension) =>
    mayBeComponents(label) ? (componentNames(contents, path, dimension)?.names ?? []) : [],
  );
  const named = dimensions.filter((label) => label !== null);
  const all = [...labelled, ...new Set(components), ...(named.length === 0 ? [] : [named.join(" ")])];
  return all.join(", ") || "nothing";
}

/** Tells by which attributes the stored numbers of a dataset become values. */
function addPackingReason(contents: Contents, path: string, findings: Findings): void {
  const packing = [...contents.attributes(path)].filter(([name]) => isPackingName(name) && !/fill|missing/i.test(name));
  const texts = packing.map(([name, value]) => `${name} ${valueText(value)}`);
  if (texts.length > 0) findings.addReason(`${path}: values by ${texts.join(", ")}.`);
}
