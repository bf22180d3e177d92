/** Describes the files of a producer by a row of facts. */
import { DataError } from "../../shared/errors.js";
import { FIELDS, type KnownField } from "../../shared/operations.js";
import { AXIS_NAMES, type AxisName, type FieldName } from "../dataset/dataset.js";
import type { DescriptorInput } from "../dataset/descriptor.js";
import type { Dimension } from "./assign.js";
import { timesOf } from "./frame-times.js";
import { type AxisClues, axisOf, NO_CLUES, type Stated } from "./grid.js";
import {
  type AxisInput,
  askOrderOfComponents,
  type Contents,
  Findings,
  type FrameLabels,
  type Layout,
} from "./layout.js";

/** A field and its paths: one dataset, or three components separated by blanks. */
export type FieldRow = readonly [field: FieldName, paths: string];

export interface ProducerRow {
  readonly producer: string;
  /** Marks by which its files are known: paths of objects, `@name` of root attributes, patterns of root members. */
  readonly marks: readonly (string | RegExp)[] | ((contents: Contents) => boolean);
  /** @throws DataError for files that cannot be served */
  readonly check?: (contents: Contents) => void;
  readonly reasons: (contents: Contents) => readonly string[];
  /** Stored dimensions in order, as in `t z y x c`; components and scalars have no `c`. */
  readonly order: string | ((contents: Contents) => string);
  /** Rows of all fields that files may have; of two rows for one field, the first with stored datasets is taken. */
  readonly fields: readonly FieldRow[] | ((contents: Contents, findings: Findings) => readonly FieldRow[]);
  readonly axis: (
    contents: Contents,
    axis: AxisName,
    lead: { nodes: number; path: string },
    findings: Findings,
  ) => ProducerAxis;
  /** Times of the frames; absent if files state none. */
  readonly times?: (contents: Contents, facts: FrameFacts, findings: Findings) => Stated<readonly number[]> | null;
  /** Frames in datasets of their own, found from the first dataset of a field. */
  readonly series?: (contents: Contents, path: string) => FrameSeries;
  /** Names of one run and of several, for files with several runs along the dimension `n`. */
  readonly runs?: readonly [one: string, several: string];
  /** Lengths of the stored dimensions, if files declare others. */
  readonly shape?: (declared: readonly number[]) => number[];
  readonly descriptorMembers?: (contents: Contents, run: number) => Partial<DescriptorInput>;
  /** Attributes that the format defines for fields, coordinates and times, if a specification lists them. */
  readonly attributes?: readonly string[];
  /** Path of stored coordinates with which an axis that follows from other numbers must agree. */
  readonly coordinates?: (axis: AxisName, path: string) => string;
  /** Offsets of the nodes of a dataset from those of the axes, in spacings, along the axes where they differ. */
  readonly staggering?: (contents: Contents, path: string) => Partial<Record<AxisName, number>>;
  /** The value of a component that is stored as one number; null for other components. */
  readonly constant?: (contents: Contents, path: string) => number | null;
  /** Whether the format defines that components are those along x, y and z, whatever the order of the axes. */
  readonly xyzComponents?: true;
}

/** `ghost`: layers at both ends; `nodes`: coordinates that the format defines for an axis with a table. */
interface Layers {
  readonly ghost?: number;
  readonly nodes?: readonly number[];
}
export type ProducerAxis = (Partial<AxisClues> & Layers) | { readonly axis: AxisInput };
type StatedAxis = { readonly axis: AxisInput } & Layers;

export interface FrameFacts {
  readonly path: string;
  readonly frames: number;
  readonly run: number;
}

export interface FrameSeries {
  readonly frames: number;
  readonly steps: { readonly steps: string[] } | FrameLabels;
  readonly place: (path: string) => string;
}

export function isMarked(contents: Contents, marks: ProducerRow["marks"]): boolean {
  if (typeof marks === "function") return marks(contents);
  return marks.every((mark) => {
    if (typeof mark !== "string") return (contents.group("/") ?? []).some((name) => mark.test(name));
    if (mark.startsWith("@")) return contents.attributes("/").has(mark.slice(1));
    return contents.dataset(mark) !== null || contents.group(mark) !== null;
  });
}

export function layoutOf(row: ProducerRow): Layout {
  const { producer, marks } = row;
  return { producer, recognise: (contents) => (isMarked(contents, marks) ? describe(row, contents) : null) };
}

function describe(row: ProducerRow, contents: Contents) {
  row.check?.(contents);
  const { name, answers } = contents;
  const findings = new Findings();
  for (const reason of row.reasons(contents)) findings.addReason(reason);
  const stored = storedFields(row, contents, findings);
  const [first] = stored;
  if (first === undefined) throw new DataError("the file has none of the fields of this producer");
  const declared = contents.dataset(first.lead)?.shape ?? [];
  const shape = row.shape?.(declared) ?? declared.slice();
  const length = (dimension: Dimension): number => shape[first.dimensions.indexOf(dimension)] ?? 1;
  const run = runOf(row, contents, length("n"), findings);
  const series = row.series?.(contents, first.lead);
  const axes = AXIS_NAMES.map((axis) => {
    const stated = row.axis(contents, axis, { nodes: length(axis), path: first.lead }, findings);
    if ("axis" in stated) return { ghost: 0, ...stated };
    const { ghost = 0, nodes, ...clues } = stated;
    const fileClues = { ...NO_CLUES, ...clues };
    const described = axisOf({ axis, nodes: length(axis) - 2 * ghost, fileClues, contents, findings });
    return { ghost, ...(nodes === undefined ? {} : { nodes }), axis: described };
  });
  const isUnanswered = [answers.spacing, answers.length, answers.origin].every((answer) => answer === undefined);
  const problems = AXIS_NAMES.map((axis, i) => otherNodesText(contents, row.coordinates?.(axis, first.lead), axes[i]));
  const problem = problems.find((text) => text !== null) ?? null;
  if (isUnanswered && problem !== null) {
    // The generic reader takes the order from scales; without them, only the format states it.
    if (!contents.scaleNames(first.lead).includes(null)) return null;
    throw new DataError(problem);
  }
  const facts = { frames: series?.frames ?? length("t"), run, path: first.lead };
  const ghost = axes.map((axis) => axis.ghost).reverse();
  const storage = {
    ...series?.steps,
    ...(row.runs === undefined ? {} : { index: run }),
    ...(ghost.some((layers) => layers > 0) ? { ghost } : {}),
    ...(row.shape === undefined ? {} : { shape }),
  };
  const fields = stored.map(({ field, paths, lead, dimensions }) => {
    const places = paths.map((path) => {
      const at = row.staggering?.(contents, path) ?? {};
      const constant = row.constant?.(contents, path) ?? null;
      // The descriptor of a constant component has the place of a stored one.
      const storedPath = constant === null ? path : lead;
      if (constant !== null) findings.addReason(`${path}: ${constant} everywhere.`);
      return {
        file: name,
        path: series?.place(storedPath) ?? storedPath,
        ...(constant === null ? {} : { constant }),
        ...(Object.keys(at).length === 0 ? {} : { at }),
      };
    });
    return [field, { ...(places.length === 1 ? places[0] : { components: places }), dimensions, ...storage }];
  });
  return {
    plan: {
      title: row.runs === undefined ? name : `${name}, ${row.runs[0]} ${run}`,
      axes: Object.fromEntries(axes.map(({ axis }, at) => [AXIS_NAMES[at], axis])) as DescriptorInput["axes"],
      time: timesOf(facts.frames, row.times?.(contents, facts, findings) ?? null, answers, findings),
      fields: Object.fromEntries(fields) as DescriptorInput["fields"],
      ...row.descriptorMembers?.(contents, run),
    },
    findings,
    ...(row.attributes === undefined ? {} : { defined: row.attributes }),
  };
}

/** Largest difference of a coordinate from its place, relative to the largest coordinate: a few roundings of float32. */
const ROUNDING = 1e-6;

/** Where stored coordinates differ from the nodes that the format states, as a message; null if they agree. */
function otherNodesText(contents: Contents, path: string | undefined, stated: StatedAxis): string | null {
  if (path === undefined || contents.dataset(path) === null) return null;
  const { axis, ghost = 0 } = stated;
  const table = contents.numbers(path);
  const stored = table.subarray(ghost, table.length - ghost);
  const at = (k: number) => ("coordinates" in axis ? stored[k] : (axis.origin ?? 0) + k * axis.spacing);
  const nodes = stated.nodes ?? Array.from({ length: "nodes" in axis ? axis.nodes : stored.length }, (_, k) => at(k));
  const most = nodes.reduce((largest, node) => Math.max(largest, Math.abs(node)), 0);
  if (stored.length !== nodes.length) return `${path} has ${stored.length} coordinates for ${nodes.length} nodes`;
  const k = nodes.findIndex((node, k) => !(Math.abs(node - stored[k]) <= ROUNDING * most));
  return k < 0 ? null : `${path} has ${stored[k]} at node ${k}, where the other numbers of the file mean ${nodes[k]}`;
}

/** A field that the file has: paths of its dataset or its components, and the first of them that is stored. */
interface FoundField {
  readonly field: FieldName;
  readonly paths: readonly string[];
  readonly lead: string;
  readonly dimensions: readonly Dimension[];
}

function storedFields(row: ProducerRow, contents: Contents, findings: Findings): FoundField[] {
  const order = (typeof row.order === "string" ? row.order : row.order(contents)).split(" ") as Dimension[];
  const stored = new Map<FieldName, FoundField>();
  for (const [field, text] of typeof row.fields === "function" ? row.fields(contents, findings) : row.fields) {
    const paths = text.split(" ");
    const isWhole = paths.length === 1 && FIELDS[field as KnownField] === 3;
    const dimensions = order.filter((dimension) => dimension !== "c" || isWhole);
    const lead = paths.find((path) => contents.dataset(path) !== null);
    const isThere = (path: string) =>
      contents.dataset(path) !== null || (row.constant?.(contents, path) ?? null) !== null;
    if (stored.has(field) || lead === undefined || !paths.every(isThere)) continue;
    if (row.runs !== undefined && contents.dataset(lead)?.shape.length !== dimensions.length) continue;
    const storedAxes = order.filter((role) => AXIS_NAMES.includes(role as AxisName));
    const axes = row.xyzComponents === true ? AXIS_NAMES : storedAxes;
    if (isWhole) askOrderOfComponents(contents, text, axes, findings);
    stored.set(field, { field, paths, lead, dimensions });
  }
  return [...stored.values()];
}

function runOf({ runs }: ProducerRow, { answers }: Contents, count: number, findings: Findings): number {
  if (runs === undefined) return 0;
  const { trajectory = 0 } = answers;
  const [oneRun, severalRuns] = runs;
  if (trajectory >= count) throw new DataError(`the file has ${severalRuns} 0 to ${count - 1}, not ${trajectory}`);
  const named = oneRun === "trajectory" ? trajectory : `${oneRun} ${trajectory}`;
  const from = answers.trajectory === undefined ? " (--trajectory takes another)" : ", from your answer";
  findings.addReason(`trajectory: ${named} of ${count}${from}.`);
  const text = `The file holds ${count} ${severalRuns}; one dataset is one of them.`;
  const isOpen = oneRun === "sample" && answers.trajectory === undefined;
  if (count > 1 && isOpen) findings.ask("fields", text, "--trajectory N");
  else if (count > 1) findings.addWarning(text);
  return trajectory;
}
