/** Histograms: counts and weights of values in equal bins, which are half open except the last, which is closed. */
import { isKnown, type LeftOut } from "./moments.js";

/** Counts of bins, and the weights of their values; null if these are the counts. */
export interface Binned extends LeftOut {
  readonly counts: Float64Array;
  readonly weights: Float64Array | null;
  /** Weight of all known values, including those outside the bins. */
  readonly weight: number;
  readonly below: number;
  readonly above: number;
}

export interface Bins {
  readonly bins: number;
  readonly range: readonly [from: number, to: number];
}

/** Returns edge `index` of `bins` bins; the last is exactly `to`. */
export function edgeOf(from: number, to: number, bins: number, index: number): number {
  return index === bins ? to : from + ((to - from) * index) / bins;
}

/** Returns the bin of a value in [from, to]: the quotient, corrected by its edges. */
export function binOf(from: number, to: number, bins: number, value: number): number {
  let bin = Math.min(bins - 1, Math.floor(((value - from) / (to - from)) * bins));
  if (value < edgeOf(from, to, bins, bin)) bin--;
  else if (bin < bins - 1 && value >= edgeOf(from, to, bins, bin + 1)) bin++;
  return bin;
}

/** Bins the values of one column, or pairs of two: bin (i, j) is `i * bins[1] + j`. `weights`: null: all weigh 1. */
export function binned(columns: readonly Float64Array[], axes: readonly Bins[], weights: Float64Array | null): Binned {
  const size = axes.reduce((product, { bins }) => product * bins, 1);
  const counts = new Float64Array(size);
  const inBins = weights === null ? null : new Float64Array(size);
  const leftOut = { missing: 0, infinite: 0 };
  const [xs, ys = null] = columns;
  const [{ bins, range }, { bins: across, range: other }] = [axes[0], axes[1] ?? axes[0]];
  let [weight, below, above] = [0, 0, 0];
  for (let i = 0; i < xs.length; i++) {
    const x = xs[i];
    const y = ys === null ? 0 : ys[i];
    if (0 * x + 0 * y !== 0) {
      isKnown(columns, i, leftOut);
      continue;
    }
    const w = weights === null ? 1 : weights[i];
    weight += w;
    let bin = x >= range[0] && x <= range[1] ? binOf(range[0], range[1], bins, x) : -1;
    if (ys !== null && bin >= 0)
      bin = y >= other[0] && y <= other[1] ? bin * across + binOf(other[0], other[1], across, y) : -1;
    if (bin >= 0) {
      counts[bin]++;
      if (inBins !== null) inBins[bin] += w;
    } else if (ys === null && x < range[0]) below++;
    else above++;
  }
  return { counts, weights: inBins, weight, below, above, ...leftOut };
}
