/** Quantiles by ordered bits, and central moments beyond the fourth. */

import { type DigitList, type Digits, numberOf } from "../../../analysis/digits.js";
import { compileScalar } from "../../../analysis/expression.js";
import { nested } from "../../../analysis/nested.js";
import type { GroupAnswer } from "../../../analysis/reductions.js";
import { wrong } from "../faults.js";
import type { MemberValues } from "../question/read-member.js";
import { type AnalysedNodes, reductionOf } from "./analysed-nodes.js";
import type { Means } from "./statistics.js";

type Row = Readonly<Record<string, unknown>>;

/** Quantiles that are asked together, at most. */
const MOST_QUANTILES = 32;
/** Quantiles of all places together beyond which digits have 8 bits. */
const MOST_OF_16_BITS = 64;
/** Values that are listed instead of counting their next digits, at most. */
const MOST_LISTED = 2 ** 17;
/** How far a weight may be below p W: rounding. */
const ROUNDING = 1e-12;

/** Rows of quantiles become rows of means, whose counts their answers have. @throws RequestError */
export function withoutQuantiles(reduce: readonly Row[]): readonly Row[] {
  return reduce.map((row, i) => {
    if (row.quantiles === undefined) return row;
    const member = `reduce[${i}]`;
    const at = row.at as unknown;
    const isProbability = (p: unknown) => typeof p === "number" && p >= 0 && p <= 1;
    if (typeof row.quantiles !== "string") throw wrong(`${member}.quantiles`, "expected a quantity");
    if (!Array.isArray(at) || at.length < 1 || at.length > MOST_QUANTILES || !at.every(isProbability))
      throw wrong(`${member}.at`, `expected 1 to ${MOST_QUANTILES} numbers from 0 to 1, such as [0.05, 0.5, 0.95]`);
    const odd = Object.keys(row).find((name) => name !== "quantiles" && name !== "at");
    if (odd !== undefined) throw wrong(`${member}.${odd}`, "quantiles have at");
    return { moments: row.quantiles, order: 1 };
  });
}

/** The results of quantiles in place of those of their means. */
export async function withQuantiles(
  reduce: readonly Row[],
  results: readonly GroupAnswer[],
  asked: MemberValues,
  places: AnalysedNodes,
  means: Pick<Means, "reduce">,
): Promise<readonly GroupAnswer[]> {
  const answers: GroupAnswer[] = [];
  for (const [i, row] of reduce.entries()) {
    const { of: _, mean: __, min: ___, max: ____, ...counts } = results[i] as GroupAnswer;
    if (row.quantiles === undefined) answers.push(results[i] as GroupAnswer);
    else
      answers.push({
        ...(await quantilesOf(String(row.quantiles), row.at as number[], asked, places, means)),
        ...counts,
      });
  }
  return answers;
}

/** Quantile p is the smallest value with weight(values <= it) >= (p - 1e-12) W, of each place. */
async function quantilesOf(
  text: string,
  at: readonly number[],
  { over = ["x", "y", "z", "t"] }: MemberValues,
  places: AnalysedNodes,
  { reduce }: Pick<Means, "reduce">,
): Promise<GroupAnswer> {
  compileScalar(text, places.base.names, "reduce.quantiles");
  const { extent } = places.base;
  const kept = (["x", "y", "z", "t"] as const).map(
    (one, a) => !over.includes(one) && (one !== "t" || extent[a as 3] > 1),
  );
  const base = { ...places.base, kept: kept as unknown as AnalysedNodes["base"]["kept"] };
  const lengths = extent.filter((_, a) => kept[a]);
  const groups = lengths.reduce((product, n) => product * n, 1);
  const bits = groups * at.length > MOST_OF_16_BITS ? 8 : 16;
  const found = Array.from({ length: groups }, () =>
    at.map((p) => ({ p, digits: [] as number[], below: 0, count: 0 })),
  );
  let [passes, listed] = [0, 0];
  for (; listed === 0 && passes < 64 / bits; passes++) {
    // Quantiles with the same digits so far have one list.
    const keys = found.map((own) => [...new Map(own.map((one) => [one.digits.join(), one]))]);
    const prefixes = keys.map((own) => own.map(([, { digits }]) => digits));
    const left = keys.flat().reduce((sum, [, { count }]) => sum + count, 0);
    listed = left <= MOST_LISTED ? left : 0;
    const reductions = [{ kind: "digits", of: 0, bits, prefixes, listed } as const];
    const merged = await reduce(reductionOf({ ...places, base }, { columns: [text], reductions }), places);
    for (const [g, { lists, weight }] of (merged.states(0) as readonly Digits[]).entries())
      for (const one of weight > 0 ? (found[g] as (typeof found)[number]) : []) {
        const list = (keys[g] as (typeof keys)[number]).findIndex(([key]) => key === one.digits.join());
        const { digits, counts, weights } = lists[list] as DigitList;
        const aim = (one.p - ROUNDING) * weight;
        let d = 0;
        while (d < digits.length - 1 && one.below + (weights[d] as number) < aim) one.below += weights[d++] as number;
        one.digits = [...(listed > 0 ? [] : one.digits), digits[d] as number];
        one.count = counts[d] as number;
      }
  }
  const values = found.map((own) =>
    own.map(({ digits: [first = null, ...more] }) =>
      more.length === 0 ? first : numberOf([first as number, ...more]),
    ),
  );
  return { of: text, at: [...at], values: nested(values, lengths.toReversed()), passes };
}

/** Moments beyond the fourth become means of powers of fluctuations. @throws RequestError */
export function higherMoments(reduce: readonly Row[]): {
  readonly rows: readonly Row[];
  collect(results: readonly GroupAnswer[]): readonly GroupAnswer[];
} {
  const powers = reduce.map(({ moments, order }, i) => {
    if (moments === undefined || typeof order !== "number" || order <= 4) return [];
    if (!Number.isInteger(order) || order > 8) throw wrong(`reduce[${i}].order`, "moments have orders 1 to 8");
    return Array.from({ length: order - 1 }, (_, n) => n + 2);
  });
  const rows = reduce.flatMap((row, i): readonly Row[] => {
    const own = powers[i] as readonly number[];
    if (own.length === 0) return [row];
    return [{ ...row, order: 4 }, ...own.map((n) => ({ moments: `fluc(${row.moments})^${n}`, order: 1 }))];
  });
  return {
    rows,
    collect(results) {
      let at = 0;
      return reduce.map((_, i) => {
        const first = results[at++] as GroupAnswer;
        const own = powers[i] as readonly number[];
        if (own.length === 0) return first;
        const central = own.map((n) => [String(n), (results[at++] as GroupAnswer).mean] as const);
        const [[, variance]] = central as [readonly [string, unknown]];
        const scaled = central.map(([n, mean]) => [n, standardised(mean, variance, Number(n))] as const);
        return { ...first, central: Object.fromEntries(central), standardised: Object.fromEntries(scaled) };
      });
    },
  };
}

/** m_n / m_2^(n/2). */
function standardised(mean: unknown, variance: unknown, n: number): unknown {
  if (Array.isArray(mean)) return mean.map((one, i) => standardised(one, (variance as unknown[])[i], n));
  return typeof mean === "number" && typeof variance === "number" && variance > 0 ? mean / variance ** (n / 2) : null;
}
