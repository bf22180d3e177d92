/** Writes float32 as the shortest decimal that reads back as the same float32. */
import { parseFloat32 } from "./parse.js";

/** Longest text: sign, `0.00000` and nine digits, or up to 21 digits before the point. */
export const FLOAT_BYTES = 24;

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
  for (let digits = 1; ; digits++) {
    const [mantissa, exponent] = magnitude.toExponential(digits - 1).split("e") as [string, string];
    const nearest = Number(mantissa.replace(".", ""));
    // The gap below a power of two is half of that above: the neighbour above may read back, the nearest not.
    for (const whole of [nearest, nearest + 1]) {
      const text = `${whole}e${Number(exponent) - (digits - 1)}`;
      if (parseFloat32(text) === magnitude) return `${sign}${Number(text)}`.replace("e+", "e");
    }
  }
}

/** A number without the noise that sums leave in its last digits: times, which keep double precision. */
export function withoutNoise(value: number): number {
  return Number(value.toPrecision(12));
}

/** The shortest decimal text of a number: as a float32 if it is one, else to 12 digits. */
export function shortestDecimal(value: number): string {
  return Math.fround(value) === value ? shortestFloat32(value) : `${withoutNoise(value)}`;
}
