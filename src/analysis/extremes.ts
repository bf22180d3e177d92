/** Extreme values of a region, found part by part, at least a given distance apart. */
import { isKnown, type LeftOut } from "./moments.js";

export interface FrameNode {
  readonly node: number;
  readonly frame: number;
}

export interface Extreme extends FrameNode {
  readonly value: number;
  /** Values of the columns `also`, if there are any. */
  readonly more?: readonly number[];
}

export const SIDES = ["highest", "lowest"] as const;
export type Side = (typeof SIDES)[number];
type BySide<T> = Readonly<Record<Side, T>>;

/** Options of a search for extremes; `of` is a column. */
export interface ExtremesOptions {
  readonly of: number;
  readonly count: number;
  /** Columns whose values are taken where the extremes are. */
  readonly also?: readonly number[];
  /** Least distance between two extremes of a group, in any frames. */
  readonly apart: number;
  /** Extremes that earlier passes have picked. */
  readonly picked?: BySide<readonly Extreme[]>;
  /** The first candidate that this pass considers; null: a side is complete, or not asked. Absent in the first pass. */
  readonly from?: Partial<BySide<Extreme | null>>;
}

/** Candidates in their order, and the first candidate that did not fit; null if all fitted. */
export interface Extremes extends BySide<readonly Extreme[]>, LeftOut {
  readonly leftOut: BySide<Extreme | null>;
}

export interface ExtremesSample {
  readonly columns: readonly Float64Array[];
  readonly frame: number;
  /** Index of a node in the whole region, x fastest. */
  nodeOf(index: number): number;
  /** Squared distance between two nodes of the region; infinite if they are in different groups. */
  readonly distance2: Distance2;
}
type Distance2 = (a: FrameNode, b: FrameNode) => number;

/** Most candidates of a pass if extremes must be apart, and for each of them: those close to a picked one do not count. */
const CANDIDATES = { most: 2048, each: 64 };

const signOf = (side: Side): 1 | -1 => (side === "highest" ? 1 : -1);
const keptBy = ({ count, apart }: ExtremesOptions): number =>
  apart > 0 ? Math.min(CANDIDATES.most, CANDIDATES.each * count) : count;

/** The order in which extremes are picked; equal values are ordered by time, then by node. */
function inOrder(side: Side): (a: Extreme, b: Extreme) => number {
  const sign = signOf(side);
  return (a, b) => sign * (b.value - a.value) || a.frame - b.frame || a.node - b.node;
}

function isClose(one: Extreme, others: readonly Extreme[], apart: number, distance2: Distance2): boolean {
  return apart > 0 && others.some((other) => distance2(other, one) < apart * apart);
}

export function extremesOf(options: ExtremesOptions, sample: ExtremesSample): Extremes {
  const values = sample.columns[options.of];
  const [own, leftOut] = [[values], { missing: 0, infinite: 0 }];
  const known = Uint32Array.from(values.keys()).filter((i) => isKnown(own, i, leftOut));
  const [highest, lowest] = SIDES.map((side) => candidatesOf(side, options, values, known, sample));
  return bySides(highest, lowest, leftOut);
}

interface Candidates {
  readonly list: readonly Extreme[];
  readonly leftOut: Extreme | null;
}

function bySides(highest: Candidates, lowest: Candidates, { missing, infinite }: LeftOut): Extremes {
  const leftOut = { highest: highest.leftOut, lowest: lowest.leftOut };
  return { highest: highest.list, lowest: lowest.list, leftOut, missing, infinite };
}

function candidatesOf(
  side: Side,
  options: ExtremesOptions,
  values: Float64Array,
  known: Uint32Array,
  { columns, nodeOf, frame, distance2 }: ExtremesSample,
): Candidates {
  const { apart, from, picked, also } = options;
  const start = from?.[side];
  if (start === null || known.length === 0) return { list: [], leftOut: null };
  const [sign, order, most] = [signOf(side), inOrder(side), keptBy(options)];
  const more = (i: number) => also && { more: also.map((column) => columns[column][i]) };
  const at = (i: number): Extreme => ({ value: values[i], node: nodeOf(i), frame, ...more(i) });
  const own = picked?.[side].filter((one) => distance2(one, at(known[0])) < Infinity) ?? [];
  let [some, last]: [Extreme[], Extreme | null] = [[], null];
  for (const i of known) {
    if (last !== null && sign * values[i] < sign * last.value) continue;
    const one = at(i);
    if ((start !== undefined && order(one, start) < 0) || isClose(one, own, apart, distance2)) continue;
    if (some.push(one) <= 4 * most) continue;
    some = some.toSorted(order).slice(0, most + 1);
    last = some[most];
  }
  return first(some, most, order);
}

function first(some: readonly Extreme[], most: number, order: (a: Extreme, b: Extreme) => number): Candidates {
  const sorted = some.toSorted(order);
  return { list: sorted.slice(0, most), leftOut: sorted[most] ?? null };
}

export function mergeExtremes(options: ExtremesOptions, a: Extremes, b: Extremes): Extremes {
  const [highest, lowest] = SIDES.map((side) => {
    const order = inOrder(side);
    const { list, leftOut } = first([...a[side], ...b[side]], keptBy(options), order);
    const [before = null] = [leftOut, a.leftOut[side], b.leftOut[side]].filter((one) => one !== null).toSorted(order);
    return { list: before === null ? list : list.filter((one) => order(one, before) < 0), leftOut: before };
  });
  return bySides(highest, lowest, { missing: a.missing + b.missing, infinite: a.infinite + b.infinite });
}

/** Picks from candidates in their order, after those picked before. */
export function pickExtremes(
  { count, apart }: ExtremesOptions,
  before: readonly Extreme[],
  candidates: readonly Extreme[],
  distance2: Distance2,
): readonly Extreme[] {
  const picked = [...before];
  for (const one of candidates) {
    if (picked.length === count) break;
    if (!isClose(one, picked, apart, distance2)) picked.push(one);
  }
  return picked;
}

export function foremost(side: Side, list: readonly Extreme[]): Extreme | null {
  return list.toSorted(inOrder(side))[0] ?? null;
}
