/** Writes float32 as the shortest decimal that reads back as the same float32. */
import { parseFloat32 } from "./parse.js";

/** Longest text: sign, `0.00000` and nine digits, or up to 21 digits before the point. */
export const FLOAT_BYTES = 24;

/** The shortest decimal text that reads back as the same float32, of these the nearest, as XML Schema writes it. */
export function shortestFloat32(value: number): string {
  const single = Math.fround(value);
  if (Number.isNaN(single)) return "NaN";
  const sign = single < 0 || Object.is(single, -0) ? "-" : "";
  const magnitude = Math.abs(single);
  if (magnitude === Number.POSITIVE_INFINITY) return `${sign}INF`;
  const plain = (text: string) => `${sign}${Number(text)}`.replace("e+", "e");
  // Six digits tell all float32 with so many or fewer apart, but those near 0.
  for (let digits = magnitude < 2 ** -126 ? 1 : 6; ; digits++) {
    const nearest = magnitude.toExponential(digits - 1);
    if (readsBack(nearest, magnitude)) return plain(nearest);
    // The gap below a power of two is half of that above: the neighbour above may read back, the nearest not.
    if (!Number.isInteger(Math.log2(magnitude))) continue;
    const [mantissa, exponent] = nearest.split("e") as [string, string];
    const above = `${Number(mantissa.replace(".", "")) + 1}e${Number(exponent) - digits + 1}`;
    if (readsBack(above, magnitude)) return plain(above);
  }
}

/** Whether the float32 nearest to a text is this one. In a midpoint of two the text decides, not its double. */
function readsBack(text: string, magnitude: number): boolean {
  const mirrored = 2 * Number(text) - magnitude;
  return (Math.fround(mirrored) === mirrored ? parseFloat32(text) : Math.fround(Number(text))) === magnitude;
}

/** A number without the noise that sums leave in its last digits: times, which keep double precision. */
export function withoutNoise(value: number): number {
  return Number(value.toPrecision(12));
}

/** The shortest decimal text of a number: as a float32 if it is one, else to 12 digits. */
export function shortestDecimal(value: number): string {
  return Math.fround(value) === value ? shortestFloat32(value) : `${withoutNoise(value)}`;
}
