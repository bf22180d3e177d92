/**
 * Exact quantiles by radix selection: values are weighed by digits of the 64 bits that order them, below given
 * prefixes. With digits of 16 bits four passes find a quantile, whatever the range of values; fewer if few values
 * remain, which are listed.
 */
import { isKnown, type LeftOut } from "./moments.js";

/** Options of a pass: the prefixes whose next digit is counted. */
export interface DigitsOptions {
  readonly of: number;
  /** Bits of a digit. */
  readonly bits: 8 | 16;
  /** Prefixes of each group, all of one length. */
  readonly prefixes: readonly (readonly (readonly number[])[])[];
  /** Number of values with these prefixes, if these are listed instead of their next digits; 0: digits are counted. */
  readonly listed: number;
}

/** Next digits that occur, or the values, ascending, with their counts and weights. */
export interface DigitList {
  readonly digits: Float64Array;
  readonly counts: Float64Array;
  readonly weights: Float64Array;
}

/** A list for each prefix. */
export interface Digits extends LeftOut {
  readonly lists: readonly DigitList[];
  /** Weight of all known values. */
  readonly weight: number;
}

/** The bits of the digits, in words of 32 bits, the highest first. */
function wordsOf(digits: readonly number[], bits: number): Int32Array {
  const words = new Int32Array(2);
  digits.forEach((digit, d) => {
    words[d * bits < 32 ? 1 : 0] |= digit << (32 - bits - ((d * bits) % 32));
  });
  return words;
}

/** The number with the given digits, which have 64 bits together. */
export function numberOf(digits: readonly number[]): number {
  const [low, high] = wordsOf(digits, 64 / digits.length);
  const flip = ~high >> 31;
  return new Float64Array(Int32Array.of(low ^ flip, high ^ (flip | 0x80000000)).buffer)[0];
}

/** The digits of the values of a group. @param weights null if all weigh 1 */
export function digitsOf(
  { prefixes: ofGroups, bits, listed }: DigitsOptions,
  values: Float64Array,
  weights: Float64Array | null,
  group: number,
): Digits {
  const starts = ofGroups[group].map((digits) => wordsOf(digits, bits));
  const place = bits * ofGroups[group][0].length;
  const [lowMask, highMask] = wordsOf(new Array<number>(place / bits).fill(2 ** bits - 1), bits);
  const size = listed > 0 ? 0 : 2 ** bits;
  const tables = starts.map(() => {
    const counts = new Float64Array(size);
    return { counts, sums: weights === null ? counts : new Float64Array(size), nodes: [] as number[] };
  });
  const words = new Int32Array(values.buffer, values.byteOffset, 2 * values.length);
  const leftOut = { missing: 0, infinite: 0 };
  let weight = 0;
  for (let i = 0; i < values.length; i++) {
    if (0 * values[i] !== 0) {
      isKnown([values], i, leftOut);
      continue;
    }
    const own = weights === null ? 1 : weights[i];
    weight += own;
    const sign = words[2 * i + 1] >> 31;
    const [low, high] = [words[2 * i] ^ sign, words[2 * i + 1] ^ (sign | 0x80000000)];
    for (let p = 0; p < starts.length; p++) {
      if ((((low & lowMask) ^ starts[p][0]) | ((high & highMask) ^ starts[p][1])) !== 0) continue;
      const { counts, sums, nodes } = tables[p];
      const digit = ((place < 32 ? high : low) << (place % 32)) >>> (32 - bits);
      if (listed > 0) nodes.push(i);
      else counts[digit]++;
      if (listed === 0 && weights !== null) sums[digit] += own;
    }
  }
  const lists = tables.map(({ counts, sums, nodes: used }) => {
    used.sort((a, b) => values[a] - values[b]);
    for (let digit = 0; digit < size; digit++) if (counts[digit] > 0) used.push(digit);
    const listOf = (number: (one: number) => number) => Float64Array.from(used, number);
    return listed > 0
      ? { digits: listOf((i) => values[i]), counts: listOf(() => 1), weights: listOf((i) => weights?.[i] ?? 1) }
      : { digits: listOf((d) => d), counts: listOf((d) => counts[d]), weights: listOf((d) => sums[d]) };
  });
  return { lists, weight, ...leftOut };
}

/** Merges the list of later values. */
function mergeLists(a: DigitList, b: DigitList): DigitList {
  const size = a.digits.length + b.digits.length;
  const [digits, counts, weights] = [0, 1, 2].map(() => new Float64Array(size));
  let to = 0;
  for (let i = 0, j = 0; i < a.digits.length || j < b.digits.length; to++) {
    digits[to] = Math.min(a.digits[i] ?? Infinity, b.digits[j] ?? Infinity);
    if (a.digits[i] === digits[to]) {
      counts[to] += a.counts[i];
      weights[to] += a.weights[i++];
    }
    if (b.digits[j] === digits[to]) {
      counts[to] += b.counts[j];
      weights[to] += b.weights[j++];
    }
  }
  return { digits: digits.slice(0, to), counts: counts.slice(0, to), weights: weights.slice(0, to) };
}

/** Merges the weights of later values. */
export function mergeDigits(a: Digits, b: Digits): Digits {
  const lists = a.lists.map((list, p) => mergeLists(list, b.lists[p]));
  return { lists, weight: a.weight + b.weight, missing: a.missing + b.missing, infinite: a.infinite + b.infinite };
}
