/**
 * Cutouts of the Johns Hopkins Turbulence Databases: datasets named by a field and a label, z y x c. Databases are in
 * `data/jhtdb.json`.
 */
import { readFileSync } from "node:fs";
import { DataError } from "../../shared/errors.js";
import { FIELDS, fieldNameProblem } from "../../shared/operations.js";
import { AXIS_NAMES, type AxisName, type FieldName, KNOWN_FIELDS } from "../dataset/dataset.js";
import type { DescriptorInput } from "../dataset/descriptor.js";
import { timesOf } from "./frame-times.js";
import { axisOf, NO_CLUES } from "./grid.js";
import {
  type AxisInput,
  askOrderOfComponents,
  type Contents,
  Findings,
  type Layout,
  requireEvenLabels,
} from "./layout.js";

/** A database: nodes, and periods in units of pi, along x, y, z; null for an axis between walls. */
interface Database {
  readonly name: string;
  /** The numbers by which `_dataset` names it before 2019. */
  readonly numbers: readonly number[];
  readonly nodes: readonly number[];
  readonly periods: readonly (number | null)[];
  /** Time between consecutive indices. */
  readonly step: number;
  readonly dnsStep: number;
  readonly frameVelocity?: [number, number, number];
}

const DATABASES: readonly Database[] = JSON.parse(
  readFileSync(new URL("../../../data/jhtdb.json", import.meta.url), "utf8"),
).databases;

/** The place of a cutout on one axis: its nodes, and its first node (from 0) and stride in the database. */
type CutoutExtent = Readonly<Record<"nodes" | "first" | "stride", number>>;

interface CutoutForm {
  readonly producer: string;
  readonly names: RegExp;
  /** Fields by their names in lower case and without blanks, if these are others. */
  readonly fields: ReadonlyMap<string, FieldName>;
  readonly path: (name: string) => string;
  /** Whether a file has this form; `first`: the path of its first field, null without fields. */
  readonly matches: (contents: Contents, first: string | null) => boolean;
  readonly database: (contents: Contents) => { database: Database | null; title: string; reason: string };
  readonly extent: (contents: Contents, axis: AxisName, nodes: number) => CutoutExtent;
  /** The index of a label in the database, from 0, and what labels are called. */
  readonly index: (label: number) => number;
  readonly labels: string;
  readonly reasons: readonly string[];
}

const SERVICE_ORDER = "dimensions: z y x c, the order of every cutout of this service.";

/** Cutouts from 2019 on, whose indices count from 1; they differ in what names the dimensions. */
const recentForm = (producer: string, scaled: boolean, reason: string): CutoutForm => ({
  producer,
  names: /^([a-z ]+)_(\d{4})$/i,
  fields: new Map([
    ["magneticfield", "magnetic"],
    ["vectorpotential", "potential"],
  ]),
  path: (name) => `/${name}_{step:04d}`,
  matches: (contents, first) =>
    first !== null &&
    (contents.scaleNames(first)[0] === "zcoor") === scaled &&
    contents.dataset(first)?.shape.length === 4,
  database: (contents) => {
    const title = contents.texts("/", "dataset")?.[0] ?? "";
    const name = title.trim().toLowerCase();
    const database = DATABASES.find((row) => row.name === name) ?? null;
    const problem = title === "" ? "is missing" : `is "${title}", which is not a known set`;
    const statement = database === null ? problem : `says ${database.name}`;
    return { database, title, reason: `the attribute dataset ${statement}` };
  },
  extent: (contents, axis, nodes) => ({
    nodes,
    first: (contents.number("/", `${axis}_start`) ?? 1) - 1,
    stride: contents.number("/", `${axis}_step`) ?? 1,
  }),
  index: (label) => label - 1,
  labels: "indices",
  reasons: [reason],
});

/** Cutouts before 2019: `_size` and `_start` hold t x y z, counted from 0. */
const LEGACY: CutoutForm = {
  producer: "JHTDB cutout (before 2019)",
  names: /^([upbad])(\d{5})$/,
  fields: new Map([
    ["u", "velocity"],
    ["p", "pressure"],
    ["b", "magnetic"],
    ["a", "potential"],
    ["d", "density"],
  ]),
  path: (name) => `/${name}{step:05d}`,
  matches: (contents, first) => {
    if (["_contents", "_dataset", "_size", "_start"].some((mark) => contents.dataset(`/${mark}`) === null))
      return false;
    if (first === null)
      throw new DataError("the cutout has neither velocity (u) nor pressure (p) nor another known field");
    return true;
  },
  database: (contents) => {
    const [number] = contents.numbers("/_dataset");
    const database = DATABASES.find(({ numbers }) => numbers.includes(number)) ?? null;
    const title = database?.name ?? "";
    return { database, title, reason: `_dataset is ${number}, ${database?.name ?? "which is not a known set"}` };
  },
  extent: (contents, axis) => {
    const at = 1 + AXIS_NAMES.indexOf(axis);
    return { nodes: contents.numbers("/_size")[at], first: contents.numbers("/_start")[at], stride: 1 };
  },
  index: (label) => label / 10,
  labels: "labels",
  reasons: [SERVICE_ORDER, "labels: the five digits are the stored step times 10."],
};

export const JHTDB: readonly Layout[] = [
  recentForm(
    "JHTDB cutout (written by xarray)",
    true,
    "dimensions: z y x c, named by the dimension scales zcoor, ycoor, xcoor, values.",
  ),
  recentForm("JHTDB cutout (2019 on)", false, SERVICE_ORDER),
  LEGACY,
].map((form) => ({
  producer: form.producer,
  recognise: (contents) => recognise(form, contents),
}));

/** The datasets of a field: their name without the label, their labels in order, and the first of them. */
interface LabelledField {
  readonly name: string;
  readonly labels: number[];
  readonly first: string;
}

function labelledFields({ names, fields }: CutoutForm, contents: Contents): Map<FieldName, LabelledField> {
  const labelled = new Map<FieldName, LabelledField>();
  for (const dataset of contents.datasets("/").sort()) {
    const [, name, label] = names.exec(dataset) ?? [];
    const plainName = (name ?? "").toLowerCase().replaceAll(" ", "");
    const field = fields.get(plainName) ?? plainName;
    if (name === undefined || fieldNameProblem(field) !== null) continue;
    const known = labelled.get(field) ?? { name, labels: [], first: `/${dataset}` };
    known.labels.push(Number(label));
    labelled.set(field, known);
  }
  return labelled;
}

function recognise(form: CutoutForm, contents: Contents) {
  const labelled = labelledFields(form, contents);
  const knownFields = KNOWN_FIELDS.flatMap((field) => labelled.get(field) ?? []);
  const isSaid = contents.attributes("/").has("dataset");
  const [first] = knownFields.length > 0 || !isSaid ? knownFields : [...labelled.values()];
  if (!form.matches(contents, first?.first ?? null) || first === undefined) return null;
  const findings = new Findings();
  const { database, title, reason } = form.database(contents);
  for (const text of [...form.reasons, `database: ${reason}.`]) findings.addReason(text);
  const width = contents.number("/", "filterWidth") ?? 1;
  if (width > 1) findings.addWarning(`The values are box-filtered: filterWidth is ${width}.`);
  const fields = [...labelled].flatMap(([field, { name, labels, first: path }]) => {
    if (labels.join() === first.labels.join()) {
      // The only component of a field under a name of its own is a dimension of length 1.
      const isScalar = !Object.hasOwn(FIELDS, field) && contents.dataset(path)?.shape[3] === 1;
      const storage = { dimensions: ["z", "y", "x", isScalar ? "n" : "c"], ...requireEvenLabels(labels, name) };
      const place = { file: contents.name, path: form.path(name) };
      return [[field, field === "velocity" ? withOwnNodes(contents, place, storage) : { ...place, ...storage }]];
    }
    findings.addWarning(`${field} is left out: it has ${form.labels} ${labels.join(", ")}.`);
    return [];
  });
  const shape = contents.dataset(first.first)?.shape ?? [];
  askOrderOfComponents(contents, first.first, AXIS_NAMES, findings);
  const axes = AXIS_NAMES.map((axis, at) => {
    const extent = form.extent(contents, axis, shape[2 - at]);
    return [axis, axisOfCutout(contents, axis, extent, database, findings)];
  });
  return {
    plan: {
      title: title === "" ? contents.name : `Cutout of ${title}`,
      axes: Object.fromEntries(axes) as DescriptorInput["axes"],
      time: timeOf(first.labels.map(form.index), database, contents, findings),
      fields: Object.fromEntries(fields) as DescriptorInput["fields"],
      ...(database === null ? {} : databaseMembers(database)),
    },
    findings,
  };
}

/** A velocity whose components along some axes have separate tables, such as `zcoor_w` next to `zcoor_uv`. */
function withOwnNodes(contents: Contents, place: { readonly file: string; readonly path: string }, storage: object) {
  const apart = AXIS_NAMES.map((axis) => {
    const isApart = [`/${axis}coor_uv`, `/${axis}coor_w`].every((path) => contents.dataset(path) !== null);
    return isApart ? { at: { [axis]: { file: contents.name, path: `/${axis}coor_w` } } } : {};
  });
  if (apart.every((nodes) => Object.keys(nodes).length === 0)) return { ...place, ...storage };
  return { components: apart.map((nodes, component) => ({ ...place, component, ...nodes })), ...storage };
}

function databaseMembers({ name, dnsStep, frameVelocity }: Database) {
  const source = `Cutout of ${name}, Johns Hopkins Turbulence Databases.`;
  return { dnsStep, source, ...(frameVelocity === undefined ? {} : { frameVelocity }) };
}

/**
 * Origin and spacing are those of the database, compared with the stored coordinates to 1e-3 of a spacing; the axis is
 * periodic only if the cutout covers the period.
 */
function axisOfCutout(
  contents: Contents,
  axis: AxisName,
  { nodes, first, stride }: CutoutExtent,
  database: Database | null,
  findings: Findings,
): AxisInput {
  const at = AXIS_NAMES.indexOf(axis);
  const table = contents.dataset(`/${axis}coor`) === null ? null : `/${axis}coor`;
  if (database === null) return axisOfTable(contents, axis, nodes, table, null, findings);
  const [period, all] = [database.periods[at], database.nodes[at]];
  // A cutout that reaches the first or last node of an axis between walls has the wall there.
  const walls: [boolean, boolean] = [first === 0, first + (nodes - 1) * stride === all - 1];
  if (period === null) return axisOfTable(contents, axis, nodes, table, walls, findings);
  const unit = (period * Math.PI) / all;
  const [origin, spacing] = [first * unit, stride * unit];
  const isNear = (value: number, index: number) => Math.abs(value - origin - index * spacing) <= 1e-3 * spacing;
  if (table !== null && !contents.numbers(table).every(isNear)) {
    findings.addWarning(`${axis}: ${table} disagrees with the node numbers of the cutout and is believed.`);
    return axisOfTable(contents, axis, nodes, table, null, findings);
  }
  const isPeriodic = nodes * stride === all;
  const where = `${database.name} and the first node (${first + 1})`;
  const share = `the cutout, which ${isPeriodic ? "covers the period" : "is smaller than the period"}`;
  const clues = {
    spacing: { value: spacing, where },
    origin: { value: origin, where },
    periodic: { value: isPeriodic, where: share },
    walls: { value: false, where: share },
  };
  return axisOf({ axis, nodes, fileClues: { ...NO_CLUES, ...clues }, contents, findings });
}

function axisOfTable(
  contents: Contents,
  axis: AxisName,
  nodes: number,
  table: string | null,
  walls: [boolean, boolean] | null,
  findings: Findings,
): AxisInput {
  const [sharedTable, ownTable] = [`/${axis}coor_uv`, `/${axis}coor_w`];
  const path = table ?? (contents.dataset(sharedTable) === null ? null : sharedTable);
  if (path === sharedTable && contents.dataset(ownTable) !== null)
    findings.addReason(`${axis}: ${sharedTable}; the component of the velocity along ${axis} is at ${ownTable}.`);
  const clues = {
    ...NO_CLUES,
    coordinates: path === null ? null : { value: { file: contents.name, path }, where: path },
    periodic: walls === null ? null : { value: false, where: "the database" },
    walls:
      walls === null
        ? null
        : { value: walls, where: "the nodes of the database, which has walls at its first and last" },
  };
  return axisOf({ axis, nodes, fileClues: clues, contents, findings });
}

/** Times from the step of the database; else from `/time`, which cutouts of this project have. */
function timeOf(indices: readonly number[], database: Database | null, contents: Contents, findings: Findings) {
  const { step, name } = database ?? { step: 0, name: "" };
  const table = contents.dataset("/time") === null ? null : { value: [...contents.numbers("/time")], where: "/time" };
  const ofDatabase = { value: indices.map((index) => index * step), where: `index times ${step}, the step of ${name}` };
  const times = timesOf(indices.length, database === null ? table : ofDatabase, contents.answers, findings);
  const [first, second] = indices as [number, number | undefined];
  const isExact = database !== null && contents.answers.times === undefined && second !== undefined;
  return isExact ? { origin: first * step, step: (second - first) * step, count: indices.length } : times;
}
