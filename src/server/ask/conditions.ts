/** Conditions and means of questions: `mean(e)` and `rms(e)` become the numbers that a pass over the region gives. */
import { compileScalar } from "../../analysis/expression.js";
import type { Moments } from "../../analysis/moments.js";
import { type AnalysedNodes, reductionOf } from "../rest/analysis/analysis-request.js";
import type { Reduce } from "../rest/analysis/statistics.js";
import { wrong } from "./faults.js";

/** What means stand for. */
export type KnownMeans = Readonly<Record<string, number>>;

/** The innermost `mean(...)` or `rms(...)` of a text; null if there is none. */
function innermost(
  text: string,
): { readonly from: number; readonly to: number; readonly kind: "mean" | "rms"; readonly of: string } | null {
  const calls = [...text.matchAll(/(?<![\w.])(mean|rms)\s*\(/g)];
  const last = calls.at(-1);
  if (last === undefined) return null;
  const open = last.index + last[0].length;
  let depth = 1;
  let at = open;
  while (at < text.length && depth > 0) {
    if (text[at] === "(") depth++;
    if (text[at] === ")") depth--;
    at++;
  }
  if (depth > 0) return null;
  return { from: last.index, to: at, kind: last[1] as "mean" | "rms", of: text.slice(open, at - 1).trim() };
}

/**
 * Replaces the means in a text by their values, innermost first: rms(e) is sqrt(mean(e^2)), the mean kept.
 *
 * @param known takes the values, by their texts
 * @throws RequestError for a mean of nothing, or of what is no scalar
 */
export async function withMeans(
  text: string,
  places: AnalysedNodes,
  reduce: Reduce,
  known: Record<string, number>,
  member = "where",
): Promise<string> {
  let rest = text;
  for (let call = innermost(rest); call !== null; call = innermost(rest)) {
    const { kind, of, from, to } = call;
    compileScalar(of, places.base.names, member);
    const name = rest.slice(from, to);
    if (known[name] === undefined) {
      const column = kind === "rms" ? `(${of})^2` : of;
      const base = { ...places.base, kept: [false, false, false, false] as const };
      const reductions = [{ kind: "moments", of: 0, order: 1 } as const];
      const merged = await reduce(reductionOf({ ...places, base }, { columns: [column], reductions }), places);
      const { count, mean } = merged.states(0)[0] as Moments;
      if (count === 0) throw wrong(member, `${name} is of nothing: the region has no value`);
      known[name] = kind === "rms" ? Math.sqrt(mean) : mean;
    }
    rest = `${rest.slice(0, from)}(${known[name]})${rest.slice(to)}`;
  }
  return rest;
}

/** What is where a condition holds, and not a number elsewhere. */
export function whereHolds(condition: string, text: string): string {
  return `(${condition}) ? (${text}) : (0/0)`;
}
