/** Finds the stored frames, with their weights, that represent the time of a query. */
import { frameWeights } from "../../kernels/time.js";
import type { FrameWeights, TimeAxis } from "../../kernels/types.js";
import type { Query } from "./query.js";

/** The frames of a checked query that has a time. */
export function framesOf(axis: TimeAxis, { time, temporalInterpolation = "None" }: Query): FrameWeights {
  return frameWeights(axis, time as number, temporalInterpolation);
}

/**
 * The weights of the frames of `framesOf` for `count` points with times of their own; undefined if they have none.
 *
 * @param placeOf the place in the query of each point
 */
export function ownWeights(
  axis: TimeAxis,
  { times, temporalInterpolation = "None" }: Query,
  count: number,
  placeOf: (point: number) => number,
): Float64Array | undefined {
  if (times === undefined) return undefined;
  const own: number[] = [];
  for (let i = 0; i < count; i++)
    for (const weight of frameWeights(axis, times[placeOf(i)] as number, temporalInterpolation).weights)
      own.push(weight);
  return Float64Array.from(own);
}
