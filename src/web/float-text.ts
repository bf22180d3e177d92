/** Float32 values as text. */

/** The shortest decimal that reads back as the same float32: what the service would print. */
export function floatText(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "INF" : "-INF";
  for (let digits = 1; digits < 9; digits++) {
    const text = value.toPrecision(digits);
    if (Math.fround(Number(text)) === value) return String(Number(text));
  }
  return String(Number(value.toPrecision(9)));
}

/** A value for people: five significant digits. */
export function shortText(value: number): string {
  if (!Number.isFinite(value)) return floatText(value);
  return String(Number(value.toPrecision(5)));
}
