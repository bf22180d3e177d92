/** Reductions: from the values of a part of a region to a small state, merging of states, and answers from them. */
import { type Digits, type DigitsOptions, digitsOf, mergeDigits } from "./digits.js";
import {
  type Extreme,
  type Extremes,
  type ExtremesOptions,
  type ExtremesSample,
  extremesOf,
  type FrameNode,
  mergeExtremes,
} from "./extremes.js";
import { fragmentsOf, type MarkedBox, PART, type PartFragments, type StructureOptions } from "./fragments.js";
import { type Frequencies, type FrequencyOptions, frequenciesOf } from "./frequencies.js";
import { type Binned, binned, binOf, edgeOf } from "./histogram.js";
import { type IncrementOptions, type Increments, incrementsOf } from "./increments.js";
import { isKnown, type LeftOut, type Moments, mergeMoments, momentsOf, NO_MOMENTS, scaledMoments } from "./moments.js";
import { nested } from "./nested.js";
import { JoinedFragments } from "./structures.js";

export type BinRange = readonly [from: number, to: number];

/** A reduction; `of` and `on` are columns of its plan. */
export type AnyReduction =
  | { readonly kind: "moments"; readonly of: number; readonly order: number }
  | { readonly kind: "covariance"; readonly of: readonly number[] }
  | { readonly kind: "histogram"; readonly of: number; readonly bins: number; readonly range: BinRange }
  | {
      readonly kind: "joint";
      readonly of: readonly [number, number];
      readonly bins: readonly [number, number];
      readonly range: readonly [BinRange, BinRange];
    }
  | {
      readonly kind: "conditional";
      readonly of: number;
      /** One or two conditions, each with its bins. */
      readonly on: readonly number[];
      readonly bins: readonly number[];
      readonly range: readonly BinRange[];
    }
  | ({ readonly kind: "extremes" } & ExtremesOptions)
  | ({ readonly kind: "increments"; readonly of: readonly number[] } & IncrementOptions)
  | ({ readonly kind: "structures" } & StructureOptions)
  | ({ readonly kind: "digits" } & DigitsOptions)
  | ({ readonly kind: "frequencies" } & FrequencyOptions)
  | ({ readonly kind: "around"; readonly of: readonly number[]; readonly lags: MarkedBox["from"] } & AroundEvents);

/** Events: the nodes where column `on` is known, or the nodes `at`, which weigh 1. */
type AroundEvents = { readonly on: number; readonly at?: readonly FrameNode[] };

/** Number, weight and weighted sum of the known values of each column at each offset, x fastest. */
export interface Around {
  readonly events: number;
  readonly counts: Float64Array;
  readonly shares: Float64Array;
  readonly sums: Float64Array;
}

/** Values at nodes: an array for each column, weights of the nodes over `cell` if they differ, and coordinates. */
export interface Sample extends MarkedBox, ExtremesSample {
  readonly group: number;
  /** Memory for counts of values, kept from sample to sample. */
  readonly tables: Float64Array[];
  /** Nodes of the group along x, y and z, all of which are in the sample. */
  readonly inner: readonly [number, number, number];
}

export interface Covariance extends LeftOut {
  readonly count: number;
  readonly weight: number;
  readonly means: readonly number[];
  readonly products: readonly number[];
}

/** The bins hold six numbers each, of `pack`: a list of 65 536 objects holds the thread that receives it. */
interface Conditional extends LeftOut {
  readonly bins: Float64Array;
  readonly outside: number;
}

export type ReductionState =
  | Moments
  | Covariance
  | Binned
  | Conditional
  | Extremes
  | Increments
  | PartFragments
  | JoinedFragments
  | Around
  | Digits
  | Frequencies;

export function reduceSample(reduction: AnyReduction, sample: Sample): ReductionState {
  const column = (index: number): Float64Array => sample.columns[index];
  switch (reduction.kind) {
    case "moments":
      return momentsOf(column(reduction.of), sample.weights, reduction.order);
    case "covariance":
      return covarianceOf(reduction.of.map(column), sample.weights);
    case "histogram":
      return binned([column(reduction.of)], [reduction], sample.weights);
    case "joint": {
      const axes = reduction.bins.map((bins, a) => ({ bins, range: reduction.range[a] }));
      return binned(reduction.of.map(column), axes, sample.weights);
    }
    case "conditional":
      return conditionalOf(reduction, sample);
    case "extremes":
      return extremesOf(reduction, sample);
    case "increments":
      return incrementsOf(reduction.of.map(column), sample.shape, reduction, sample.weights);
    case "structures":
      return fragmentsOf(reduction, sample);
    case "around":
      throw new Error("these sums are not of one sample");
    case "digits":
      return digitsOf(reduction, column(reduction.of), sample.weights, sample.group, sample.tables);
    case "frequencies":
      return frequenciesOf(reduction, reduction.of.map(column), sample.weights, sample.inner);
  }
}

/** The state of the first part, into which others are merged. */
export function firstState(reduction: AnyReduction, state: ReductionState, extent: Sample["from"]): ReductionState {
  if (reduction.kind !== "structures") return state;
  const joined = new JoinedFragments(reduction, extent, PART);
  joined.add(state as PartFragments);
  return joined;
}

/** Merges two states of one reduction; the first is of earlier parts. */
export function mergeStates(reduction: AnyReduction, a: ReductionState, b: ReductionState): ReductionState {
  switch (reduction.kind) {
    case "moments":
      return mergeMoments(a as Moments, b as Moments);
    case "covariance":
      return mergeCovariances(a as Covariance, b as Covariance);
    case "histogram":
    case "joint":
    case "increments":
    case "frequencies":
    case "around":
      return added(a, b);
    case "conditional": {
      const [into, from] = [a as Conditional, b as Conditional];
      const bins = into.bins.slice();
      for (let at = 0; at < bins.length; at += BIN)
        if (bins[at] === 0) bins.set(from.bins.subarray(at, at + BIN), at);
        else if (from.bins[at] > 0) bins.set(pack(mergeMoments(unpack(bins, at), unpack(from.bins, at))), at);
      return { bins, outside: into.outside + from.outside, ...bothLeftOut(into, from) };
    }
    case "extremes":
      return mergeExtremes(reduction, a as Extremes, b as Extremes);
    case "structures":
      (a as JoinedFragments).add(b as PartFragments);
      return a;
    case "digits":
      return mergeDigits(a as Digits, b as Digits);
  }
}

export function added<T extends ReductionState>(a: T, b: T): T {
  const sums = Object.entries(a).map(([name, own]) => {
    const other = b[name as keyof T] as never;
    if (typeof own === "number") return [name, own + other];
    return [name, own?.map((value: number, i: number) => value + other[i]) ?? null];
  });
  return Object.fromEntries(sums);
}

const bothLeftOut = (a: LeftOut, b: LeftOut): LeftOut => ({
  missing: a.missing + b.missing,
  infinite: a.infinite + b.infinite,
});

/** Numbers of a bin, in the order of `pack`. */
const BIN = 6;
const pack = ({ count, weight, mean, m2, min, max }: Moments) => [count, weight, mean, m2, min, max];

function unpack(bins: Float64Array, at: number): Moments {
  const [count, weight, mean, m2, min, max] = bins.subarray(at, at + BIN);
  return { ...NO_MOMENTS, count, weight, mean, m2, min, max };
}

function covarianceOf(columns: readonly Float64Array[], weights: Float64Array | null): Covariance {
  const leftOut = { missing: 0, infinite: 0 };
  const kept = columns[0].map((_, i) => (isKnown(columns, i, leftOut) ? (weights?.[i] ?? 1) : 0));
  const count = kept.length - leftOut.missing - leftOut.infinite;
  const weight = kept.reduce((sum, w) => sum + w, 0);
  const centred = columns.map((column) => {
    const { mean } = momentsOf(column, kept, 1);
    return { mean, values: column.map((value, i) => (kept[i] > 0 ? value - mean : 0)) };
  });
  const products = centred.flatMap(({ values: a }) =>
    centred.map(({ values: b }) => {
      let sum = 0;
      for (let i = 0; i < kept.length; i++) sum += kept[i] * a[i] * b[i];
      return sum;
    }),
  );
  return { count, ...leftOut, weight, means: centred.map(({ mean }) => mean), products };
}

function mergeCovariances(a: Covariance, b: Covariance): Covariance {
  const leftOut = bothLeftOut(a, b);
  if (a.count === 0) return { ...b, ...leftOut };
  if (b.count === 0) return { ...a, ...leftOut };
  const weight = a.weight + b.weight;
  const shift = b.means.map((mean, i) => mean - a.means[i]);
  const n = shift.length;
  const products = a.products.map(
    (product, ij) =>
      product + b.products[ij] + (shift[Math.floor(ij / n)] * shift[ij % n] * a.weight * b.weight) / weight,
  );
  const means = a.means.map((mean, i) => mean + (shift[i] * b.weight) / weight);
  return { count: a.count + b.count, ...leftOut, weight, means, products };
}

function conditionalOf(reduction: AnyReduction & { kind: "conditional" }, sample: Sample): Conditional {
  const { bins, range } = reduction;
  const all = [reduction.of, ...reduction.on].map((column) => sample.columns[column]);
  const [value, ...on] = all;
  const places = new Int32Array(value.length).fill(-1);
  /** The end of the values of each bin, and then the offset of the next value. */
  const ends = new Uint32Array(bins.reduce((product, n) => product * n, 1));
  const leftOut = { missing: 0, infinite: 0 };
  let outside = 0;
  for (let i = 0; i < value.length; i++) {
    if (!isKnown(all, i, leftOut)) continue;
    let bin = 0;
    for (let c = 0; c < on.length && bin >= 0; c++) {
      const [[from, to], at] = [range[c], on[c][i]];
      bin = at < from || at > to ? -1 : bin * bins[c] + binOf(from, to, bins[c], at);
    }
    places[i] = bin;
    if (bin < 0) outside++;
    else ends[bin]++;
  }
  for (let bin = 1; bin < ends.length; bin++) ends[bin] += ends[bin - 1];
  const next = ends.slice();
  const sorted = new Float64Array(value.length);
  const weights = sample.weights === null ? null : new Float64Array(value.length);
  for (let i = value.length - 1; i >= 0; i--) {
    if (places[i] < 0) continue;
    const to = --next[places[i]];
    sorted[to] = value[i];
    if (weights !== null && sample.weights !== null) weights[to] = sample.weights[i];
  }
  const packed = new Float64Array(BIN * ends.length);
  ends.forEach((end, bin) => {
    const moments = momentsOf(sorted.subarray(next[bin], end), weights?.subarray(next[bin], end) ?? null);
    packed.set(pack(moments), BIN * bin);
  });
  return { bins: packed, outside, ...leftOut };
}

export type GroupAnswer = Readonly<Record<string, unknown>>;

export function edgesOf([from, to]: BinRange, bins: number): number[] {
  return Array.from({ length: bins + 1 }, (_, i) => edgeOf(from, to, bins, i));
}

/** The answer of a group; unknown is null. @param place position and time of a node @param cell factor of the weights */
export function finishState(
  reduction: AnyReduction,
  state: ReductionState,
  place: (extreme: Extreme) => Readonly<Record<string, unknown>>,
  cell: number,
): GroupAnswer {
  const { missing, infinite } = state as LeftOut;
  switch (reduction.kind) {
    case "moments": {
      const moments = state as Moments;
      const { mean, min, max, count } = moments;
      const all = [{ mean }, ...Object.entries(scaledMoments(moments)).map(([name, value]) => ({ [name]: value }))];
      const known = { ...Object.assign({}, ...all.slice(0, reduction.order)), min, max };
      const nulls = Object.fromEntries(Object.keys(known).map((name) => [name, null]));
      return { ...(count === 0 ? nulls : known), count, missing, infinite };
    }
    case "covariance": {
      const { count, weight, means, products } = state as Covariance;
      const known = <T>(values: readonly T[]) => values.map((value) => (count === 0 ? null : value));
      const matrix = nested(known(products.map((product) => product / weight)), [means.length, means.length]);
      return { means: known(means), matrix, count, missing, infinite };
    }
    case "histogram":
    case "joint": {
      const { counts, weights, weight, below, above } = state as Binned;
      const listed = (values: Float64Array) => nested([...values], [reduction.bins].flat());
      const outside = reduction.kind === "joint" ? { outside: above } : { below, above };
      const inBins = listed((weights ?? counts).map((w) => cell * w));
      return { counts: listed(counts), weights: inBins, weight: cell * weight, ...outside, missing, infinite };
    }
    case "conditional": {
      const { bins, outside } = state as Conditional;
      const places = Array.from({ length: bins.length / BIN }, (_, bin) => BIN * bin);
      const listed = (value: (at: number) => number | null) => nested(places.map(value), reduction.bins);
      const mean = listed((at) => (bins[at] === 0 ? null : bins[at + 2]));
      const variance = listed((at) => (bins[at] === 0 ? null : bins[at + 3] / bins[at + 1]));
      const [counts, weights] = [listed((at) => bins[at]), listed((at) => cell * bins[at + 1])];
      return { mean, variance, counts, weights, outside, missing, infinite };
    }
    case "extremes": {
      const { highest, lowest } = state as Extremes;
      const described = (list: readonly Extreme[]) => list.map((one) => ({ value: one.value, ...place(one) }));
      return { highest: described(highest), lowest: described(lowest), missing, infinite };
    }
    default:
      return {};
  }
}
