/** Sums powers of increments of a velocity or a scalar over all pairs of nodes along an axis. */
import { type Bins, binOf } from "./histogram.js";
import { isKnown, type LeftOut } from "./moments.js";
import { binaryLogs, sumOfPowers } from "./real-powers.js";

export interface IncrementOptions {
  readonly axis: 0 | 1 | 2;
  /** Distances in nodes between the two ends of a pair. */
  readonly separations: readonly number[];
  readonly orders: readonly number[];
  /** Powers of absolute increments along the axis, whole or not. */
  readonly absolute: readonly number[];
  readonly periodic: boolean;
  /** Bins of increments; absent: no histograms. */
  readonly histogram?: Bins | undefined;
}

/** For each separation, the pairs, their weight, those with a NaN or an infinity, and the sums of each term. */
export interface Increments {
  readonly pairs: Float64Array;
  readonly weight: Float64Array;
  readonly missing: Float64Array;
  readonly infinite: Float64Array;
  /** Sums by separation, then by term, in the order of `termsOf`. */
  readonly sums: Float64Array;
  /** Increments and their weights by separation, along the axis, then across it; by bin, then below and above all. */
  readonly counts: Float64Array;
  readonly weights: Float64Array;
}

/**
 * The names of the sums: of a velocity with 3 columns, of a scalar with 1, of a scalar and its velocity with 2. `LL`
 * and `NN` are products of the two ends of a pair, `ends0` to `ends2` sums of them by component, the longitudinal one
 * first. `yaglomWeight` is the weight of pairs whose velocity is known.
 */
export function termsOf(columns: number, orders: readonly number[], absolute: readonly number[]): readonly string[] {
  const powers = (name: string, of = orders): string[] => of.map((p) => `${name}${p}`);
  const first = [...powers("A", absolute), ...powers("L")];
  if (columns < 3) return [...first, ...(columns === 2 ? ["yaglom", "yaglomWeight"] : [])];
  return [...first, ...powers("N"), ...powers("M"), "mixed", "LL", "NN", "ends0", "ends1", "ends2"];
}

/**
 * Sums the increments in a box that holds whole lines along the axis; pairs with a NaN or an infinity are left out.
 *
 * @param columns components of a velocity, or a scalar, or a scalar and the velocity along the axis
 * @param weights of the nodes; the pairs of a line have the weight of its first node; null: each weighs 1
 */
export function incrementsOf(
  columns: readonly Float64Array[],
  shape: readonly [number, number, number],
  { axis, separations, orders, absolute, periodic, histogram }: IncrementOptions,
  weights: Float64Array | null = null,
): Increments {
  const terms = termsOf(columns.length, orders, absolute).length;
  const sums = new Float64Array(separations.length * terms);
  const [pairs, weight] = [new Float64Array(separations.length), new Float64Array(separations.length)];
  const stride = axis === 0 ? 1 : axis === 1 ? shape[0] : shape[0] * shape[1];
  const length = shape[axis];
  const lines = columns[0].length / length;
  // Index 0 along the axis: one line starts at each node of that plane.
  const startOf = (line: number): number => Math.floor(line / stride) * stride * length + (line % stride);
  const isVector = columns.length === 3;
  const ordered = isVector ? [columns[axis], ...columns.filter((_, c) => c !== axis)] : columns;
  const needed = isVector ? ordered : columns.slice(0, 1);
  const lineSums = new Float64Array(terms);
  const [distances, logs] = [new Float64Array(length), new Float64Array(length)];
  const leftOut = separations.map(() => ({ missing: 0, infinite: 0 }));
  const [from, to] = histogram?.range ?? [0, 0];
  const size = histogram === undefined ? 0 : histogram.bins + 2;
  const [directions, binnedColumns] = [isVector ? 2 : 1, size === 0 ? 0 : needed.length];
  const [counts, binWeights] = [0, 1].map(() => new Float64Array(separations.length * directions * size));
  const binPair = (s: number, a: number, b: number, w: number): void => {
    for (let c = 0; c < binnedColumns; c++) {
      const d = ordered[c][b] - ordered[c][a];
      const bin = d < from ? size - 2 : d > to ? size - 1 : binOf(from, to, size - 2, d);
      const at = (s * directions + Math.min(c, 1)) * size + bin;
      counts[at]++;
      binWeights[at] += w;
    }
  };
  separations.forEach((separation, s) => {
    const starts = periodic ? length : Math.max(0, length - separation);
    for (let line = 0; line < lines; line++) {
      lineSums.fill(0);
      const start = startOf(line);
      const w = weights === null ? 1 : weights[start];
      let known = 0;
      for (let i = 0; i < starts; i++) {
        const a = start + i * stride;
        const end = i + separation;
        const b = start + (end < length ? end : end - length) * stride;
        if (addPair(ordered, a, b, orders, absolute.length, lineSums)) {
          distances[known++] = Math.abs(ordered[0][b] - ordered[0][a]);
          binPair(s, a, b, w);
        } else if (isKnown(needed, a, leftOut[s]) && isKnown(needed, b, leftOut[s])) leftOut[s].infinite++;
      }
      if (absolute.length > 0) binaryLogs(distances, known, logs);
      for (let k = 0; k < absolute.length; k++) lineSums[k] = sumOfPowers(logs, known, absolute[k]);
      pairs[s] += known;
      weight[s] += w * known;
      for (let t = 0; t < terms; t++) sums[s * terms + t] += w * lineSums[t];
    }
  });
  const leftOutBy = (name: keyof LeftOut) => Float64Array.from(leftOut, (one) => one[name]);
  return {
    pairs,
    weight,
    missing: leftOutBy("missing"),
    infinite: leftOutBy("infinite"),
    sums,
    counts,
    weights: binWeights,
  };
}

/** Adds whole powers of a number to the sums from `at` on. */
function addPowers(base: number, orders: readonly number[], at: number, out: Float64Array): void {
  for (let k = 0; k < orders.length; k++) {
    let power = 1;
    for (let n = orders[k], factor = base; n > 0; n >>= 1, factor *= factor) if ((n & 1) === 1) power *= factor;
    out[at + k] += power;
  }
}

/** Adds the terms of a pair from `at` on; false if a value is not finite. */
function addPair(
  columns: readonly Float64Array[],
  a: number,
  b: number,
  orders: readonly number[],
  at: number,
  out: Float64Array,
): boolean {
  const first = columns[0];
  const second = columns[1];
  const third = columns[2];
  const d1 = first[b] - first[a];
  if (third === undefined) {
    const yaglom = second === undefined ? 0 : (second[b] - second[a]) * d1 * d1;
    if (!Number.isFinite(d1)) return false;
    addPowers(d1, orders, at, out);
    if (second === undefined || !Number.isFinite(yaglom)) return true;
    out[out.length - 2] += yaglom;
    out[out.length - 1]++;
    return true;
  }
  const d2 = second[b] - second[a];
  const d3 = third[b] - third[a];
  if (!Number.isFinite(d1 + d2 + d3)) return false;
  const last = out.length - 6;
  const n = orders.length;
  addPowers(d1, orders, at, out);
  addPowers(d2, orders, at + n, out);
  addPowers(d3, orders, at + 2 * n, out);
  out[last] += (d1 * (d2 * d2 + d3 * d3)) / 2;
  out[last + 1] += first[a] * first[b];
  out[last + 2] += (second[a] * second[b] + third[a] * third[b]) / 2;
  out[last + 3] += first[a] + first[b];
  out[last + 4] += second[a] + second[b];
  out[last + 5] += third[a] + third[b];
  return true;
}
