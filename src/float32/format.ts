/** Writes float32 as the shortest decimal that reads back as the same float32. */
import { POWERS_OF_TEN, parseFloat32 } from "./parse.js";

/** Longest text this writes: sign, `0.00000` and nine digits, or up to 21 digits before the point. */
export const FLOAT_BYTES = 24;

const POINT = 0x2e;
const ZERO = 0x30;

/**
 * Writes float32 values as ASCII; one instance per encoder because it keeps scratch space.
 *
 * Eight digits are tried first, computed with exact powers of ten; if they read back, fewer are tried, else nine. A
 * candidate counts only when its double lies clear of the midpoints between float32 values, or is exact. Powers of two
 * (whose lower neighbour is nearer than the upper one) and magnitudes beyond the exact powers take the slow, obvious
 * way.
 */
export class FloatWriter {
  readonly #single = new Float32Array(1);
  readonly #singleBits = new Uint32Array(this.#single.buffer);
  readonly #double = new Float64Array(1);
  readonly #doubleBits = new Uint32Array(this.#double.buffer);
  readonly #bytes = new Uint8Array(FLOAT_BYTES);

  /** The text of a value, rounded to float32 first. */
  text(value: number): string {
    const length = this.write(Math.fround(value), this.#bytes, 0);
    let text = "";
    for (let i = 0; i < length; i++) text += String.fromCharCode(this.#bytes[i]);
    return text;
  }

  /** Writes `value`, a float32, at `out[at]` and returns the index after it; needs `FLOAT_BYTES` of room. */
  write(value: number, out: Uint8Array, at: number): number {
    let next = at;
    this.#single[0] = value;
    const bits = this.#singleBits[0];
    if (Number.isNaN(value)) return ascii("NaN", out, next);
    if (bits >>> 31 === 1) out[next++] = 0x2d;
    const a = Math.abs(value);
    if (a === 0) {
      out[next++] = ZERO;
      return next;
    }
    if (a === Number.POSITIVE_INFINITY) return ascii("INF", out, next);
    if (a < 1e-14 || a > 1e20 || ((bits & 0x7fffff) === 0 && (a < 1 || a > 0x400000))) return slow(a, out, next);
    let e = 0;
    if (a >= 1) while (a >= POWERS_OF_TEN[e + 1]) e++;
    else while (a * POWERS_OF_TEN[-e] < 1) e--;
    const scaled = e <= 7 ? a * POWERS_OF_TEN[7 - e] : a / POWERS_OF_TEN[e - 7];
    let q = e - 7;
    let digits = Math.floor(scaled + 0.5);
    if (this.#reads(digits, q, a)) {
      for (let divisor = 10; ; divisor *= 10) {
        const fewer = Math.floor(scaled / divisor + 0.5);
        if (!this.#reads(fewer, q + 1, a)) break;
        digits = fewer;
        q += 1;
      }
    } else {
      q -= 1;
      digits = Math.floor((q >= 0 ? a / POWERS_OF_TEN[q] : a * POWERS_OF_TEN[-q]) + 0.5);
      if (!this.#reads(digits, q, a)) return slow(a, out, next);
    }
    return layOut(digits, q, out, next);
  }

  /** Whether `digits * 10^q` is nearest to `a` beyond doubt. */
  #reads(digits: number, q: number, a: number): boolean {
    const double = q >= 0 ? digits * POWERS_OF_TEN[q] : digits / POWERS_OF_TEN[-q];
    if (Math.fround(double) !== a) return false;
    this.#double[0] = double;
    const midpoint = (this.#doubleBits[0] & 0x1fffffff) === 0x10000000;
    return !midpoint || (q >= 0 && double <= Number.MAX_SAFE_INTEGER);
  }
}

/**
 * The shortest decimal text that reads back as the same float32; NaN and infinities are written as in XML Schema.
 *
 * @param value rounded to float32 first
 */
export function shortestFloat32(value: number): string {
  return new FloatWriter().text(value);
}

/** A number without the noise that sums leave in its last digits: times, which keep double precision. */
export function withoutNoise(value: number): number {
  return Number(value.toPrecision(12));
}

/** The shortest decimal text of a number: as a float32 if it is one, else to 12 digits. */
export function shortestDecimal(value: number): string {
  return Math.fround(value) === value ? shortestFloat32(value) : `${withoutNoise(value)}`;
}

/** At most five significant digits of a number, for labels and messages to people. */
export function shortText(value: number): string {
  return Number.isFinite(value) ? String(Number(value.toPrecision(5))) : shortestFloat32(value);
}

/** The text of numbers with minus signs instead of hyphens, for sentences. */
export function withMinus(text: string): string {
  return text.replaceAll("-", "−");
}

function ascii(text: string, out: Uint8Array, at: number): number {
  for (let i = 0; i < text.length; i++) out[at + i] = text.charCodeAt(i);
  return at + text.length;
}

/** The first of 1 to 9 digits that reads back, the neighbour above included; for rare values. */
function slow(a: number, out: Uint8Array, at: number): number {
  for (let count = 1; ; count++) {
    const [mantissa, exponent] = a.toExponential(count - 1).split("e") as [string, string];
    const nearest = Number(mantissa.replace(".", ""));
    const q = Number(exponent) - (count - 1);
    for (const digits of [nearest, nearest + 1]) {
      if (parseFloat32(`${digits}e${q}`) === a) return layOut(digits, q, out, at);
    }
  }
}

/** Writes `digits * 10^q` as JavaScript writes numbers: plain from 1e-6 to 1e21, else with an exponent. */
function layOut(digits: number, q: number, out: Uint8Array, at: number): number {
  let count = 1;
  while (digits >= POWERS_OF_TEN[count]) count++;
  const point = count + q;
  let next = at;
  if (point > 21 || point < -5) {
    next = place(digits, count, 1, out, next);
    out[next++] = 0x65;
    return ascii(String(point - 1), out, next);
  }
  if (point <= 0) {
    out[next++] = ZERO;
    out[next++] = POINT;
    for (let i = point; i < 0; i++) out[next++] = ZERO;
    return place(digits, count, count, out, next);
  }
  next = place(digits, count, Math.min(point, count), out, next);
  for (let i = count; i < point; i++) out[next++] = ZERO;
  return next;
}

/** Writes an integer of `count` digits with the point after the first `whole` of them. */
function place(digits: number, count: number, whole: number, out: Uint8Array, at: number): number {
  let rest = digits | 0;
  let i = at + count + (whole < count ? 1 : 0);
  const end = i;
  for (let left = count; left > 0; left--) {
    if (left === whole && whole < count) out[--i] = POINT;
    const tenth = (rest / 10) | 0;
    out[--i] = ZERO + rest - tenth * 10;
    rest = tenth;
  }
  return end;
}
