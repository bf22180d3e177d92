/** Quantiles found digit by digit, in parts, against sorted values. */
import { expect, it } from "vitest";
import { type Digits, digitsOf, mergeDigits, numberOf } from "../../src/analysis/digits.js";
import { generator } from "../support/run-query.js";

const random = generator(20261129);
const VALUES = Float64Array.from({ length: 5000 }, (_, i) => {
  const sign = random() < 0.5 ? -1 : 1;
  if (i % 7 === 0) return sign * 2 ** Math.floor(200 * random() - 100);
  return i % 11 === 0 ? sign * 0 : sign * random();
});
const WEIGHTS = VALUES.map(() => 1 + Math.floor(3 * random()));
const PARTS = [0, 1, 2].map((part) => [2000 * part, Math.min(2000 * (part + 1), 5000)] as const);

const TABLES: Float64Array[] = [];
/** The values of which a digit more is known than of `prefix`, or all that begin with it. */
function found(widths: number[], prefix: number[], weights: Float64Array | null, listed: number): Digits {
  const options = { of: 0, widths, prefixes: [[prefix]], listed };
  const states = PARTS.map(([from, to]) =>
    digitsOf(options, VALUES.subarray(from, to), weights?.subarray(from, to) ?? null, 0, TABLES),
  );
  return states.reduce((a, b) => mergeDigits(a, b));
}

/** The smallest value with weight(values <= it) >= p W. */
function sorted(p: number, weights: Float64Array | null): number {
  const order = [...VALUES.keys()].sort((i, j) => compare(VALUES[i] as number, VALUES[j] as number));
  const all = weights === null ? VALUES.length : weights.reduce((sum, w) => sum + w, 0);
  let below = 0;
  for (const i of order) {
    below += weights?.[i] ?? 1;
    if (below >= p * all) return VALUES[i] as number;
  }
  return Number.NaN;
}
const compare = (a: number, b: number) => a - b || Number(Object.is(b, -0)) - Number(Object.is(a, -0));
const EIGHT = [8, 8, 8, 8, 8, 8, 8, 8];
const FOUR = [18, 14, 16, 16];

it.each<[number[], Float64Array | null]>([
  [EIGHT, null],
  [FOUR, null],
  [EIGHT, WEIGHTS],
  [FOUR, WEIGHTS],
])("digits of %j bits find the quantiles of sorted values, whenever the rest is listed", (widths, weights) => {
  for (const p of [0.001, 0.2, 0.5, 0.77, 0.999])
    for (let last = 1; last <= widths.length; last++) {
      const digits: number[] = [];
      let below = 0;
      for (let pass = 0; pass <= last && digits.length < widths.length; pass++) {
        const isListed = pass === last;
        const { lists, weight } = found(widths, digits, weights, isListed ? 1 : 0);
        const [list] = lists as [Digits["lists"][number]];
        let d = 0;
        while (below + (list.weights[d] as number) < p * weight) below += list.weights[d++] as number;
        digits.splice(isListed ? 0 : digits.length, 64, list.digits[d] as number);
        if (isListed) break;
      }
      const value = digits.length === 1 ? (digits[0] as number) : numberOf(digits, widths);
      expect(Object.is(value, sorted(p, weights)), `p = ${p}, listed after ${last} digits`).toBe(true);
    }
});
