/** Finds the stored frames, with their weights, that represent the time of a query. */
import { frameWeights } from "../../kernels/time.js";
import type { FrameWeights, TimeAxis } from "../../kernels/types.js";
import type { Query } from "./query.js";

export function framesOf(axis: TimeAxis, { time, temporalInterpolation = "None" }: Query): FrameWeights {
  return frameWeights(axis, time as number, temporalInterpolation);
}
