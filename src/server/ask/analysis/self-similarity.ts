/**
 * Local slopes of structure functions of absolute increments against the third one.
 * Source: Benzi et al., Physical Review E 48 (1993) R29.
 */
import { nested } from "../../../analysis/nested.js";
import type { GroupAnswer } from "../../../analysis/reductions.js";

export const AGAINST = 3;

/**
 * Adds [ln S_p(r+) - ln S_p(r-)] / [ln S_3(r+) - ln S_3(r-)] to the rows of an axis, r- and r+ the separations before
 * and after r. `orders`: those in the answer, which may lack the third.
 */
export function withSlopes(rows: readonly GroupAnswer[], orders: readonly number[]): readonly GroupAnswer[] {
  const S = (r: number, p: number): number =>
    (rows[r]?.absolute as Readonly<Record<string, number>> | undefined)?.[p] ?? Number.NaN;
  const rise = (r: number, p: number) => Math.log(S(r + 1, p)) - Math.log(S(r - 1, p));
  const listed = (value: (p: number) => number) => Object.fromEntries(orders.map((p) => [p, nested([value(p)], [])]));
  return rows.map((row, r) => ({
    ...{ ...row, absolute: listed((p) => S(r, p)), slope: listed((p) => rise(r, p) / rise(r, AGAINST)) },
  }));
}
