/** Positions of a question: parts of axes, by length or by node, as nodes, as a box, or as samples. */
import { AXIS_NAMES, type Axis, type AxisName, type Dataset } from "../../../engine/contract/dataset.js";
import type { RequestError } from "../../../shared/errors.js";
import { spanOf } from "../../http/describe.js";
import { Faults, outOfRange, wrong } from "../faults.js";
import type { MemberValues, RequestedNodes, RequestedSpan } from "./member-values.js";
import type { SampleAxis } from "./sample-grid.js";

const NODE_NAMES = ["i", "j", "k"] as const;
type OfAxes<T> = readonly [T, T, T];

/** A requested part of an axis: the whole axis, in lengths, or by nodes. */
export type Part = "whole" | RequestedSpan | RequestedNodes;

const isByNode = (part: Part): part is RequestedNodes =>
  typeof part === "object" && ("node" in part || "stride" in part);

/** Whether a part is a single position, which is no dimension of an answer. */
export function isPlace(part: Part): boolean {
  return typeof part === "object" && ("at" in part || "node" in part);
}

/** The parts of x, y and z. Throws RequestError for an axis that is stated twice. */
export function partsOf(values: MemberValues): OfAxes<Part> {
  const faults = new Faults();
  const parts = AXIS_NAMES.map((letter, a): Part => {
    const name = NODE_NAMES[a] as "i" | "j" | "k";
    const [length, nodes] = [values[letter], values[name]];
    if (length !== undefined && nodes !== undefined)
      faults.add(wrong(name, `${letter} and ${name} are the same axis; give one of them`));
    return length ?? nodes ?? "whole";
  });
  faults.raise();
  return parts as unknown as OfAxes<Part>;
}

/** What a function makes of the part of each axis. Throws RequestError with the faults of all. */
function ofEach<T>(
  values: MemberValues,
  axes: readonly Axis[],
  make: (part: Part, a: number, axis: Axis) => T,
): OfAxes<T> {
  const faults = new Faults();
  const made = partsOf(values).map((part, a) =>
    faults.try(AXIS_NAMES[a] as AxisName, () => make(part, a, axes[a] as Axis)),
  );
  faults.raise();
  return made as unknown as OfAxes<T>;
}

/** Nodes `first`, `first + step`, ... of an axis; beyond a seam the numbers continue. */
export interface NodeRun {
  readonly first: number;
  /** The requested number of the first node: whole periods before or after `first`. Coordinates follow it. */
  readonly from: number;
  readonly count: number;
  readonly step: number;
}

/** The coordinate of a node; beyond the seam of a periodic axis it continues to grow. */
export function coordinateOf({ coordinates, origin, spacing }: Axis, node: number): number {
  return coordinates?.[node] ?? origin + node * spacing;
}

/** The number of a node within its axis. */
export function firstNode({ periodic, nodes }: Axis, node: number): number {
  return periodic ? ((node % nodes) + nodes) % nodes : node;
}

/** The name of the member that states a part of axis `a`. */
function memberFor(part: Part, a: number): string {
  return isByNode(part) ? NODE_NAMES[a] : AXIS_NAMES[a];
}

function outside(part: Part, a: number, axis: Axis, name: string): RequestError {
  const member = memberFor(part, a);
  const { first, last } = spanOf(axis);
  const [from, to] = [first, last].map((at) => Number(at.toPrecision(6)));
  const over = axis.periodic ? "; over the seam, a part goes on for a period at most" : "";
  const text = `it is not in "${name}", whose nodes 0 to ${axis.nodes - 1} along ${AXIS_NAMES[a]} are at ${from} to ${to}${over}`;
  return outOfRange(member, text);
}

/** Distance below which coordinates count as equal, by float32 rounding or relative to a node; two nodes never do. */
export function nearness({ spacing }: Axis, ...places: readonly number[]): number {
  return 1e-6 * spacing + Math.min(2 ** -22 * Math.max(...places.map(Math.abs)), spacing / 4);
}

/** The largest coordinate at which float32 still tells nodes of a periodic axis apart; points of others lie in their domain. */
export function farthestOf({ periodic, nodes, origin, spacing }: Axis): number {
  return periodic ? Math.max(2 ** 23 * spacing, Math.abs(origin) + nodes * spacing) : Number.MAX_VALUE;
}

/** The nodes of a part of an axis. Throws RequestError (OutOfRange) for a part without nodes. */
function runOf(part: Part, a: number, axis: Axis, name: string): NodeRun {
  const { nodes, periodic } = axis;
  const made = (from: number, to: number, step: number): NodeRun => {
    const fits =
      from < to && (periodic ? to - from <= nodes && from >= -nodes && to <= 2 * nodes : from >= 0 && to <= nodes);
    if (!fits) throw outside(part, a, axis, name);
    return { ...{ first: firstNode(axis, from), from, step }, count: Math.ceil((to - from) / step) };
  };
  if (part === "whole") return made(0, nodes, 1);
  if ("node" in part) return made(part.node, part.node + 1, 1);
  if ("stride" in part) return made(part.first ?? 0, part.end ?? nodes, part.stride);
  if ("at" in part) {
    const node = nearestNode(axis, part.at);
    const place = coordinateOf(axis, node);
    const near = String(Number(place.toPrecision(9)));
    if (Math.abs(place - part.at) > nearness(axis, part.at))
      throw outOfRange(AXIS_NAMES[a], `no node is at ${part.at}; node ${node} is at ${near}`, near);
    return made(node, node + 1, 1);
  }
  const near = nearness(axis, part.first, part.last);
  const { length } = spanOf(axis);
  if (periodic && part.last - part.first > length + near) throw outside(part, a, axis, name);
  let [from, to] = [0, nodes];
  if (periodic) {
    from = Math.ceil((part.first - axis.origin - near) / axis.spacing);
    to = Math.min(from + nodes, Math.floor((part.last - axis.origin + near) / axis.spacing) + 1);
  } else {
    while (from < to && coordinateOf(axis, from) < part.first - near) from++;
    while (to > from && coordinateOf(axis, to - 1) > part.last + near) to--;
  }
  return made(from, to, 1);
}

function nearestNode(axis: Axis, at: number): number {
  const { nodes, periodic, coordinates, origin, spacing } = axis;
  if (periodic || coordinates === null) {
    const node = Math.round((at - origin) / spacing);
    return periodic ? node : Math.min(nodes - 1, Math.max(0, node));
  }
  let best = 0;
  for (let i = 1; i < nodes; i++) if (Math.abs(coordinates[i] - at) < Math.abs(coordinates[best] - at)) best = i;
  return best;
}

/** The nodes of a question. `axes`: of the dataset, or of a staggered field. */
export function runsIn(values: MemberValues, { name }: Pick<Dataset, "name">, axes: readonly Axis[]): OfAxes<NodeRun> {
  return ofEach(values, axes, (part, a, axis) => runOf(part, a, axis, name));
}

export interface Box {
  readonly origin: readonly number[];
  readonly extent: readonly number[];
}

/** The box of all nodes: a period without its end, or up to the last node. */
export function boxOfAll({ axes }: Pick<Dataset, "axes">): Box {
  const spans = axes.map(spanOf);
  return { origin: spans.map(({ first }) => first), extent: spans.map(({ length }) => length) };
}

function endsOf(part: Part, a: number, axis: Axis, name: string): readonly [number, number] {
  const { first, length } = spanOf(axis);
  if (part === "whole") return [first, first + length];
  if (!isByNode(part) && Object.values(part).some((at) => Math.abs(at) > farthestOf(axis)))
    throw outside(part, a, axis, name);
  if ("at" in part) return [part.at, part.at];
  if (!isByNode(part)) {
    const near = nearness(axis, part.first, part.last);
    if (axis.periodic && part.last - part.first > length + near) throw outside(part, a, axis, name);
    return [part.first, part.last];
  }
  if ("stride" in part && part.stride !== 1)
    throw wrong(
      memberFor(part, a),
      "points lie between nodes, so the stride is 1; samples says how many along an axis",
    );
  const { from, count, step } = runOf(part, a, axis, name);
  if ("node" in part) return [coordinateOf(axis, from), coordinateOf(axis, from)];
  const end = from + count * step;
  return [coordinateOf(axis, from), coordinateOf(axis, axis.periodic ? end : Math.min(end, axis.nodes - 1))];
}

/** The box of a question. Throws RequestError for a part beyond an open axis. */
export function boxIn(values: MemberValues, dataset: Pick<Dataset, "name" | "axes">): Box {
  const ends = ofEach(values, dataset.axes, (part, a, axis) => {
    const [from, to] = endsOf(part, a, axis, dataset.name);
    const { first, last } = spanOf(axis);
    const [before, behind] = axis.beyond ?? [0, 0];
    const near = nearness(axis, from, to);
    if (!axis.periodic && (from < first - before - near || to > last + behind + near))
      throw outside(part, a, axis, dataset.name);
    return [from, to] as const;
  });
  return { origin: ends.map(([from]) => from), extent: ends.map(([from, to]) => to - from) };
}

/** A question's samples: three axes, z first, and which axes are dimensions. */
export interface Samples {
  readonly grid: readonly [SampleAxis, SampleAxis, SampleAxis];
  /** The axes that are dimensions of the answer, the slowest first. */
  readonly axes: readonly SampleAxis[];
  /** Number of samples along each axis that is a range, x first. */
  readonly counts: readonly number[];
}

const USUAL_SAMPLES = 64;

/** The samples of a question. Throws RequestError. */
export function samplesIn(values: MemberValues, dataset: Pick<Dataset, "name" | "axes">): Samples {
  const parts = partsOf(values);
  const ranges = parts.filter((part) => !isPlace(part)).length;
  const wanted = values.samples ?? [];
  if (wanted.length > 1 && wanted.length !== ranges)
    throw wrong("samples", `expected one number, or one for each of the ${ranges} axes that are ranges`);
  const counts: number[] = [];
  const made = ofEach(values, dataset.axes, (part, a, axis): SampleAxis => {
    const [from, to] = endsOf(part, a, axis, dataset.name);
    const name = AXIS_NAMES[a] as AxisName;
    if (isPlace(part)) return { axis: name, count: 1, origin: from, spacing: 0 };
    const count = wanted[counts.length] ?? wanted[0] ?? Math.min(USUAL_SAMPLES, axis.nodes);
    counts.push(count);
    if (part !== "whole") {
      if (!(to > from)) throw outside(part, a, axis, dataset.name);
      const spacing = (to - from) / count;
      return { axis: name, count, origin: from + spacing / 2, spacing };
    }
    const intervals = axis.periodic ? count : Math.max(1, count - 1);
    return { axis: name, count, origin: from, spacing: (to - from) / intervals };
  });
  const grid = made.toReversed() as unknown as Samples["grid"];
  const axes = grid.filter(({ axis }) => !isPlace(parts[AXIS_NAMES.indexOf(axis)] as Part));
  return { grid, axes, counts };
}
