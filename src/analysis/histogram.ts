/** Counts values in equal bins, which are half open except the last, which is closed. */

export interface Histogram {
  readonly from: number;
  readonly to: number;
  readonly counts: Float64Array;
  below: number;
  above: number;
  missing: number;
}

/** Returns an empty histogram of `bins` equal bins on [from, to], from < to. */
export function emptyHistogram(bins: number, from: number, to: number): Histogram {
  return { from, to, counts: new Float64Array(bins), below: 0, above: 0, missing: 0 };
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

/** Adds values; what lies outside and NaN are counted apart. Counts are integers, so any order gives the same. */
export function addValues(into: Histogram, values: ArrayLike<number>): void {
  const { from, to, counts } = into;
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (value < from) into.below++;
    else if (value > to) into.above++;
    else if (Number.isNaN(value)) into.missing++;
    else counts[binOf(from, to, counts.length, value)]++;
  }
}
