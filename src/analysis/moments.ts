/** Moments up to order four, computed for each part of a region and merged in the order of the parts. */

export interface LeftOut {
  readonly missing: number;
  readonly infinite: number;
}

/** Whether the values of all columns at a node are finite; a node with others is counted as missing or infinite. */
export function isKnown(
  columns: readonly ArrayLike<number>[],
  node: number,
  leftOut: { -readonly [K in keyof LeftOut]: number },
): boolean {
  // 0 * x is 0 for finite values, and NaN for others.
  let sum = 0;
  for (let c = 0; c < columns.length; c++) sum += 0 * columns[c][node];
  if (sum === 0) return true;
  leftOut[columns.some((column) => Number.isNaN(column[node])) ? "missing" : "infinite"]++;
  return false;
}

/** Weight, weighted sums of powers of the deviations from the mean, extremes, and the values left out. */
export interface Moments extends LeftOut {
  readonly count: number;
  /** Sum of the weights; the count if there are none. */
  readonly weight: number;
  readonly mean: number;
  readonly m2: number;
  readonly m3: number;
  readonly m4: number;
  readonly min: number;
  readonly max: number;
}

const ZEROS = { count: 0, missing: 0, infinite: 0, weight: 0, mean: 0, m2: 0, m3: 0, m4: 0 };
export const NO_MOMENTS: Moments = { ...ZEROS, min: Infinity, max: -Infinity };

/** Number of values that are summed at a time: nearly pairwise summation. */
const RUN = 128;

/**
 * Returns the moments of the values of one part, in two passes over them; NaN and infinities are counted and left out.
 * The mean is corrected by the mean of the deviations, so the sum of deviations is zero to rounding.
 * @param order 1: of the moments only the mean is known
 */
export function momentsOf(values: Float64Array, weights: Float64Array | null = null, order = 4): Moments {
  const { count, infinite, weight, sum, min, max } = firstSums(values, weights);
  const missing = values.length - count - infinite;
  if (count === 0) return { ...NO_MOMENTS, missing, infinite };
  if (min === max) return { count, missing, infinite, weight, min, max, mean: min, m2: 0, m3: 0, m4: 0 };
  const estimate = sum / weight;
  const sums = powerSums(values, weights, estimate, order);
  return { count, missing, infinite, weight, min, max, ...centralSums(sums, estimate, weight) };
}

/** Count, sum and extremes of the finite values. */
function firstSums(values: Float64Array, weights: Float64Array | null) {
  let [count, infinite, weight, sum] = [0, 0, 0, 0];
  let [min, max] = [Infinity, -Infinity];
  for (let from = 0; from < values.length; from += RUN) {
    let runWeight = 0;
    let runSum = 0;
    const to = Math.min(from + RUN, values.length);
    for (let i = from; i < to; i++) {
      const value = values[i];
      if (0 * value !== 0) {
        if (!Number.isNaN(value)) infinite++;
        continue;
      }
      const w = weights === null ? 1 : weights[i];
      count++;
      runWeight += w;
      runSum += w * value;
      if (value < min) min = value;
      if (value > max) max = value;
    }
    weight += runWeight;
    sum += runSum;
  }
  return { count, infinite, weight, sum, min, max };
}

/** Sums of the powers of the deviations of the finite values from an estimate of the mean. */
function powerSums(values: Float64Array, weights: Float64Array | null, estimate: number, order: number): number[] {
  let [s1, s2, s3, s4] = [0, 0, 0, 0];
  for (let from = 0; from < values.length; from += RUN) {
    let r1 = 0;
    let r2 = 0;
    let r3 = 0;
    let r4 = 0;
    const to = Math.min(from + RUN, values.length);
    for (let i = from; i < to; i++) {
      const d = values[i] - estimate;
      if (0 * d !== 0) continue;
      const w = weights === null ? 1 : weights[i];
      r1 += w * d;
      if (order === 1) continue;
      const square = d * d;
      r2 += w * square;
      r3 += w * square * d;
      r4 += w * square * square;
    }
    s1 += r1;
    s2 += r2;
    s3 += r3;
    s4 += r4;
  }
  return [s1, s2, s3, s4];
}

/** Shifts deviations from an estimate of the mean, which is off by rounding, to the mean. */
function centralSums(
  [s1, s2, s3, s4]: readonly number[],
  estimate: number,
  weight: number,
): Pick<Moments, "mean" | "m2" | "m3" | "m4"> {
  const e = s1 / weight;
  // The squares are at least zero; their difference may be negative by rounding.
  const m2 = Math.max(0, s2 - weight * e * e);
  const m3 = s3 - 3 * e * s2 + 2 * weight * e ** 3;
  const m4 = s4 - 4 * e * s3 + 6 * e * e * s2 - 3 * weight * e ** 4;
  return { mean: estimate + e, m2, m3, m4 };
}

/**
 * Merges the moments of two sets. The result depends on the order of merging, so callers merge in the order of parts.
 * Source: Pébay, Sandia report SAND2008-6212 (2008), equations 2.1 and 3.1.
 */
export function mergeMoments(a: Moments, b: Moments): Moments {
  const leftOut = { missing: a.missing + b.missing, infinite: a.infinite + b.infinite };
  if (a.count === 0) return { ...b, ...leftOut };
  if (b.count === 0) return { ...a, ...leftOut };
  const count = a.count + b.count;
  const weight = a.weight + b.weight;
  const [min, max] = [Math.min(a.min, b.min), Math.max(a.max, b.max)];
  if (min === max) return { count, ...leftOut, weight, min, max, mean: min, m2: 0, m3: 0, m4: 0 };
  const d = b.mean - a.mean;
  const [p, q] = [a.weight / weight, b.weight / weight];
  const m2 = a.m2 + b.m2 + d * d * a.weight * q;
  const m3 = a.m3 + b.m3 + d ** 3 * a.weight * q * (p - q) + 3 * d * (p * b.m2 - q * a.m2);
  const m4 =
    a.m4 +
    b.m4 +
    d ** 4 * a.weight * q * (p * p - p * q + q * q) +
    6 * d * d * (p * p * b.m2 + q * q * a.m2) +
    4 * d * (p * b.m3 - q * a.m3);
  const mean = a.mean + d * q;
  return { count, ...leftOut, weight, mean, m2, m3, m4, min, max };
}

/** Returns variance, skewness and flatness of a population; NaN without values or without variance. */
export function scaledMoments(m: Moments): { variance: number; skewness: number; flatness: number } {
  const variance = m.m2 / m.weight;
  return { variance, skewness: m.m3 / m.weight / variance ** 1.5, flatness: m.m4 / m.weight / variance ** 2 };
}
