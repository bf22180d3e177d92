/** Writes float32 as the shortest decimal that reads back as the same float32. */
import { parseFloat32 } from "./parse.js";

/** Longest text: sign, `0.00000` and nine digits, or up to 21 digits before the point. */
export const FLOAT_BYTES = 24;

/** The smallest float32 with all of its digits. */
const NORMAL = 2 ** -126;

/**
 * The shortest decimal text that reads back as the same float32, of these the nearest, as XML Schema writes it. @param
 * value rounded to float32 first
 */
export function shortestFloat32(value: number): string {
  const single = Math.fround(value);
  if (Number.isNaN(single)) return "NaN";
  const sign = single < 0 || Object.is(single, -0) ? "-" : "";
  const magnitude = Math.abs(single);
  if (magnitude === Number.POSITIVE_INFINITY) return `${sign}INF`;
  // Six digits tell all float32 with so many or fewer apart, but those near 0.
  for (let digits = magnitude < NORMAL ? 1 : 6; ; digits++) {
    const nearest = magnitude.toExponential(digits - 1);
    if (readsBack(nearest, magnitude)) return plain(sign, nearest);
    if (!isPowerOfTwo(magnitude)) continue;
    // The gap below a power of two is half of that above: the neighbour above may read back, the nearest not.
    const [mantissa, exponent] = nearest.split("e") as [string, string];
    const above = `${Number(mantissa.replace(".", "")) + 1}e${Number(exponent) - (digits - 1)}`;
    if (readsBack(above, magnitude)) return plain(sign, above);
  }
}

const plain = (sign: string, text: string): string => `${sign}${Number(text)}`.replace("e+", "e");

/** Whether the float32 nearest to a text is this one. In a midpoint of two the text decides, not its double. */
function readsBack(text: string, magnitude: number): boolean {
  const double = Number(text);
  const mirrored = 2 * double - magnitude;
  const single = Math.fround(mirrored) === mirrored ? parseFloat32(text) : Math.fround(double);
  return single === magnitude;
}

const SINGLE = new Float32Array(1);
const BITS = new Uint32Array(SINGLE.buffer);

function isPowerOfTwo(single: number): boolean {
  SINGLE[0] = single;
  return ((BITS[0] as number) & 0x7fffff) === 0;
}

/** A number without the noise that sums leave in its last digits: times, which keep double precision. */
export function withoutNoise(value: number): number {
  return Number(value.toPrecision(12));
}

/** The shortest decimal text of a number: as a float32 if it is one, else to 12 digits. */
export function shortestDecimal(value: number): string {
  return Math.fround(value) === value ? shortestFloat32(value) : `${withoutNoise(value)}`;
}
