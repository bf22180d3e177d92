/** Reduces the values of a part of a region to a small state, merges states, and turns them into answers. */
import { type Extreme, type Extremes, type ExtremesOptions, extremesOf, mergeExtremes } from "./extremes.js";
import { fragmentsOf, type MarkedBox, PART, type PartFragments, type StructureOptions } from "./fragments.js";
import { addValues, binOf, edgeOf, emptyHistogram, type Histogram } from "./histogram.js";
import { type Increments, incrementsOf, mergeIncrements } from "./increments.js";
import { type Moments, mergeMoments, momentsOf, NO_MOMENTS, shapeOf } from "./moments.js";
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
      readonly on: number;
      readonly bins: number;
      readonly range: BinRange;
    }
  | ({ readonly kind: "extremes" } & ExtremesOptions)
  | {
      readonly kind: "increments";
      readonly of: readonly number[];
      readonly axis: 0 | 1 | 2;
      readonly separations: readonly number[];
      readonly orders: readonly number[];
      readonly periodic: boolean;
    }
  | ({ readonly kind: "structures" } & StructureOptions);

/** Values at nodes: an array for each column, the weights of the nodes if they differ, and their places. */
export interface Sample extends MarkedBox {
  readonly count: number;
  /** Number of a node in the whole region, x fastest. */
  nodeOf(index: number): number;
  readonly frame: number;
  /** Square of the distance of two nodes of the region. */
  distance2(a: number, b: number): number;
}

interface Covariance {
  readonly count: number;
  readonly missing: number;
  readonly weight: number;
  readonly means: readonly number[];
  readonly products: readonly number[];
}

interface Joint {
  readonly counts: Float64Array;
  readonly outside: number;
  readonly missing: number;
}

interface Conditional {
  readonly bins: readonly Moments[];
  readonly outside: number;
  readonly missing: number;
}

export type ReductionState =
  | Moments
  | Covariance
  | Histogram
  | Joint
  | Conditional
  | Extremes
  | Increments
  | PartFragments
  | JoinedFragments;

/** Returns the state of a sample. */
export function reduceSample(reduction: AnyReduction, sample: Sample): ReductionState {
  const column = (index: number): Float64Array => sample.columns[index];
  switch (reduction.kind) {
    case "moments":
      return momentsOf(column(reduction.of), sample.weights);
    case "covariance":
      return covarianceOf(reduction.of.map(column), sample.weights);
    case "histogram": {
      const histogram = emptyHistogram(reduction.bins, ...reduction.range);
      addValues(histogram, column(reduction.of));
      return histogram;
    }
    case "joint":
      return jointOf(reduction, sample);
    case "conditional":
      return conditionalOf(reduction, sample);
    case "extremes":
      return extremesOf(reduction, sample);
    case "increments":
      return incrementsOf(reduction.of.map(column), sample.shape, reduction);
    case "structures":
      return fragmentsOf(reduction, sample);
  }
}

/** The state of the first part, as others are merged into it. */
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
    case "histogram": {
      const [into, from] = [a as Histogram, b as Histogram];
      addTo(into.counts, from.counts);
      return {
        ...into,
        below: into.below + from.below,
        above: into.above + from.above,
        missing: into.missing + from.missing,
      };
    }
    case "joint": {
      const [into, from] = [a as Joint, b as Joint];
      addTo(into.counts, from.counts);
      return { ...into, outside: into.outside + from.outside, missing: into.missing + from.missing };
    }
    case "conditional": {
      const [into, from] = [a as Conditional, b as Conditional];
      const bins = into.bins.map((bin, i) => mergeMoments(bin, from.bins[i]));
      return { bins, outside: into.outside + from.outside, missing: into.missing + from.missing };
    }
    case "extremes":
      return mergeExtremes(reduction, a as Extremes, b as Extremes);
    case "increments":
      return mergeIncrements(a as Increments, b as Increments);
    case "structures":
      (a as JoinedFragments).add(b as PartFragments);
      return a;
  }
}

function addTo(into: Float64Array, from: Float64Array): void {
  for (let i = 0; i < into.length; i++) into[i] += from[i];
}

function covarianceOf(columns: readonly Float64Array[], weights: Float64Array | null): Covariance {
  const length = columns[0].length;
  const kept = new Float64Array(length);
  let [count, weight] = [0, 0];
  for (let i = 0; i < length; i++) {
    if (columns.some((column) => Number.isNaN(column[i]))) continue;
    kept[i] = weights === null ? 1 : weights[i];
    count++;
    weight += kept[i];
  }
  const missing = length - count;
  const centred = columns.map((column) => {
    const moments = momentsOf(
      column.map((value, i) => (kept[i] > 0 ? value : Number.NaN)),
      weights,
    );
    return { mean: moments.mean, values: column.map((value, i) => (kept[i] > 0 ? value - moments.mean : 0)) };
  });
  const products = centred.flatMap(({ values: a }) =>
    centred.map(({ values: b }) => {
      let sum = 0;
      for (let i = 0; i < length; i++) sum += kept[i] * a[i] * b[i];
      return sum;
    }),
  );
  return { count, missing, weight, means: centred.map(({ mean }) => mean), products };
}

function mergeCovariances(a: Covariance, b: Covariance): Covariance {
  const missing = a.missing + b.missing;
  if (a.count === 0) return { ...b, missing };
  if (b.count === 0) return { ...a, missing };
  const weight = a.weight + b.weight;
  const shift = b.means.map((mean, i) => mean - a.means[i]);
  const n = shift.length;
  const products = a.products.map(
    (product, ij) =>
      product + b.products[ij] + (shift[Math.floor(ij / n)] * shift[ij % n] * a.weight * b.weight) / weight,
  );
  const means = a.means.map((mean, i) => mean + (shift[i] * b.weight) / weight);
  return { count: a.count + b.count, missing, weight, means, products };
}

function jointOf({ of, bins, range }: AnyReduction & { kind: "joint" }, { columns, count }: Sample): Joint {
  const counts = new Float64Array(bins[0] * bins[1]);
  const [a, b] = [columns[of[0]], columns[of[1]]];
  const [[a0, a1], [b0, b1]] = range;
  let [outside, missing] = [0, 0];
  for (let i = 0; i < count; i++) {
    if (Number.isNaN(a[i]) || Number.isNaN(b[i])) missing++;
    else if (a[i] < a0 || a[i] > a1 || b[i] < b0 || b[i] > b1) outside++;
    else counts[binOf(a0, a1, bins[0], a[i]) * bins[1] + binOf(b0, b1, bins[1], b[i])]++;
  }
  return { counts, outside, missing };
}

function conditionalOf(reduction: AnyReduction & { kind: "conditional" }, sample: Sample): Conditional {
  const { bins, range } = reduction;
  const [value, on] = [sample.columns[reduction.of], sample.columns[reduction.on]];
  const lists = Array.from({ length: bins }, (): number[] => []);
  let [outside, missing] = [0, 0];
  for (let i = 0; i < sample.count; i++) {
    if (Number.isNaN(value[i]) || Number.isNaN(on[i])) missing++;
    else if (on[i] < range[0] || on[i] > range[1]) outside++;
    else lists[binOf(range[0], range[1], bins, on[i])].push(i);
  }
  const { weights } = sample;
  const momentsIn = (list: readonly number[]): Moments =>
    momentsOf(
      Float64Array.from(list, (i) => value[i]),
      weights && Float64Array.from(list, (i) => weights[i]),
    );
  return { bins: lists.map((list) => (list.length === 0 ? NO_MOMENTS : momentsIn(list))), outside, missing };
}

/** What an answer says of each group, by name. */
export type GroupAnswer = Readonly<Record<string, unknown>>;

/** Edges of bins. */
export function edgesOf([from, to]: BinRange, bins: number): number[] {
  return Array.from({ length: bins + 1 }, (_, i) => edgeOf(from, to, bins, i));
}

/** Splits an array into rows. */
function rows<T>(values: readonly T[], length: number): T[][] {
  return Array.from({ length: values.length / length }, (_, i) => values.slice(i * length, (i + 1) * length));
}

/** The members of an answer that differ from group to group. @param place says where a node is, and when */
export function finishState(
  reduction: AnyReduction,
  state: ReductionState,
  place: (extreme: Extreme) => Readonly<Record<string, unknown>>,
): GroupAnswer {
  switch (reduction.kind) {
    case "moments": {
      const moments = state as Moments;
      const { variance, skewness, flatness } = shapeOf(moments);
      const { mean, min, max, count, missing } = moments;
      const all = [{ mean }, { variance }, { skewness }, { flatness }].slice(0, reduction.order);
      return { ...Object.assign({}, ...all), min, max, count, missing };
    }
    case "covariance": {
      const { count, missing, weight, means, products } = state as Covariance;
      const matrix = rows(
        products.map((product) => product / weight),
        means.length,
      );
      return { means, matrix, count, missing };
    }
    case "histogram": {
      const { counts, below, above, missing } = state as Histogram;
      return { counts: [...counts], below, above, missing };
    }
    case "joint": {
      const { counts, outside, missing } = state as Joint;
      return { counts: rows([...counts], reduction.bins[1]), outside, missing };
    }
    case "conditional": {
      const { bins, outside, missing } = state as Conditional;
      const known = (value: (bin: Moments) => number) => bins.map((bin) => (bin.count === 0 ? null : value(bin)));
      const mean = known((bin) => bin.mean);
      const variance = known((bin) => bin.m2 / bin.weight);
      return { mean, variance, counts: bins.map((bin) => bin.count), outside, missing };
    }
    case "extremes": {
      const { highest, lowest, missing } = state as Extremes;
      const told = (list: readonly Extreme[]) => list.map((one) => ({ value: one.value, ...place(one) }));
      return { highest: told(highest), lowest: told(lowest), missing };
    }
    default:
      return {};
  }
}
