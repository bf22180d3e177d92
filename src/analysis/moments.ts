/** Computes moments up to order four per brick and merges them in the order of the bricks. */

/** Count, sum of squares, cubes and fourth powers of the deviations from the mean, extremes, and NaN left out. */
export interface Moments {
  readonly count: number;
  readonly missing: number;
  readonly mean: number;
  readonly m2: number;
  readonly m3: number;
  readonly m4: number;
  readonly min: number;
  readonly max: number;
}

export const NO_MOMENTS: Moments = {
  count: 0,
  missing: 0,
  mean: 0,
  m2: 0,
  m3: 0,
  m4: 0,
  min: Infinity,
  max: -Infinity,
};

/**
 * Returns the moments of the values of one brick, in two passes over them; NaN is counted and left out.
 *
 * The mean is corrected by the mean of the deviations, so the sum of deviations is zero to rounding.
 */
export function momentsOf(values: ArrayLike<number>): Moments {
  let [count, sum, min, max] = [0, 0, Infinity, -Infinity];
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (Number.isNaN(value)) continue;
    count++;
    sum += value;
    if (value < min) min = value;
    if (value > max) max = value;
  }
  if (count === 0) return { ...NO_MOMENTS, missing: values.length };
  const first = sum / count;
  let rest = 0;
  for (let i = 0; i < values.length; i++) if (!Number.isNaN(values[i])) rest += values[i] - first;
  const mean = first + rest / count;
  let [m2, m3, m4] = [0, 0, 0];
  for (let i = 0; i < values.length; i++) {
    const d = values[i] - mean;
    if (Number.isNaN(d)) continue;
    const square = d * d;
    m2 += square;
    m3 += square * d;
    m4 += square * square;
  }
  return { count, missing: values.length - count, mean, m2, m3, m4, min, max };
}

/**
 * Merges the moments of two sets. The result depends on the order of merging, so callers merge in the order of bricks.
 *
 * Source: Pébay, Sandia report SAND2008-6212 (2008), equations 2.1 and 3.1.
 */
export function mergeMoments(a: Moments, b: Moments): Moments {
  const missing = a.missing + b.missing;
  if (a.count === 0) return { ...b, missing };
  if (b.count === 0) return { ...a, missing };
  const count = a.count + b.count;
  const d = b.mean - a.mean;
  const [p, q] = [a.count / count, b.count / count];
  const m2 = a.m2 + b.m2 + d * d * a.count * q;
  const m3 = a.m3 + b.m3 + d ** 3 * a.count * q * (p - q) + 3 * d * (p * b.m2 - q * a.m2);
  const m4 =
    a.m4 +
    b.m4 +
    d ** 4 * a.count * q * (p * p - p * q + q * q) +
    6 * d * d * (p * p * b.m2 + q * q * a.m2) +
    4 * d * (p * b.m3 - q * a.m3);
  const mean = a.mean + d * q;
  return { count, missing, mean, m2, m3, m4, min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) };
}

/** Returns variance, skewness and flatness of a population; NaN if nothing was counted or nothing varies. */
export function shapeOf(m: Moments): { variance: number; skewness: number; flatness: number } {
  const variance = m.m2 / m.count;
  return { variance, skewness: m.m3 / m.count / variance ** 1.5, flatness: m.m4 / m.count / variance ** 2 };
}
