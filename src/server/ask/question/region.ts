/** Regions of inputs and analyses: a box by its lengths or by its nodes, which goes on over the seams of periodic axes. */

import { type TSchema, Type } from "@sinclair/typebox";
import { AXIS_NAMES, type Axis, type AxisName, type Dataset } from "../../../engine/contract/dataset.js";
import { RequestError } from "../../../shared/errors.js";
import { spanOf } from "../../http/describe.js";
import { refuse } from "../../http/refusal.js";

/** A region as it is asked for: by lengths, or by nodes from 0, the end left out. */
export interface AskedRegion {
  readonly origin?: readonly number[];
  readonly extent?: readonly number[];
  readonly start?: readonly number[];
  readonly end?: readonly number[];
  readonly step?: readonly number[];
}

export interface Lengths {
  readonly origin: readonly number[];
  readonly extent: readonly number[];
}

/** Nodes `first`, `first + step`, ... of an axis; those behind the seam of a periodic one count on. */
export interface NodeRun {
  readonly first: number;
  /** The number of the first node as asked: whole periods before or behind `first`. Coordinates are as asked. */
  readonly from: number;
  readonly count: number;
  readonly step: number;
}

const REGION_MEMBERS = ["origin", "extent", "start", "end", "step"] as const;
const ABOUT = {
  origin: "Lowest coordinates, `0,0.5,1`; goes with `extent`.",
  extent: "Lengths; goes with `origin`.",
  start: "First nodes, counted from 0; 0 by default.",
  end: "Nodes behind the last ones; the numbers of nodes by default.",
  step: "Strides in nodes; 1 by default.",
} as const satisfies Readonly<Record<(typeof REGION_MEMBERS)[number], string>>;
type RegionMember = (typeof REGION_MEMBERS)[number];
const BY_LENGTHS: readonly RegionMember[] = ["origin", "extent"];

/** A schema of regions. @param list of as many numbers as it has sides */
function regionSchema(list: (item: TSchema) => TSchema) {
  const numbers = (item: TSchema, name: RegionMember) =>
    Type.Optional(Type.Unsafe<readonly number[]>({ ...list(item), description: ABOUT[name] }));
  return Type.Optional(
    Type.Object(
      {
        origin: numbers(Type.Number(), "origin"),
        extent: numbers(Type.Number(), "extent"),
        start: numbers(Type.Integer(), "start"),
        end: numbers(Type.Integer(), "end"),
        step: numbers(Type.Integer({ minimum: 1 }), "step"),
      },
      {
        additionalProperties: false,
        description: "By lengths or by nodes; all by default. On periodic axes it may go on over the seam.",
      },
    ),
  );
}

export const REGION = regionSchema((item) => Type.Tuple([item, item, item]));

/** Checks that a region is stated in one way. @throws RequestError */
export function checkRegion<R extends AskedRegion | undefined>(region: R, member = "region"): R {
  if (region === undefined) return region;
  const names = REGION_MEMBERS.filter((name) => region[name] !== undefined);
  const lengths = names.filter((name) => BY_LENGTHS.includes(name)).length;
  if (lengths === 1 || (lengths > 0 && names.length > lengths) || names.length === 0)
    throw refuse(member, `${member}: a region has origin and extent, or some of start, end and step.`);
  if (region.extent?.some((length) => length < 0)) throw refuse(member, `${member}: extent must not be negative.`);
  if (region.step?.some((step) => step < 1)) throw refuse(member, `${member}: step must be at least 1.`);
  return region;
}

function outside(name: string, axis: Axis, letter: AxisName): RequestError {
  const { first, last } = spanOf(axis);
  const [from, to] = [first, last].map((at) => Number(at.toPrecision(6)));
  const over = axis.periodic ? "; over the seam, a region goes on for a period at most" : "";
  const text = `The region is not in "${name}" along ${letter}, whose nodes 0 to ${axis.nodes - 1} are at ${from} to ${to}${over}.`;
  return new RequestError("OutOfRange", text, { member: "region" });
}

/** The difference below which coordinates are the same, in float32 or next to a node; never two nodes. */
function nearness({ spacing }: Axis, ...places: readonly number[]): number {
  return 1e-6 * spacing + Math.min(2 ** -22 * Math.max(...places.map(Math.abs)), spacing / 4);
}

/** Refuses lengths that are longer than a period or, of `inside`, leave an open axis. */
function checkLengths(name: string, axis: Axis, a: number, from: number, extent: number, inside: boolean): void {
  const { first, last, length } = spanOf(axis);
  const near = nearness(axis, from, from + extent);
  const [before, behind] = axis.beyond ?? [0, 0];
  const fits = axis.periodic
    ? extent <= length + near
    : !inside || (from >= first - before - near && from + extent <= last + behind + near);
  if (!fits) throw outside(name, axis, AXIS_NAMES[a] as AxisName);
}

/**
 * The nodes of a region.
 *
 * By lengths they are, on a periodic axis, those from `origin` on before `origin + extent`, and on others those from
 * `origin` to `origin + extent`, both ends included.
 *
 * @param axes   those of the numbers of the region: of the dataset, or of a field with nodes of its own
 * @param region undefined for all nodes
 * @param sides  which axes they are, as indices
 * @returns their runs; a first node lies among those of its axis
 * @throws RequestError (OutOfRange) if the region has no node, leaves an open axis or is longer than a period
 */
export function nodesIn(
  region: AskedRegion | undefined,
  { name }: Pick<Dataset, "name">,
  axes: readonly Axis[],
  sides: readonly number[] = [0, 1, 2],
): readonly NodeRun[] {
  return axes.map((axis, i) => runAlong(axis, sides[i] as number, numbersOf(region, i), name));
}

type OneSide = Readonly<Partial<Record<RegionMember, number>>>;

function numbersOf(region: AskedRegion = {}, side: number): OneSide {
  return Object.fromEntries(
    REGION_MEMBERS.flatMap((name) => (region[name] === undefined ? [] : [[name, region[name][side]]])),
  );
}

function runAlong(
  axis: Axis,
  a: number,
  { origin, extent = 0, start = 0, end, step = 1 }: OneSide,
  name: string,
): NodeRun {
  if (origin !== undefined) checkLengths(name, axis, a, origin, extent, true);
  const [from, to] = origin === undefined ? [start, end ?? axis.nodes] : nodesBetween(axis, origin, extent);
  const fits = from < to && (axis.periodic ? to - from <= axis.nodes : from >= 0 && to <= axis.nodes);
  if (!fits) throw outside(name, axis, AXIS_NAMES[a] as AxisName);
  const first = axis.periodic ? ((from % axis.nodes) + axis.nodes) % axis.nodes : from;
  return { first, from, count: Math.ceil((to - from) / step), step };
}

/** The first node of some lengths, and the one behind the last. */
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

/** The coordinate of a node; those behind the seam of a periodic axis go on growing. */
export function coordinateOf({ coordinates, origin, spacing }: Axis, node: number): number {
  return coordinates?.[node] ?? origin + node * spacing;
}

/**
 * A region by its lengths, in which points lie: that of nodes from the first one to the node behind the last, or to the
 * last one of an open axis.
 *
 * @param sides  axes of its numbers, as indices
 * @param inside whether it has to lie in the domain: points that are sampled are held against it one by one
 * @returns null for no region
 * @throws RequestError as `nodesIn` does, and for strides
 */
export function lengthsIn(
  region: AskedRegion | undefined,
  { name, axes }: Pick<Dataset, "name" | "axes">,
  sides: readonly number[],
  inside: boolean,
): Lengths | null {
  if (region === undefined) return null;
  const parts = sides.map((a, i): readonly [number, number] => {
    const axis = axes[a as 0 | 1 | 2];
    const side = numbersOf(region, i);
    const { origin, extent = 0, start = 0, end = axis.nodes, step = 1 } = side;
    if (origin !== undefined) {
      checkLengths(name, axis, a, origin, extent, inside);
      return [origin, extent];
    }
    if (step !== 1) throw refuse("region", "region: points lie between nodes, so step must be 1.");
    runAlong(axis, a, side, name);
    const from = coordinateOf(axis, start);
    return [from, coordinateOf(axis, axis.periodic ? end : Math.min(end, axis.nodes - 1)) - from];
  });
  return { origin: parts.map(([from]) => from), extent: parts.map(([, length]) => length) };
}

/** The lengths of a region of a body, or of all nodes: a period without its end, or up to the last node. */
export function boxOf(dataset: Pick<Dataset, "name" | "axes">, region: AskedRegion | undefined): Lengths {
  const spans = dataset.axes.map(spanOf);
  const all = { origin: spans.map(({ first }) => first), extent: spans.map(({ length }) => length) };
  return lengthsIn(checkRegion(region), dataset, [0, 1, 2], true) ?? all;
}
