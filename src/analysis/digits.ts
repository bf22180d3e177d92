/**
 * Weighs values by some of the 64 bits that order them, those behind given ones: with 16 bits four passes find a
 * quantile exactly, whatever the range of values.
 */
import type { LeftOut } from "./moments.js";

/** Digits that values begin with; the next one is counted. */
export interface DigitsOptions {
  readonly of: number;
  /** Bits of a digit. */
  readonly bits: 8 | 16;
  /** Of each group, all of one length. */
  readonly prefixes: readonly (readonly (readonly number[])[])[];
}

/** Of each prefix the next digits that there are, ascending, and the weights of their values. */
export interface Digits extends LeftOut {
  readonly lists: readonly { readonly digits: Uint16Array; readonly weights: Float64Array }[];
  /** Weight of all known values. */
  readonly weight: number;
}

/** Digit `place` of a number, the highest first: they ascend as numbers do. @param words its 16-bit words */
function digitOf(words: Uint16Array, at: number, place: number, bits: 8 | 16): number {
  const index = bits === 16 ? place : place >> 1;
  const high = words[at + 3];
  const word = words[at + 3 - index];
  const whole = high >= 0x8000 ? ~word & 0xffff : index === 0 ? word ^ 0x8000 : word;
  return bits === 16 ? whole : (place & 1) === 0 ? whole >> 8 : whole & 0xff;
}

/** The number with some digits, of 64 bits together. */
export function numberOf(digits: readonly number[]): number {
  const whole = digits.length === 4 ? digits : [0, 2, 4, 6].map((i) => (digits[i] << 8) | digits[i + 1]);
  const isNegative = whole[0] < 0x8000;
  const words = whole.map((digit, place) => (isNegative ? ~digit & 0xffff : place === 0 ? digit ^ 0x8000 : digit));
  return new Float64Array(Uint16Array.from(words.toReversed()).buffer)[0];
}

/** The digits of some values of a group. @param weights null if all weigh 1 */
export function digitsOf(
  { prefixes: ofGroups, bits }: DigitsOptions,
  values: Float64Array,
  weights: Float64Array | null,
  group: number,
): Digits {
  const prefixes = ofGroups[group];
  const words = new Uint16Array(values.slice().buffer);
  const place = prefixes[0].length;
  const found = prefixes.map(() => new Map<number, number>());
  let [weight, missing, infinite] = [0, 0, 0];
  for (let i = 0; i < values.length; i++) {
    if (!Number.isFinite(values[i])) {
      if (Number.isNaN(values[i])) missing++;
      else infinite++;
      continue;
    }
    const own = weights === null ? 1 : weights[i];
    weight += own;
    for (let p = 0; p < prefixes.length; p++) {
      let d = 0;
      while (d < place && digitOf(words, 4 * i, d, bits) === prefixes[p][d]) d++;
      if (d < place) continue;
      const digit = digitOf(words, 4 * i, place, bits);
      found[p].set(digit, (found[p].get(digit) ?? 0) + own);
    }
  }
  return { lists: found.map(listOf), weight, missing, infinite };
}

function listOf(found: ReadonlyMap<number, number>): Digits["lists"][number] {
  const digits = Uint16Array.from(found.keys()).sort();
  return { digits, weights: Float64Array.from(digits, (digit) => found.get(digit) as number) };
}

/** Adds the weights of later values. */
export function mergeDigits(a: Digits, b: Digits): Digits {
  const lists = a.lists.map((list, p) => {
    const sums = new Map([...list.digits].map((digit, i) => [digit, list.weights[i]]));
    b.lists[p].digits.forEach((digit, i) => {
      sums.set(digit, (sums.get(digit) ?? 0) + b.lists[p].weights[i]);
    });
    return listOf(sums);
  });
  return { lists, weight: a.weight + b.weight, missing: a.missing + b.missing, infinite: a.infinite + b.infinite };
}
