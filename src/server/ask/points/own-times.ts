/** Answers queries at points with separate times. */
import { type Evaluation, type Query, type Result, writeTriples } from "../../../engine/contract/query.js";
import { groupsOfTimes, type TimedGroup, triplesOf } from "../../../engine/contract/time-groups.js";
import { operationOf } from "../../../shared/operations.js";
import { refuse } from "../../http/refusal.js";
import type { RequestLife } from "../../http/request-life.js";

/**
 * Groups in the engine at once. Groups between stored frames run one after another: each needs three of the four frames
 * of the previous one, which are read once if the cache has room for five.
 */
const CONCURRENT = { apart: 4, betweenFrames: 1 } as const;

/** Points and their times, in the order of the operation's arrays. */
export interface TimedPoints {
  readonly points: Float32Array;
  readonly velocities?: Float32Array;
  readonly times: Float64Array;
}

/** Answers a query at points with separate times, with the same bits as one query for each time. */
export async function answerAtOwnTimes(
  life: RequestLife,
  query: Query,
  member: "time" | "StartTime",
  { points, velocities, times }: TimedPoints,
): Promise<Result> {
  const dataset = life.dataset(query.dataset ?? "");
  const groups = groupsOfTimes(query, operationOf(query.operation), dataset, member, times);
  const start = (group: TimedGroup): Evaluation => {
    const evaluation = life.start(group.query);
    writeTriples(evaluation.points, triplesOf(points, group.points));
    if (velocities !== undefined) writeTriples(evaluation.velocities, triplesOf(velocities, group.points));
    return evaluation;
  };
  const first = start(groups[0] as TimedGroup);
  const rest = times.length / (groups[0] as TimedGroup).points.length - 1;
  await life.acquireSlot(rest * Math.max(1, first.work), rest * first.extraRecords);
  let [numbers, head]: [Float32Array, Result | null] = [new Float32Array(0), null];
  const put = (result: Result, places: Uint32Array): void => {
    const width = result.itemsPerPoint * result.components;
    if (head === null) numbers = life.floats(width * times.length);
    head ??= result;
    if (head.itemsPerPoint !== result.itemsPerPoint)
      throw refuse("time", "Paths of different durations have different numbers of records: give dt and nt.");
    let at = 0;
    for (const part of result.values)
      for (let i = 0; i < part.length; i += width) {
        const to = places[at++];
        for (let c = 0; c < width; c++) numbers[width * to + c] = part[i + c];
      }
  };
  let next = 0;
  const failures: unknown[] = [];
  const work = async (): Promise<void> => {
    try {
      while (next < groups.length) {
        const index = next++;
        const group = groups[index] as TimedGroup;
        const evaluation = index === 0 ? first : start(group);
        const result = await evaluation.finish();
        try {
          put(result, group.points);
        } finally {
          result.release();
        }
        life.forget(evaluation);
        await life.slices.pause();
      }
    } catch (error) {
      failures.push(error);
      next = groups.length;
      life.abort();
    }
  };
  const between = groups.some((group) => group.query.weights !== undefined);
  const length = between ? CONCURRENT.betweenFrames : CONCURRENT.apart;
  await Promise.all(Array.from({ length }, work));
  if (failures.length > 0) throw failures[0];
  const { itemsPerPoint, components, record, recordTimes } = head as unknown as Result;
  return {
    ...{ items: times.length * itemsPerPoint, itemsPerPoint, components, values: [numbers], release: () => undefined },
    ...{ ...(record === undefined ? {} : { record }), ...(recordTimes === undefined ? {} : { recordTimes }) },
  };
}
