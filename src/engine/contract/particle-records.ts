/** Records of a particle: its start, its position after every `recordEvery` steps, and its end. */
import { RequestError } from "../../shared/errors.js";
import type { Operation, RecordName } from "../../shared/operations.js";
import type { Query } from "./query.js";
import type { BatchTask } from "./task.js";

/** The record of an operation; tracking may add the time of the exit, and the number of adaptive steps. */
export function recordOf(
  { result, family }: Operation,
  { exitTimes, openFaces, integrator, flowMap }: Query,
): RecordName {
  if (family !== "track") return result;
  if (flowMap !== undefined) return "FlowMap";
  const exits = exitTimes === true && openFaces === "stop";
  if (integrator === "dopri5") return exits ? "ExitSteps" : "Steps";
  return exits ? "Exit" : result;
}

/**
 * Number of records of a particle; null without `recordEvery`.
 *
 * @throws RequestError unless `recordEvery` is a whole number >= 1
 */
export function countRecords({ recordEvery }: Query, steps: number): number | null {
  if (recordEvery === undefined) return null;
  if (!Number.isInteger(recordEvery) || recordEvery < 1) {
    const text = `recordEvery must be a whole number of steps, at least 1: ${recordEvery}`;
    throw new RequestError("InvalidRequest", text, { member: "recordEvery" });
  }
  return 1 + Math.ceil(steps / recordEvery);
}

/** Times of the records of a particle; null without `recordEvery`. */
export function recordTimes({
  query,
  steps,
  step,
  last,
  itemsPerPoint: records,
}: Pick<BatchTask, "query" | "steps" | "step" | "last" | "itemsPerPoint">): Float64Array | null {
  const { recordEvery, StartTime = 0 } = query;
  if (recordEvery === undefined) return null;
  const times = new Float64Array(records);
  for (let i = 0; i < records; i++) times[i] = StartTime + Math.min(i * recordEvery, steps) * step;
  if (last !== step) times[records - 1] = StartTime + (steps - 1) * step + last;
  return times;
}
