/** Describes files whose fields have usual names; what their statements leave open becomes a question. */
import { DataError } from "../../shared/errors.js";
import { FIELDS, type KnownField } from "../../shared/operations.js";
import { AXIS_NAMES, type AxisName, type FieldName } from "../dataset/dataset.js";
import { type DescriptorInput, unitsProblem } from "../dataset/descriptor.js";
import { unitOf } from "../dataset/units.js";
import type { Dimension } from "./assign.js";
import { areEqual, axesOf, candidateTables, checkSteps, chooseTables, isSameGrid, requireSameTables } from "./axes.js";
import { groupsAbove, groupsAround, labelsOf, parentOf, tableNodes, tablesIn } from "./evidence.js";
import { type FoundFields, findFields } from "./fields.js";
import { type Contents, Findings, type Layout, type Recognition } from "./layout.js";
import type { Format, OrientedDataset, SharedEvidence } from "./order.js";
import { framesIn, nodesAlong, orderOf, orientLike } from "./order.js";
import { StatedNumbers } from "./stated-numbers.js";
import { hasUnapplied } from "./statements.js";
import { framesOf, sortStepsByTime, timeOf, unitsOfTime } from "./times.js";
import { type OtherField, placeIn } from "./usual-names.js";

interface OrientedField {
  readonly field: FieldName;
  readonly datasets: readonly OrientedDataset[];
}

interface OrientedFields {
  readonly velocity: readonly OrientedDataset[];
  readonly pressure: OrientedDataset | null;
  /** Other fields; the datasets of one that is left out are null. */
  readonly others: readonly { readonly field: FieldName; readonly datasets: readonly OrientedDataset[] | null }[];
  /** Scalars, and a component of the velocity, which further scalars may be like. */
  readonly singles: readonly OrientedDataset[];
  readonly isStaggered: boolean;
  /** The dataset whose nodes are those of the axes. */
  readonly first: OrientedDataset;
}

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
  const fields = sortStepsByTime(contents, all);
  const lead = fields.velocity[0] ?? fields.pressure ?? fields.others[0]?.paths[0];
  const groups = groupsAround(contents, parentOf(lead));
  const { shape } = contents.dataset(lead) as { shape: readonly number[] };
  const tables = tablesIn(contents, [lead, ...groups], shape);
  const facts = new StatedNumbers(contents, [lead, ...groups]);
  const shared = { contents, tables, facts, findings, format, second: null, isInUnits: false };
  const oriented = orient(shared, fields, lead);
  const { first } = oriented;
  if (fields.steps !== null) requireSameTables(contents, fields, first.path, tables);
  const tablesOf = chooseTables(shared, first, findings);
  const { located, nodesAt } = locateFields(shared, fields, oriented);
  const fieldOf = ({ field, datasets }: OrientedField) => ({
    ...storageOf(contents, fields, datasets, nodesAt),
    ...unitAndTitleOf(contents, field, datasets[0]?.path as string),
  });
  const axes = axesOf(shared, first, tablesOf);
  checkSteps(shared, fields, lead, first);
  const { length, ...scales } = unitsOfTime(shared, first, tablesOf);
  const time = timeOf({ ...shared, ...scales }, first, fields, framesOf(first, fields));
  const units = Object.fromEntries(
    Object.entries({ length, time: findings.timeUnit }).filter(([, unit]) => unit && unitOf(unit)),
  );
  const plan = {
    ...{ title: contents.name, axes, time },
    fields: Object.fromEntries(located.map((entry) => [entry.field, fieldOf(entry)])) as DescriptorInput["fields"],
  };
  // Units that do not fit are a red line, or an answer holds against them.
  const isFitting = unitsProblem({ velocity: plan.fields.velocity?.unit, ...units }) === null;
  return {
    plan: isFitting && Object.keys(units).length > 0 ? { ...plan, units } : plan,
    findings,
    defined: format.attributes,
  };
}

function orient(shared: SharedEvidence, fields: FoundFields, lead: string): OrientedFields {
  const isWhole = fields.velocity.length === 1;
  const velocity: OrientedDataset[] = [];
  for (const path of fields.velocity)
    velocity.push(orientLike(shared, velocity[0], path) ?? orderOf(shared, "velocity", path, isWhole));
  const like = isWhole ? undefined : velocity[0];
  const pressures = { field: "pressure", paths: [fields.pressure ?? []].flat() };
  const [pressure = null] = orientField(shared, pressures, [like ?? []].flat(), fields.pressure === lead, false) ?? [];
  const wholes = isWhole ? velocity : [];
  const singles = [...(isWhole ? [] : velocity.slice(0, 1)), ...(pressure === null ? [] : [pressure])];
  const others = fields.others.map((other) => ({
    field: other.field,
    datasets: orientField(shared, other, isVector(other) ? wholes : singles, other.paths[0] === lead, isVector(other)),
  }));
  const isStaggered = velocity.slice(1).some((other) => !isSameGrid(shared, velocity[0] as OrientedDataset, other));
  const scalars = [...(pressure === null ? [] : [pressure]), ...others.flatMap(({ datasets }) => datasets ?? [])];
  const first = isStaggered ? commonGrid([...velocity, ...scalars]) : (velocity[0] ?? (scalars[0] as OrientedDataset));
  return { velocity, pressure, others, singles, isStaggered, first };
}

/** The fields with the nodes of their datasets; fields whose nodes are not known are left out. */
function locateFields(
  shared: SharedEvidence,
  fields: FoundFields,
  { velocity, pressure, others, singles, isStaggered, first }: OrientedFields,
): { readonly located: readonly OrientedField[]; readonly nodesAt: ReadonlyMap<string, NodesOfField> } {
  const { contents, findings } = shared;
  const nodesAt = new Map<string, NodesOfField>();
  for (const other of isStaggered ? velocity : [])
    nodesAt.set(other.path, requireOwnNodes(shared, first, other, velocity));
  const grid = first.dimensions.flatMap((role, at) => (role === "c" ? [] : [first.shape[at] as number]));
  const candidates = [
    { field: "velocity", datasets: velocity },
    { field: "pressure", datasets: pressure === null ? null : [pressure] },
    ...others,
    ...orientNamed(shared, fields.named, singles, grid),
  ];
  const located = candidates.flatMap(({ field, datasets }): OrientedField[] => {
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
    for (const [axis, nodes] of Object.entries(at))
      findings.addReason(`${path}: its own nodes along ${axis}, ${"path" in nodes ? nodes.path : "by a mesh"}.`);
  const places = located
    .flatMap(({ datasets }) => datasets ?? [])
    .flatMap(({ path }) => {
      const hasOwnNodes = Object.keys(nodesAt.get(path) ?? {}).length > 0;
      return hasOwnNodes ? [] : placesOf(contents, path).slice(0, 1);
    });
  for (const { path, holder, name, place } of places) {
    if (place !== "elsewhere" && place === places[0]?.place) continue;
    const statement = `${holder === "/" ? "" : holder}@${name} is ${contents.words(holder, name)}`;
    const claim = `${statement}; that the values of ${path} are at the nodes is a guess.`;
    findings.contradict("spacing", claim, "components with `at` in a descriptor");
  }
  return { located, nodesAt };
}

/** Where in a cell the values of a dataset are, by its attributes and those of the groups above it, nearest first. */
function placesOf(contents: Contents, path: string) {
  return [path, ...groupsAbove(parentOf(path))].flatMap((holder) =>
    [...contents.attributes(holder)].flatMap(([name, value]) => {
      const place = placeIn(name, value);
      return place === null ? [] : [{ path, holder, name, place }];
    }),
  );
}

/** A reference dataset for staggered components: along each dimension, the nodes that most datasets share. */
function commonGrid(datasets: readonly OrientedDataset[]): OrientedDataset {
  const [first] = datasets as readonly [OrientedDataset];
  const nodesOf = ({ dimensions, labels, shape }: OrientedDataset, role: Dimension) => {
    const at = dimensions.indexOf(role);
    const table = labels.tables[at] ?? null;
    return { length: shape[at] as number, table, name: labels.names[at] ?? null, key: `${table?.path} ${shape[at]}` };
  };
  const chosen = first.dimensions.map((role) => {
    const all = datasets.map((dataset) => nodesOf(dataset, role));
    const occurrences = (key: string) => all.filter((nodes) => nodes.key === key).length;
    return all.reduce((best, nodes) => (occurrences(nodes.key) > occurrences(best.key) ? nodes : best));
  });
  const labels = { ...first.labels, tables: chosen.map(({ table }) => table), names: chosen.map(({ name }) => name) };
  return { ...first, shape: chosen.map(({ length }) => length), labels };
}

function isVector({ field, paths }: OtherField): boolean {
  return paths.length === 1 && FIELDS[field as KnownField] === 3;
}

/** Fields with other names, if they are on the nodes of the fields with usual names and their order is known. */
function orientNamed(
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
    const doubtful = paths.find((path) => hasUnapplied(contents, path, format.attributes));
    if (doubtful !== undefined) {
      const reason = `${doubtful} has numbers in attributes that nothing applies`;
      findings.addWarning(`The ${field} is left out: ${reason}; --named ${field}=PATH takes it.`);
      return [];
    }
    return [{ field, datasets: orientField(shared, { field, paths }, isWhole ? [] : like, false, isWhole) }];
  });
}

/** The unit and the title of a field; of a dedicated one only the unit, if it is a known unit. */
function unitAndTitleOf(contents: Contents, field: string, path: string): { unit?: string; long_name?: string } {
  const [unit, title] = [contents.units(path), contents.words(path, "long_name")];
  if (Object.hasOwn(FIELDS, field)) return unit && unitOf(unit) ? { unit } : {};
  return { ...(unit ? { unit } : {}), ...(title ? { long_name: title } : {}) };
}

/**
 * Orders the datasets of a field, like a similar dataset or by their own evidence. A field without a known order is left
 * out, unless it is the pressure or the first of all fields.
 */
function orientField(
  shared: SharedEvidence,
  { field, paths }: OtherField,
  like: readonly OrientedDataset[],
  isFirst: boolean,
  isWhole: boolean,
): readonly OrientedDataset[] | null {
  const { contents, findings } = shared;
  const fieldFindings = isFirst || field === "pressure" ? findings : new Findings();
  const ofField = { ...shared, findings: fieldFindings };
  const datasets: OrientedDataset[] = [];
  try {
    for (const path of paths) {
      const similar = contents.answers.fieldDims?.has(field) === true ? [] : like;
      const candidates = [...similar, ...datasets.slice(0, 1)].map((dataset) => orientLike(shared, dataset, path));
      datasets.push(candidates.find((candidate) => candidate !== null) ?? orderOf(ofField, field, path, isWhole));
    }
  } catch (error) {
    if (isFirst || !(error instanceof DataError)) throw error;
    findings.addWarning(`The ${field} is left out: ${error.message}.`);
    return null;
  }
  const [question] = fieldFindings.questions;
  if (fieldFindings === findings) return datasets;
  if (question !== undefined) {
    findings.addWarning(`The ${field} is left out: ${question.question} It needs ${question.answer}.`);
    return null;
  }
  findings.reasons.push(...fieldFindings.reasons);
  for (const line of fieldFindings.questions) findings.add(line);
  return datasets;
}

/** Nodes of a field along the axes where they differ from the dataset's, as a descriptor states them. */
type NodesOfField = Readonly<
  Partial<Record<AxisName, readonly number[] | { readonly file: string; readonly path: string }>>
>;

/** Largest distance, in cells, between the ends of a staggered grid and of the reference grid. */
const MAX_CELLS_APART = 1.5;

/**
 * Nodes of a field along the axes where they differ from the reference grid, by the tables of its dimensions; null if it
 * has no tables, or if they end more than `MAX_APART` cells away.
 */
function ownNodes(shared: SharedEvidence, first: OrientedDataset, other: OrientedDataset): NodesOfField | null {
  const { contents } = shared;
  if (isSameGrid(shared, first, other)) return {};
  if (framesIn(first) !== framesIn(other) || contents.answers.spacing !== undefined) return null;
  const nodesByAxis = AXIS_NAMES.map((axis) => {
    const [named, own] = [first, other].map(({ dimensions, labels }) => {
      const table = labels.tables[dimensions.indexOf(axis)];
      return table?.role === axis ? { ...table, isEdges: false } : null;
    });
    const [reference] = named === null ? candidateTables(shared, first, axis) : [named];
    if (own === null || own === undefined || reference === undefined || reference === null)
      return own === reference && nodesAlong(first, axis) === nodesAlong(other, axis) ? [axis, undefined] : null;
    const [referenceNodes, ownNodes] = [tableNodes(contents, reference), tableNodes(contents, own)];
    if (areEqual(referenceNodes, ownNodes)) return [axis, undefined];
    const isNear = [0, -1].every((at) => {
      const [end, next] = [referenceNodes.at(at) ?? 0, referenceNodes.at(at === 0 ? 1 : -2) ?? 0];
      return Math.abs(end - (ownNodes.at(at) ?? Number.NaN)) <= MAX_CELLS_APART * Math.abs(end - next);
    });
    if (!isNear) return null;
    return [axis, own.along === null ? { file: contents.name, path: own.path } : [...ownNodes]];
  });
  if (nodesByAxis.includes(null)) return null;
  const entries = (nodesByAxis as [AxisName, unknown][]).filter(([, nodes]) => nodes !== undefined);
  return Object.fromEntries(entries) as NodesOfField;
}

function requireOwnNodes(
  shared: SharedEvidence,
  first: OrientedDataset,
  other: OrientedDataset,
  all: readonly OrientedDataset[],
): NodesOfField {
  const nodes = ownNodes(shared, first, other);
  if (nodes !== null) return nodes;
  const unlike = all.find((dataset) => dataset.path !== other.path && !isSameGrid(shared, dataset, other)) ?? first;
  throw new DataError(
    `${other.path} (${other.shape.join(" x ")}) is on other nodes than ${unlike.path} (${unlike.shape.join(" x ")}), and no ` +
      "coordinates of its dimensions say where: attach them as dimension scales, or say fields.velocity.components[].at in a descriptor",
  );
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
