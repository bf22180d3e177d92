/** The region of nodes of a search or a cutout, checked with the messages and in the order of the public service. */
import { compileScalar } from "../../analysis/expression.js";
import { formulaOf, namesFor, REPLACED } from "../../analysis/names.js";
import { frameWeights } from "../../kernels/time.js";
import type { Axes, Triple } from "../../kernels/types.js";
import { excerpt, RequestError } from "../../shared/errors.js";
import type { FieldName, Operation } from "../../shared/operations.js";
import { axesOfField, componentsOf, type Dataset, fieldNames, fieldOf } from "../../storage/dataset/dataset.js";
import type { FrameBox, Query, RegionBox } from "./query.js";
import { fieldNamed, isFieldName } from "./requested-fields.js";
import { requireNodes, requireNodesOf } from "./require-nodes.js";

/** The quantity that a search compares with its threshold at each node: a built-in one, or an expression. */
export type Criterion = "vorticity" | "q" | "norm" | { readonly expression: string };

/** The nodes of a search or a cutout, and what is computed at them. */
export interface NodeRegion extends FrameBox {
  /** Nodes along each axis that a value is the mean of; odd. */
  readonly width: number;
  /** Searches: what is compared, and the option by which it is computed. */
  readonly criterion: Criterion;
}

/** A box of a region as a region. Throws RequestError for a box that leaves the region. */
export function partOf(region: NodeRegion, { from, count }: RegionBox): NodeRegion {
  const isInside = region.count.every((nodes, a) => from[a] >= 0 && count[a] >= 1 && from[a] + count[a] <= nodes);
  if (!isInside) throw invalid("box", "The box leaves the region.");
  const first = region.first.map((node, a) => node + from[a] * region.stride[a]) as [number, number, number];
  return { ...region, first, count };
}

/** Copies the nodes of a box into the box around it, in rows along x. `parts`: values, each of whole rows. */
export function placeBox(
  parts: readonly Float32Array[],
  { from, count }: RegionBox,
  around: RegionBox,
  components: number,
  out: Float32Array,
): void {
  const run = components * count[0];
  let row = 0;
  for (const values of parts) {
    for (let at = 0; at < values.length; at += run, row++) {
      const x = from[0] - around.from[0];
      const y = from[1] - around.from[1] + (row % count[1]);
      const z = from[2] - around.from[2] + Math.floor(row / count[1]);
      out.set(values.subarray(at, at + run), components * ((z * around.count[1] + y) * around.count[0] + x));
    }
  }
}

/** Numbers that a cutout of the SOAP interface may hold; its message names them. */
const MAX_VALUES = 192_000_000;

const INDEXING =
  "JHTDB started using 1-based indexing from Sept 16. Please update your JHTDB library if you have not done so.";
const AXES = ["x", "y", "z"] as const;

function invalid(member: string, text: string): RequestError {
  return new RequestError("InvalidRequest", text, { member });
}

function along(query: Query, name: (axis: "x" | "y" | "z") => keyof Query): Triple {
  const [x, y, z] = AXES.map((axis) => query[name(axis)] as number) as [number, number, number];
  return [x, y, z];
}

/** Refuses a box outside the grid. On a periodic axis it may continue over the seam, with at most all nodes. */
function checkInside(dataset: Dataset, first: Triple, last: Triple, axes: Axes): void {
  for (let a = 0; a < 3; a++) {
    const { nodes, periodic } = axes[a as 0 | 1 | 2];
    if (first[a] >= 0 && (periodic ? first[a] < nodes && last[a] - first[a] < nodes : last[a] < nodes)) continue;
    const name = AXES[a];
    const text = `The nodes ${first[a] + 1} to ${last[a] + 1} along ${name} are not all among the ${nodes} of "${dataset.name}".`;
    throw new RequestError("OutOfRange", text, { member: `${name}_end` });
  }
}

/** The number of the first node in requests and answers: libraries of before 2019, which give widths, count from 0. */
export function firstNumber({ X }: Query): 0 | 1 {
  return X === undefined ? 1 : 0;
}

/** A box from its corner, counted from 0, and its widths. */
function widths(query: Query, dataset: Dataset, axes: Axes): { readonly first: Triple; readonly last: Triple } {
  const { X = 0, Y = 0, Z = 0, Xwidth = 0, Ywidth = 0, Zwidth = 0 } = query;
  const wrong = AXES.find((_, a) => ([Xwidth, Ywidth, Zwidth][a] as number) < 1);
  if (wrong) throw invalid(`${wrong.toUpperCase()}width`, "The widths of a box must be at least 1.");
  const first = [X, Y, Z] as const;
  const last = [X + Xwidth - 1, Y + Ywidth - 1, Z + Zwidth - 1] as const;
  checkInside(dataset, first, last, axes);
  return { first, last };
}

/** A box from its corners, counted from 1 and inclusive, or from its corner and widths. */
function corners(query: Query, dataset: Dataset, axes: Axes): { readonly first: Triple; readonly last: Triple } {
  if (firstNumber(query) === 0) return widths(query, dataset, axes);
  const from = along(query, (axis) => `${axis}_start`);
  const to = along(query, (axis) => `${axis}_end`);
  const wrong = AXES.find((_, a) => from[a] > to[a]);
  if (wrong) throw invalid(`${wrong}_end`, "Ending index must be larger or equal to the starting index!");
  const low = AXES.find((_, a) => from[a] <= 0);
  if (low)
    throw invalid(`${low}_start`, `${INDEXING} Nodes are counted from 1: ${low}_start is ${query[`${low}_start`]}.`);
  const first = [from[0] - 1, from[1] - 1, from[2] - 1] as const;
  const last = [to[0] - 1, to[1] - 1, to[2] - 1] as const;
  checkInside(dataset, first, last, axes);
  return { first, last };
}

function frameAt(query: Query, dataset: Dataset): number {
  const [frame = 0] = frameWeights(dataset.time, query.time as number, "None").frames;
  return frame;
}

/** The frame of a stored step, or of a time. The first queryable frame has the number of the first node. */
function frameOf(query: Query, dataset: Dataset): number {
  if (query.T === undefined) return frameAt(query, dataset);
  const base = firstNumber(query);
  const step = query.T - base;
  const { guardBefore, guardAfter, count } = dataset.time;
  if (step < 0)
    throw invalid(
      "T",
      base === 1 ? `${INDEXING} Steps are counted from 1: T is ${query.T}.` : `T must not be negative: ${query.T}`,
    );
  if (guardBefore + step < count - guardAfter) return guardBefore + step;
  const most = count - guardAfter - guardBefore - 1 + base;
  throw new RequestError(
    "OutOfRange",
    `Time ${query.T} out of range for "${dataset.name}". Steps are ${base} to ${most}.`,
    {
      member: "T",
    },
  );
}

function countOf(first: Triple, last: Triple): Triple {
  return [last[0] - first[0] + 1, last[1] - first[1] + 1, last[2] - first[2] + 1];
}

/** Whether a text is an expression or the name of one, rather than a name of the public service. */
function isExpression(text: string, dataset: Dataset): boolean {
  if (/[^\w\s,]/.test(text) || (text !== "q" && REPLACED.has(text))) return true;
  return formulaOf(text) !== undefined && !isFieldName(text, dataset) && !/vorticity|q|^Q$/.test(text);
}

/** Checks an expression at nodes; its derivatives are differences. Throws RequestError. */
function expressionRegion(
  text: string,
  method: string,
  { spatial }: Operation,
  dataset: Dataset,
): Pick<NodeRegion, "field" | "criterion"> {
  const { inputs } = compileScalar(text, namesFor(dataset), "field");
  requireNodesOf(dataset, [text], namesFor(dataset), "A search by an expression");
  const differs = inputs.some((key) => key.includes(":") && !key.startsWith("value:"));
  if (differs === (method === "None")) {
    const takes = differs ? spatial.slice(1).join(", ") : "None";
    throw invalid(
      "spatialInterpolation",
      `Invalid interpolation option specified! For ${excerpt(text)} it is ${takes}.`,
    );
  }
  return { field: fieldNames(dataset)[0], criterion: { expression: text } };
}

/** The axes whose nodes a query refers to: the axes of its field. */
export function requestedAxes({ field }: Pick<Query, "field">, dataset: Dataset): Axes {
  return field !== undefined && isFieldName(field, dataset)
    ? axesOfField(dataset, fieldNamed(field, dataset))
    : dataset.axes;
}

export function searchRegion(query: Query, operation: Operation, dataset: Dataset): NodeRegion {
  const { first, last } = corners(query, dataset, requestedAxes(query, dataset));
  const { field: text = "", spatialInterpolation: method = "None" } = query;
  const box = {
    frame: frameAt(query, dataset),
    first,
    count: countOf(first, last),
    stride: [1, 1, 1],
    width: 1,
  } as const;
  if (isExpression(text, dataset)) return { ...box, ...expressionRegion(text, method, operation, dataset) };
  const isOwn = fieldOf(dataset, text.toLowerCase()) !== undefined;
  const criterion = isOwn
    ? "norm"
    : text.includes("vorticity")
      ? "vorticity"
      : text.includes("q") || text === "Q"
        ? "q"
        : "norm";
  const field = criterion === "norm" ? fieldNamed(query.field, dataset) : fieldNamed("velocity", dataset);
  if ((criterion === "norm") !== (method === "None")) {
    const takes = criterion === "norm" ? "None" : operation.spatial.slice(1).join(", ");
    throw invalid("spatialInterpolation", `Invalid interpolation option specified! For ${text} it is ${takes}.`);
  }
  if (fieldOf(dataset, field)?.own !== undefined) requireNodes(dataset, [field], "A search");
  return { ...box, field, criterion };
}

/** Reads a cutout by its nodes, by its corners, or by corner and widths. */
export function cutoutRegion(query: Query, operation: Operation, dataset: Dataset): NodeRegion {
  if (query.nodes !== undefined) return nodesRegion(query.nodes, dataset);
  const raw = operation.fields.length > 0;
  const region = raw ? rawRegion(query, operation, dataset) : strided(query, dataset);
  const values = componentsOf(dataset, region.field) * region.count.reduce((product, count) => product * count, 1);
  if (values > MAX_VALUES) {
    const text =
      "The getCutout query should be less than 64000000 points for vector fields or 192000000 points for scalar fields!";
    throw new RequestError("LimitExceeded", text, { member: "x_end" });
  }
  return region;
}

/** Checks a box of nodes, which may continue for a period over the seam of an axis. */
function nodesRegion(nodes: FrameBox, dataset: Dataset): NodeRegion {
  const { field, frame, first, count, stride } = nodes;
  const axes = axesOfField(dataset, field);
  const closed = field === "force" && dataset.forcing.kind !== "none";
  if (fieldOf(dataset, field) === undefined && !closed) {
    throw new RequestError("Unsupported", `"${dataset.name}" has no ${field}.`, { member: "field" });
  }
  if (!(frame >= 0 && frame < dataset.time.count)) {
    throw new RequestError("OutOfRange", `"${dataset.name}" has no frame ${frame}.`, { member: "T" });
  }
  axes.forEach((axis, a) => {
    const last = first[a] + (count[a] - 1) * stride[a];
    const fits = first[a] >= 0 && count[a] >= 1 && stride[a] >= 1 && last < (axis.periodic ? 2 : 1) * axis.nodes;
    if (fits) return;
    const text = `The nodes ${first[a] + 1} to ${last + 1} along ${AXES[a]} are not all among the ${axis.nodes} of "${dataset.name}".`;
    throw new RequestError("OutOfRange", text, { member: `${AXES[a]}_end` });
  });
  return { ...nodes, width: 1, criterion: "norm" };
}

function rawRegion(query: Query, operation: Operation, dataset: Dataset): NodeRegion {
  const [field] = operation.fields as [FieldName];
  const { first, last } = widths(query, dataset, axesOfField(dataset, field));
  return {
    field,
    frame: frameOf(query, dataset),
    first,
    count: countOf(first, last),
    stride: [1, 1, 1],
    width: 1,
    criterion: "norm",
  };
}

function strided(query: Query, dataset: Dataset): NodeRegion {
  const { first, last } = corners(query, dataset, requestedAxes(query, dataset));
  const frame = frameOf(query, dataset);
  const stride = along(query, (axis) => `${axis}_step`);
  const wrong = AXES.find((_, a) => stride[a] < 1);
  if (wrong) throw invalid(`${wrong}_step`, `${wrong}_step must be at least 1.`);
  const taken = (a: 0 | 1 | 2): number => Math.floor((last[a] - first[a]) / stride[a]) + 1;
  const requested = query.filter_width ?? 1;
  if (requested < 0) throw invalid("filter_width", "filter_width must not be negative.");
  const width = Math.max(1, requested % 2 === 0 ? requested + (requested > 0 ? 1 : 0) : requested);
  checkWidth(dataset.axes, first, last, width);
  const field = fieldNamed(query.field, dataset);
  if (width > 1) requireNodes(dataset, [field], "A filtered cutout");
  return { field, frame, first, count: [taken(0), taken(1), taken(2)], stride, width, criterion: "norm" };
}

/** Checks the width of a mean. It wraps at the seam of a periodic axis; elsewhere its nodes exist, evenly spaced. */
function checkWidth(axes: Axes, first: Triple, last: Triple, width: number): void {
  const half = (width - 1) / 2;
  const fits = axes.every(
    ({ periodic, coordinates, nodes }, a) =>
      width === 1 ||
      (width <= nodes && (periodic || (coordinates === null && first[a] >= half && last[a] + half < nodes))),
  );
  if (!fits)
    throw new RequestError("OutOfRange", "The box of the filter leaves the domain.", { member: "filter_width" });
}
