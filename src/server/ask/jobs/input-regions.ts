/** Regions of inputs: nodes of a dataset, by lengths or by numbers, also across the seams of periodic axes. */
import { type TSchema, Type } from "@sinclair/typebox";
import { AXIS_NAMES, type Axis, type Dataset } from "../../../engine/contract/dataset.js";
import { RequestError } from "../../../shared/errors.js";
import { spanOf } from "../../http/describe.js";
import { wrong } from "../faults.js";
import { coordinateOf, firstNode, type NodeRun, nearness } from "../question/where.js";

const MEMBERS = ["origin", "extent", "start", "end", "step"] as const;
type Member = (typeof MEMBERS)[number];
type Numbers<T> = Readonly<Partial<Record<Member, T>>>;
/** A region as stated, three numbers per member. */
export type InputRegion = Numbers<readonly number[]>;

const triple = (item: TSchema, description: string) =>
  Type.Optional(Type.Unsafe<readonly number[]>({ ...Type.Tuple([item, item, item]), description }));

/** The members of a region in a body. */
export const REGION = {
  origin: triple(Type.Number(), "Lowest coordinates, `0,0.5,1`; goes with `extent`."),
  extent: triple(Type.Number(), "Lengths; goes with `origin`."),
  start: triple(Type.Integer(), "First nodes, counted from 0; 0 by default."),
  end: triple(Type.Integer(), "Nodes behind the last ones; the numbers of nodes by default."),
  step: triple(Type.Integer({ minimum: 1 }), "Strides in nodes; 1 by default."),
};

/** Checks that a region is stated in one way. @throws RequestError */
function checkRegion(region: InputRegion): void {
  const names = MEMBERS.filter((name) => region[name] !== undefined);
  const lengths = names.filter((name) => name === "origin" || name === "extent").length;
  if (lengths === 1 || (lengths > 0 && names.length > lengths))
    throw wrong("region", "a region has origin and extent, or some of start, end and step");
  if (region.extent?.some((length) => length < 0)) throw wrong("region", "extent must not be negative");
  if (region.step?.some((step) => step < 1)) throw wrong("region", "step must be at least 1");
}

/**
 * The nodes of a region. By lengths they are, on a periodic axis, those from `origin` on before `origin + extent`, and
 * on others those from `origin` to `origin + extent`, both ends included.
 *
 * @throws RequestError (OutOfRange) if the region has no node, leaves an open axis or is longer than a period
 */
export function nodesOfRegion(region: InputRegion, { name, axes }: Pick<Dataset, "name" | "axes">): readonly NodeRun[] {
  checkRegion(region);
  return axes.map((axis, a) => {
    const own = Object.fromEntries(MEMBERS.map((member) => [member, region[member]?.[a]])) as Numbers<number>;
    const run = runAlong(axis, own);
    if (run !== null) return run;
    const { first, last } = spanOf(axis);
    const [from, to] = [first, last].map((at) => Number(at.toPrecision(6)));
    const over = axis.periodic ? "; over the seam, a region goes on for a period at most" : "";
    const text = `The region is not in "${name}" along ${AXIS_NAMES[a]}, whose nodes 0 to ${axis.nodes - 1} are at ${from} to ${to}${over}.`;
    throw new RequestError("OutOfRange", text, { member: "region" });
  });
}

/** The nodes of a region along an axis; null if it does not lie there. */
export function runAlong(
  axis: Axis,
  { origin, extent = 0, start = 0, end = axis.nodes, step = 1 }: Numbers<number>,
): NodeRun | null {
  if (origin !== undefined && !isWithin(axis, origin, extent)) return null;
  const [from, to] = origin === undefined ? [start, end] : nodesBetween(axis, origin, extent);
  const fits = from < to && (axis.periodic ? to - from <= axis.nodes : from >= 0 && to <= axis.nodes);
  return fits ? { first: firstNode(axis, from), from, count: Math.ceil((to - from) / step), step } : null;
}

function isWithin(axis: Axis, from: number, extent: number): boolean {
  const { first, last, length } = spanOf(axis);
  const near = nearness(axis, from, from + extent);
  const [before, behind] = axis.beyond ?? [0, 0];
  if (axis.periodic) return extent <= length + near;
  return from >= first - before - near && from + extent <= last + behind + near;
}

/** The first node within some lengths, and the one after the last. */
function nodesBetween(axis: Axis, origin: number, extent: number): readonly [number, number] {
  const near = nearness(axis, origin, origin + extent);
  if (axis.periodic) {
    const behind = (place: number): number => Math.ceil((place - axis.origin - near) / axis.spacing);
    return [behind(origin), behind(origin + extent)];
  }
  let [from, to] = [0, axis.nodes];
  while (from < to && coordinateOf(axis, from) < origin - near) from++;
  while (to > from && coordinateOf(axis, to - 1) > origin + extent + near) to--;
  return [from, to];
}
