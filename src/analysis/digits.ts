/**
 * Exact quantiles by radix selection: values are weighed by digits of the 64 bits that order them, below given
 * prefixes. Four digits find a quantile, whatever the range of values; fewer passes are needed if few values remain,
 * which are listed.
 */
import { isKnown, type LeftOut } from "./moments.js";

/** Options of a pass: the prefixes whose next digit is counted. */
export interface DigitsOptions {
  readonly of: number;
  /** Bits of each digit, 64 together; none has bits of both halves. */
  readonly widths: readonly number[];
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
  /** Number and weight of all known values. */
  readonly count: number;
  readonly weight: number;
}

/** The bits of the digits, in words of 32 bits, the highest first. */
function wordsOf(digits: readonly number[], widths: readonly number[]): Int32Array {
  const words = new Int32Array(2);
  let place = 0;
  for (const [d, digit] of digits.entries()) {
    words[place < 32 ? 1 : 0] |= digit << (32 - widths[d] - (place % 32));
    place += widths[d];
  }
  return words;
}

/** The number with the given digits, which have 64 bits together, or that was listed in their place. */
export function numberOf(digits: readonly number[], widths: readonly number[]): number {
  if (digits.length === 1) return digits[0];
  const [low, high] = wordsOf(digits, widths);
  const flip = ~high >> 31;
  return new Float64Array(Int32Array.of(low ^ flip, high ^ (flip | 0x80000000)).buffer)[0];
}

/** The exponent of NaN and infinities. */
const EXPONENT = 0x7ff00000;
/** Bits of the number of a count within its page: only pages with counts are searched for them. */
const PAGE_BITS = 8;

/** The digits of the values of a group. @param weights null if all weigh 1 */
export function digitsOf(
  { prefixes: ofGroups, widths, listed }: DigitsOptions,
  values: Float64Array,
  weights: Float64Array | null,
  group: number,
): Digits {
  const prefixes = ofGroups[group];
  const starts = prefixes.map((digits) => wordsOf(digits, widths));
  const [lows, highs] = [0, 1].map((word) => Int32Array.from(starts, (one) => one[word]));
  const known = widths.slice(0, prefixes[0].length);
  const bits = widths[known.length] ?? 0;
  const place = known.reduce((sum, one) => sum + one, 0);
  const masks = known.map((one) => 2 ** one - 1);
  const [lowMask, highMask] = wordsOf(masks, widths);
  const size = listed > 0 ? 0 : 2 ** bits;
  const counts = new Uint32Array(size * starts.length);
  const sums = new Float64Array(weights === null ? 0 : counts.length);
  const pages = new Uint8Array(counts.length >> PAGE_BITS);
  const found = starts.map((): number[] => []);
  const words = new Int32Array(values.buffer, values.byteOffset, 2 * values.length);
  const leftOut = { missing: 0, infinite: 0 };
  let weight = 0;
  for (let i = 0; i < values.length; i++) {
    const top = words[2 * i + 1];
    if ((top & EXPONENT) === EXPONENT) {
      isKnown([values], i, leftOut);
      continue;
    }
    if (weights !== null) weight += weights[i];
    const sign = top >> 31;
    const low = words[2 * i] ^ sign;
    const high = top ^ (sign | 0x80000000);
    let p = 0;
    while (p < highs.length && ((high & highMask) !== highs[p] || (low & lowMask) !== lows[p])) p++;
    if (p === highs.length) continue;
    if (listed > 0) found[p].push(i);
    else {
      const at = p * size + (((place < 32 ? high : low) << place) >>> (32 - bits));
      counts[at]++;
      pages[at >> PAGE_BITS] = 1;
      if (weights !== null) sums[at] += weights[i];
    }
  }
  const count = values.length - leftOut.missing - leftOut.infinite;
  if (weights === null) weight = count;
  const lists = found.map((nodes, p): DigitList => {
    if (listed > 0) {
      nodes.sort((a, b) => values[a] - values[b]);
      const [ones, own] = [new Float64Array(nodes.length).fill(1), nodes.map((i) => weights?.[i] ?? 1)];
      return { digits: Float64Array.from(nodes.map((i) => values[i])), counts: ones, weights: Float64Array.from(own) };
    }
    for (let at = p * size; at < (p + 1) * size; )
      if (pages[at >> PAGE_BITS] === 0) at += 1 << PAGE_BITS;
      else if (counts[at++] > 0) nodes.push(at - 1);
    const [digits, numbers] = [new Float64Array(nodes.length), new Float64Array(nodes.length)];
    const weighed = weights === null ? numbers : new Float64Array(nodes.length);
    for (let d = 0; d < nodes.length; d++) {
      digits[d] = nodes[d] - p * size;
      numbers[d] = counts[nodes[d]];
      if (weights !== null) weighed[d] = sums[nodes[d]];
    }
    return { digits, counts: numbers, weights: weighed };
  });
  return { lists, count, weight, ...leftOut };
}

/** Merges the list of later values. */
function mergeLists(a: DigitList, b: DigitList): DigitList {
  const [na, nb] = [a.digits.length, b.digits.length];
  const [digits, counts, weights] = [0, 1, 2].map(() => new Float64Array(na + nb));
  let to = 0;
  for (let i = 0, j = 0; i < na || j < nb; to++) {
    const isFirst = j === nb || (i < na && a.digits[i] <= b.digits[j]);
    const isSecond = i === na || (j < nb && b.digits[j] <= a.digits[i]);
    digits[to] = isFirst ? a.digits[i] : b.digits[j];
    if (isFirst) {
      counts[to] += a.counts[i];
      weights[to] += a.weights[i++];
    }
    if (isSecond) {
      counts[to] += b.counts[j];
      weights[to] += b.weights[j++];
    }
  }
  return { digits: digits.slice(0, to), counts: counts.slice(0, to), weights: weights.slice(0, to) };
}

/** Merges the weights of later values. */
export function mergeDigits(a: Digits, b: Digits): Digits {
  const lists = a.lists.map((list, p) => mergeLists(list, b.lists[p]));
  const leftOut = { missing: a.missing + b.missing, infinite: a.infinite + b.infinite };
  return { lists, count: a.count + b.count, weight: a.weight + b.weight, ...leftOut };
}
