/** How much work a query may be. */
import type { Limits } from "../../config.js";
import type { CheckedQuery } from "../check.js";

/** How many points a query may have, by the limit that binds first; `query.points` bounds points and records alike. */
export function pointLimit(
  limits: Limits,
  checked: CheckedQuery | null,
): { readonly points: number; readonly name: string } {
  const bounds = [{ points: Math.floor(limits["query.points"] / (checked?.itemsPerPoint ?? 1)), name: "query.points" }];
  if (checked && checked.steps > 0) {
    bounds.push({ points: Math.floor(limits["query.particleSteps"] / checked.steps), name: "query.particleSteps" });
  }
  if (checked && checked.samples > 1) {
    bounds.push({ points: Math.floor(limits["query.filterSamples"] / checked.samples), name: "query.filterSamples" });
  }
  return bounds.reduce((least, bound) => (bound.points < least.points ? bound : least));
}
