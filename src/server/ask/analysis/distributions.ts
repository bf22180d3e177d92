/** Quantiles by radix selection, and central moments beyond the fourth. */
import { type DigitList, type Digits, numberOf } from "../../../analysis/digits.js";
import { compileExpression, compileScalar, componentsIn } from "../../../analysis/expression.js";
import type { Names } from "../../../analysis/names.js";
import { nested } from "../../../analysis/nested.js";
import type { GroupAnswer } from "../../../analysis/reductions.js";
import type { Analysis } from "./analysis.js";
import { nanUnless } from "./conditions.js";
import { coordinatesOf, type ReductionRequest } from "./reductions.js";

/** Bits of the digits: few large ones, or small ones for more than `MAX_OF_FEW` quantiles of all positions together. */
const FEW_DIGITS = [18, 14, 16, 16];
const MAX_OF_FEW = 64;
/** Most values that are listed instead of counting their next digits. */
const MAX_LISTED = 2 ** 17;
/** Tolerance for rounding when a weight is compared with p W. */
const ROUNDING = 1e-12;

/** A reduction in terms of others: their rows, and how its result follows from theirs. */
export interface ExpandedRequest {
  readonly reductions: readonly ReductionRequest[];
  /** Whether the answer names the quantities of the rows, and `finish` reduces them. */
  readonly namesOnly?: boolean;
  finish(results: readonly GroupAnswer[], analysis: Analysis, scale: number): GroupAnswer | Promise<GroupAnswer>;
}

/** Quantiles of a scalar, with the counts of its values. Throws RequestError for others. */
export function quantiles(text: string, at: readonly number[], index: number, names: Names): ExpandedRequest {
  compileScalar(text, names, `reduce[${index}].quantiles`);
  return {
    reductions: [{ moments: text, order: 1 }],
    namesOnly: true,
    finish: (_, analysis) => quantilesOf(text, at, analysis),
  };
}

/** Quantile p at each position: the smallest value with weight(values <= it) >= (p - 1e-12) W. */
async function quantilesOf(text: string, at: readonly number[], { nodes, reduce }: Analysis): Promise<GroupAnswer> {
  const { extent, kept } = nodes.base;
  const lengths = extent.filter((_, a) => kept[a]);
  const groups = lengths.reduce((product, n) => product * n, 1);
  const widths = groups * at.length > MAX_OF_FEW ? new Array<number>(8).fill(8) : FEW_DIGITS;
  const start = (p: number) => ({ p, digits: [] as number[], below: 0, count: 0 });
  const found = Array.from({ length: groups }, () => at.map(start));
  const nest = (list: readonly unknown[]): unknown => nested(list, lengths.toReversed());
  let [passes, listed] = [0, 0];
  let states: readonly Digits[] = [];
  for (; listed === 0 && passes < widths.length; passes++) {
    // Quantiles with the same digits so far have one list.
    const keys = found.map((own) => [...new Map(own.map((one) => [one.digits.join(), one]))]);
    const prefixes = keys.map((own) => own.map(([, { digits }]) => digits));
    const left = keys.flat().reduce((sum, [, { count }]) => sum + count, 0);
    listed = left <= MAX_LISTED ? left : 0;
    const reductions = [{ kind: "digits", of: 0, widths, prefixes, listed } as const];
    states = (await reduce(nodes, { columns: [text], reductions })).states(0) as readonly Digits[];
    for (const [g, { lists, weight }] of states.entries())
      for (const one of weight > 0 ? (found[g] as (typeof found)[number]) : []) {
        const list = (keys[g] as (typeof keys)[number]).findIndex(([key]) => key === one.digits.join());
        const { digits, counts, weights } = lists[list] as DigitList;
        const aim = (one.p - ROUNDING) * weight;
        let d = 0;
        while (d < digits.length - 1 && one.below + weights[d] < aim) one.below += weights[d++];
        one.digits = [...(listed > 0 ? [] : one.digits), digits[d]];
        one.count = counts[d];
      }
  }
  const values = found.map((own) => own.map(({ digits }) => (digits.length > 0 ? numberOf(digits, widths) : null)));
  const counted = (name: "count" | "missing" | "infinite") => nest(states.map((one) => one[name]));
  const counts = { count: counted("count"), missing: counted("missing"), infinite: counted("infinite") };
  return { of: text, at: [...at], values: nest(values), passes, ...coordinatesOf(nodes.base), ...counts };
}

/** Moments beyond the fourth from means of powers of fluctuations; null for other reductions. Throws RequestError. */
export function higherMoments(
  row: ReductionRequest,
  index: number,
  names: Names,
  where?: string,
): ExpandedRequest | null {
  const { moments, order } = row;
  if (moments === undefined || typeof order !== "number" || order <= 4) return null;
  const powers = Array.from({ length: order - 1 }, (_, n) => n + 2);
  const text = String(moments);
  const { shape } = compileExpression(text, names, `reduce[${index}].moments`);
  const components = componentsIn(text, shape).map((one) => (where === undefined ? one : nanUnless(where, one)));
  const ofPowers = powers.flatMap((n) => components.map((one) => ({ moments: `fluc(${one})^${n}`, order: 1 })));
  return {
    reductions: [{ ...row, order: 4 }, ...ofPowers],
    finish([first, ...results]) {
      const all = results.map(({ mean }) => mean);
      const means = powers.map(() => (shape === "scalar" ? all.shift() : all.splice(0, components.length)));
      const central = powers.map((n, i) => [String(n), means[i]] as const);
      const scaled = powers.map((n, i) => [n, standardised(means[i], means[0], n)] as const);
      return { ...first, central: Object.fromEntries(central), standardised: Object.fromEntries(scaled) };
    },
  };
}

/** m_n / m_2^(n/2). */
function standardised(mean: unknown, variance: unknown, n: number): unknown {
  if (Array.isArray(mean)) return mean.map((one, i) => standardised(one, (variance as unknown[])[i], n));
  return typeof mean === "number" && typeof variance === "number" && variance > 0 ? mean / variance ** (n / 2) : null;
}
