/** Arrays as nested lists; values that are not finite become null. */
export function nested(values: readonly unknown[], lengths: readonly number[]): unknown {
  let level: readonly unknown[] = values.map((one) => (typeof one === "number" && !Number.isFinite(one) ? null : one));
  if (lengths.length === 0) return level[0];
  for (const n of lengths.slice(1).toReversed())
    level = Array.from({ length: level.length / n }, (_, i) => level.slice(i * n, (i + 1) * n));
  return level;
}
