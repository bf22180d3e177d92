/** Finds the stored frames, with their weights, that represent the time of a query. */
import { frameWeights, timeInRange } from "../../kernels/time.js";
import type { FrameWeights, TimeAxis } from "../../kernels/types.js";
import type { Query } from "./query.js";

/** The frames of a checked query that has a time. */
export function framesOf(axis: TimeAxis, { time, temporalInterpolation = "None" }: Query): FrameWeights {
  return frameWeights(axis, time as number, temporalInterpolation);
}

/** The frames behind values at times, ascending, counted from 1 at the first queryable frame; none out of range. */
export function framesUsed(axis: TimeAxis, times: readonly number[], method: "None" | "PCHIP"): readonly number[] {
  const inRange = times.filter((time) => timeInRange(axis, time));
  const frames = new Set(inRange.flatMap((time) => [...frameWeights(axis, time, method).frames]));
  return [...frames].map((frame) => frame - axis.guardBefore + 1).sort((a, b) => a - b);
}
