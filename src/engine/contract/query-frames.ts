/** Finds the stored frames, with their weights, that represent the time of a query. */
import { frameWeights } from "../../kernels/time.js";
import type { FrameWeights, TimeAxis } from "../../kernels/types.js";
import type { Query } from "./query.js";

/** The frames of a checked query that has a time. */
export function framesOf(axis: TimeAxis, { time, temporalInterpolation = "None" }: Query): FrameWeights {
  return frameWeights(axis, time as number, temporalInterpolation);
}
