/**
 * Exact quantiles by radix selection: values are weighed by digits of the 64 bits that order them, below given
 * prefixes. Four digits find a quantile, whatever the range of values; few values that remain are listed.
 */
import { isKnown, type LeftOut } from "./moments.js";

/** Options of a pass: the prefixes whose next digit is counted. */
export interface DigitsOptions {
  readonly of: number;
  /** Bits of each digit, 64 together; none has bits of both halves. */
  readonly widths: readonly number[];
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

/** The digits of the values of a group. @param weights null if all weigh 1 @param tables zeros, also at the end */
export function digitsOf(
  { prefixes: ofGroups, widths, listed }: DigitsOptions,
  values: Float64Array,
  weights: Float64Array | null,
  group: number,
  tables: Float64Array[],
): Digits {
  const prefixes = ofGroups[group];
  const starts = prefixes.map((digits) => wordsOf(digits, widths));
  const [lows, highs] = [0, 1].map((word) => Int32Array.from(starts, (one) => one[word]));
  const known = widths.slice(0, prefixes[0].length);
  const bits = listed > 0 ? 0 : (widths[known.length] ?? 0);
  const place = known.reduce((sum, one) => sum + one, 0);
  const ones = known.map((one) => 2 ** one - 1);
  const [lowMask, highMask] = wordsOf(ones, widths);
  // By first digit, 1 + the first prefix that begins with it.
  const firsts = new Uint8Array(2 ** widths[0]);
  for (let p = prefixes.length - 1; p >= 0 && place > 0; p--) firsts[prefixes[p][0]] = p + 1;
  const shift = 32 - widths[0];
  for (const t of [0, 1])
    if ((tables[t]?.length ?? 0) < starts.length << bits) tables[t] = new Float64Array(starts.length << bits);
  const [counts, sums] = [new Int32Array(tables[0].buffer), tables[1]];
  const found = starts.map((): number[] => []);
  const words = new Int32Array(values.buffer, values.byteOffset, 2 * values.length);
  const leftOut = { missing: 0, infinite: 0 };
  let weight = 0;
  // Closures over these variables would slow the loop.
  for (let i = 0, { length } = values; i < length; i++) {
    const top = words[2 * i + 1];
    if ((top & EXPONENT) === EXPONENT) {
      isKnown([values], i, leftOut);
      continue;
    }
    if (weights !== null) weight += weights[i];
    const sign = top >> 31;
    const low = words[2 * i] ^ sign;
    const high = top ^ (sign | 0x80000000);
    let p = place === 0 ? 0 : firsts[high >>> shift] - 1;
    if (p < 0) continue;
    while (p < highs.length && ((high & highMask) !== highs[p] || (low & lowMask) !== lows[p])) p++;
    if (p === highs.length) continue;
    if (bits === 0) found[p].push(i);
    else {
      const at = (p << bits) + (((place < 32 ? high : low) << place) >>> (32 - bits));
      if (counts[at]++ === 0) found[p].push(at);
      if (weights !== null) sums[at] += weights[i];
    }
  }
  const count = values.length - leftOut.missing - leftOut.infinite;
  const lists: DigitList[] = [];
  for (const [p, nodes] of found.entries())
    lists.push(bits === 0 ? valuesOf(nodes, values, weights) : digitsIn(nodes, p << bits, counts, weights && sums));
  return { lists, count, weight: weights === null ? count : weight, ...leftOut };
}

function valuesOf(nodes: number[], values: Float64Array, weights: Float64Array | null): DigitList {
  const sorted = Float64Array.from(nodes).sort((a, b) => values[a] - values[b]);
  const [ones, own] = [sorted.map(() => 1), sorted.map((i) => weights?.[i] ?? 1)];
  return { digits: sorted.map((i) => values[i]), counts: ones, weights: own };
}

function digitsIn(places: number[], first: number, counts: Int32Array, sums: Float64Array | null): DigitList {
  const sorted = Float64Array.from(places).sort();
  const own = sorted.map((at) => counts[at]);
  const weights = sums === null ? own : sorted.map((at) => sums[at]);
  for (const table of sums === null ? [counts] : [counts, sums]) for (const at of sorted) table[at] = 0;
  return { digits: sorted.map((at) => at - first), counts: own, weights };
}

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

export function mergeDigits(a: Digits, b: Digits): Digits {
  const lists = a.lists.map((list, p) => mergeLists(list, b.lists[p]));
  const leftOut = { missing: a.missing + b.missing, infinite: a.infinite + b.infinite };
  return { lists, count: a.count + b.count, weight: a.weight + b.weight, ...leftOut };
}
