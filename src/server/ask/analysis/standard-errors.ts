/**
 * Standard errors of means over frames, of the series of blocks of frames.
 * With deviations d_i of n blocks from their mean and c_k = sum d_i d_(i+k) / n, n_eff = n / (1 + 2 sum c_k / c_0) up to
 * the first c_k <= 0, and se = sqrt(sum d_i^2 / (n - 1) / n_eff). Other results are jackknifed over blocks of at least
 * n / n_eff frames. Source: Bayley and Hammersley, J. Royal Stat. Soc. 8 (1946) 184; Kunsch, Annals of Stat. 17 (1989) 1217.
 */
import type { GroupAnswer } from "../../../analysis/reductions.js";

/** Effective number of samples below which an error is meaningless. */
const LEAST = 5;
/** Members that have an error. */
const MEMBERS = ["mean", "variance", "skewness", "flatness", "means", "matrix"];

type Leaves = readonly (number | null)[];

const numbersIn = (value: unknown): Leaves =>
  [value].flat(8).map((one) => (typeof one === "number" && Number.isFinite(one) ? one : null));

const meanOf = (list: readonly number[]): number => list.reduce((sum, one) => sum + one, 0) / list.length;

/** The effective number of samples in a series. */
function effectiveNumber(series: readonly number[]): number {
  const n = series.length;
  const mean = meanOf(series);
  const c = (k: number): number => {
    let sum = 0;
    for (let i = 0; i + k < n; i++) sum += (series[i] - mean) * (series[i + k] - mean);
    return sum;
  };
  const c0 = c(0);
  let sum = 0;
  for (let k = 1; k < n && c0 > 0; k++) {
    const ck = c(k);
    if (ck <= 0) break;
    sum += ck / c0;
  }
  return n / (1 + 2 * sum);
}

/** Adds standard errors to the members of an answer; null with a reason where there is none. */
export function withErrors<State>(
  frames: readonly State[],
  by: number,
  merge: (a: State, b: State) => State,
  finish: (state: State) => GroupAnswer,
): GroupAnswer {
  const joined = (some: readonly State[]): State => some.slice(1).reduce(merge, some[0]);
  const cut = (list: readonly State[], size: number): State[] =>
    Array.from({ length: Math.floor(list.length / size) }, (_, i) => joined(list.slice(i * size, (i + 1) * size)));
  const answer = finish(joined(frames));
  const blocks = cut(frames, by);
  const parts = blocks.map(finish);
  const names = MEMBERS.filter((name) => Object.hasOwn(answer, name));
  const errors = names.map((name): readonly [string, unknown] => {
    const series = parts.map((part) => numbersIn(part[name]));
    const leaves = numbersIn(answer[name]).map((_, leaf) => series.map((list) => list[leaf]));
    const whole = leaves.map((list) =>
      list.some((one) => one === null) || list.length < LEAST ? null : (list as number[]),
    );
    const effective = whole.map((list) => (list === null ? 0 : effectiveNumber(list)));
    if (name === "mean" || name === "means")
      return [name, effective.map((n, i) => (n < LEAST ? null : sampleDeviation(whole[i] as number[]) / Math.sqrt(n)))];
    const known = effective.filter((n) => n >= LEAST);
    if (known.length === 0) return [name, effective.map(() => null)];
    const some = cut(blocks, Math.ceil(blocks.length / Math.min(...known)));
    const without = some.map((_, i) => numbersIn(finish(joined(some.filter((_one, j) => j !== i)))[name]));
    return [name, effective.map((n, i) => (n < LEAST ? null : jackknifed(without.map((list) => list[i]))))];
  });
  const least = errors.some(([, list]) => (list as Leaves).includes(null));
  const shaped = errors.map(([name, list]) => [`${name}_se`, shapedAs(answer[name], (list as Leaves).values())]);
  const reason = `null: fewer than ${LEAST} independent blocks of ${blocks.length}`;
  return { ...answer, ...Object.fromEntries(shaped), blocks: blocks.length, ...(least ? { se_reason: reason } : {}) };
}

function sampleDeviation(list: readonly number[]): number {
  const mean = meanOf(list);
  return Math.sqrt(list.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (list.length - 1));
}

/** The jackknife error of estimates that each leave out one block. */
function jackknifed(list: Leaves): number | null {
  if (list.length < 2 || list.includes(null)) return null;
  return (sampleDeviation(list as number[]) * (list.length - 1)) / Math.sqrt(list.length);
}

/** Arranges a list of numbers in the nested lists of `value`. */
function shapedAs(value: unknown, list: Iterator<number | null>): unknown {
  return Array.isArray(value) ? value.map((one) => shapedAs(one, list)) : list.next().value;
}
