/**
 * `DecimalScanner` reads decimal numbers from bytes as float32, fast, and leaves numbers whose rounding is in doubt.
 */
import { POWERS_OF_TEN } from "./parse.js";

/** Largest mantissa that takes another digit; further digits change the value by less than the margin below. */
const MANTISSA = 1e18;
/** Doubles so near to a midpoint of float32 (in units of the last place) are in doubt. */
const MARGIN = 16;
const MIDPOINT = 0x10000000;
const SMALLEST = 2 ** -125;
const LARGEST = 2 ** 127;

/** `next` after a number that the end of the bytes may have cut. */
export const CUT = -1;
/** `next` after something that is not a plain decimal, or that only `parseFloat32` rounds correctly. */
export const IN_DOUBT = -2;

/**
 * Reads decimals one at a time; the result of rounding `read` to float32 equals `parseFloat32` of the same text.
 *
 * The double computed here is within a few units of the exact value. Whenever a midpoint between two float32 values is
 * that near, or the magnitude is outside 2^-125 to 2^127, the number is left to `parseFloat32`.
 */
export class DecimalScanner {
  /** Index after the number that was read last, or `CUT`, or `IN_DOUBT`. */
  next = 0;
  readonly #double = new Float64Array(1);
  readonly #bits = new Uint32Array(this.#double.buffer);

  /** Reads the decimal that begins at `bytes[from]`; no white space is skipped. */
  read(bytes: Uint8Array, from: number, end: number): number {
    let p = from;
    let byte = p < end ? bytes[p] : 0;
    const negative = byte === 0x2d;
    if (negative || byte === 0x2b) byte = ++p < end ? bytes[p] : 0;
    let mantissa = 0;
    let exponent = 0;
    let start = p;
    while (byte >= 0x30 && byte <= 0x39) {
      if (mantissa < MANTISSA) mantissa = mantissa * 10 + (byte - 0x30);
      else exponent++;
      byte = ++p < end ? bytes[p] : 0;
    }
    let digits = p - start;
    if (byte === 0x2e) {
      byte = ++p < end ? bytes[p] : 0;
      start = p;
      while (byte >= 0x30 && byte <= 0x39) {
        if (mantissa < MANTISSA) {
          mantissa = mantissa * 10 + (byte - 0x30);
          exponent--;
        }
        byte = ++p < end ? bytes[p] : 0;
      }
      digits += p - start;
    }
    if (digits > 0 && (byte === 0x65 || byte === 0x45)) {
      byte = ++p < end ? bytes[p] : 0;
      const minus = byte === 0x2d;
      if (minus || byte === 0x2b) byte = ++p < end ? bytes[p] : 0;
      let power = 0;
      start = p;
      while (byte >= 0x30 && byte <= 0x39) {
        if (power < 1000) power = power * 10 + (byte - 0x30);
        byte = ++p < end ? bytes[p] : 0;
      }
      if (p === start) digits = 0;
      exponent += minus ? -power : power;
    }
    if (p >= end) return this.#stop(CUT);
    if (digits === 0) return this.#stop(IN_DOUBT);
    this.next = p;
    const magnitude = this.#scale(mantissa, exponent);
    return negative ? -magnitude : magnitude;
  }

  #scale(mantissa: number, exponent: number): number {
    if (mantissa === 0) return 0;
    if (exponent > 22 || exponent < -22) return this.#stop(IN_DOUBT);
    const value = exponent < 0 ? mantissa / POWERS_OF_TEN[-exponent] : mantissa * POWERS_OF_TEN[exponent];
    if (value < SMALLEST || value > LARGEST) return this.#stop(IN_DOUBT);
    this.#double[0] = value;
    const low = this.#bits[0] & 0x1fffffff;
    if (low > MIDPOINT - MARGIN && low < MIDPOINT + MARGIN) return this.#stop(IN_DOUBT);
    return value;
  }

  #stop(why: typeof CUT | typeof IN_DOUBT): number {
    this.next = why;
    return 0;
  }
}
