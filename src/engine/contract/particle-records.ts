/** The records of a particle are its start, its position after every `recordEvery` steps, and its end. */
import { RequestError } from "../../errors.js";
import { type Operation, RECORDS, type RecordName } from "../../operations.js";
import type { Query, Result } from "./query.js";

/** The record of an operation; if particles stop at open faces, it may have the time of the exit after the position. */
export function recordOf({ result, family }: Operation, { exitTimes, openFaces }: Query): RecordName {
  return family === "track" && exitTimes === true && openFaces === "stop" ? "Exit" : result;
}

/** The record of a result. */
export function recordOfResult(operation: Operation, { components }: Pick<Result, "components">): RecordName {
  return operation.family === "track" && components === RECORDS.Exit.length ? "Exit" : operation.result;
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
export function recordTimes(checked: {
  readonly query: Query;
  readonly steps: number;
  readonly step: number;
  readonly last: number;
  readonly itemsPerPoint: number;
}): Float64Array | null {
  const { query, steps, step, last, itemsPerPoint: records } = checked;
  const { recordEvery, StartTime = 0 } = query;
  if (recordEvery === undefined) return null;
  const times = new Float64Array(records);
  for (let i = 0; i < records; i++) times[i] = StartTime + Math.min(i * recordEvery, steps) * step;
  if (last !== step) times[records - 1] = StartTime + (steps - 1) * step + last;
  return times;
}

/**
 * Records `first .. end - 1` that the steps `from + 1 .. to` make; the range of steps that starts at 0 makes the first
 * record.
 *
 * @param steps steps of the query
 * @param every steps between records; undefined: only the last step is recorded
 */
export function recordsBetween(
  steps: number,
  every: number | undefined,
  { from, to }: { readonly from: number; readonly to: number },
): { readonly first: number; readonly end: number } {
  const last = to === steps;
  if (every === undefined) return { first: 0, end: last ? 1 : 0 };
  const first = from === 0 ? 0 : Math.floor(from / every) + 1;
  return { first, end: last ? Math.ceil(steps / every) + 1 : Math.floor(to / every) + 1 };
}
