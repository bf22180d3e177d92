/** Whether a figure sampled over time grows: least squares over its later part, because single samples come and go. */

/**
 * What a straight line through the later half of the samples gains from the first of them to the last, in their unit.
 * @param samples figures at equal intervals, oldest first, four at least
 */
export function laterGrowth(samples: readonly number[]): number {
  const later = samples.slice(samples.length >> 1);
  const n = later.length;
  if (samples.length < 4) throw new RangeError(`${samples.length} samples are too few for a trend`);
  const middle = (n - 1) / 2;
  const mean = later.reduce((sum, value) => sum + value, 0) / n;
  let joint = 0;
  let own = 0;
  for (const [i, value] of later.entries()) {
    joint += (i - middle) * (value - mean);
    own += (i - middle) ** 2;
  }
  return (joint / own) * (n - 1);
}
