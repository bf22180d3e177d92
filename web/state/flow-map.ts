/** Flow maps as a quantity: `ftle(T)`, the stretching of particles over a time T, backwards if it is negative. */
import type { Question } from "./ask.js";
import { type Dataset, shortestOf } from "./dataset.js";
import { exactNumber } from "./format.js";

/** The duration of a quantity that is a flow map; null for other quantities. */
export function durationOf(what: string): number | null {
  const [, text] = /^ftle\((-?[\d.]+(?:e[-+]?\d+)?)\)$/.exec(what) ?? [];
  return text === undefined ? null : Number(text);
}

const [STEPS, MAX_STEPS] = [4, 200];

/** Samples along the longest axis of boxes of flow maps, coarse and fine: each is the path of a particle. */
export const PATH_SAMPLES = [16, 32] as const;

/** Whether a dataset has flow maps: axes that are periodic with equal steps, several times and a velocity. */
export function hasFlowMaps({ axes, times, fields }: Dataset): boolean {
  const most = Math.max(...axes.map(({ nodes }) => nodes));
  const isRegular = axes.every(
    ({ periodic, coordinates, nodes }) =>
      periodic && coordinates === undefined && PATH_SAMPLES.every((n) => nodes % Math.ceil(most / n) === 0),
  );
  return isRegular && times.length > 1 && fields.some(({ name }) => name === "velocity");
}

/** A quantity as a column: rows have columns x, y, z and t already, which these quantities alone would name again. */
export const columnOf = (what: string): string => (/^[xyzt]$/.test(what) ? `${what}+0` : what);

/** The question with a flow map's interval instead of its time; the service refuses one that ends beyond the stored times. */
export function asFlowMap(
  { dataset, times }: { dataset: string; times: readonly number[] },
  requested: Question,
): Question {
  const duration = durationOf(String(Array.isArray(requested.what) ? requested.what[0] : requested.what));
  if (duration === null) return requested;
  const { time, points, samples, method, x, y, z } = requested;
  const mean = ((times.at(-1) as number) - times[0]) / (times.length - 1);
  // Steps are parts of the shortest interval, unless these are very many; no longer than those of the mean one.
  const step = Math.min(mean / STEPS, Math.max(shortestOf(times) / STEPS, Math.abs(duration) / MAX_STEPS));
  const at = Array.isArray(points) ? (points[0] as readonly number[]) : null;
  const places = at === null ? { x, y, z } : { x: at[0], y: at[1], z: at[2] };
  const given = Object.entries({ ...places, samples }).filter(([, value]) => value !== undefined);
  return {
    ...{ dataset, call: "flow_map", what: "ftle", ...Object.fromEntries(given) },
    ...{ time: `${Number(time)}:${exactNumber(Number(time) + duration)}`, step: Number(step.toPrecision(6)), method },
  };
}
