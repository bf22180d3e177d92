/**
 * Plan of filters over cubes by tiles of nodes (`node-filters.ts`): each batch has all points, and evaluates those of
 * its part of the tiles, within which cubes share sums.
 */
import { BATCH_POINTS } from "../../contract/memory.js";
import type { BatchTask } from "../../contract/task.js";
import { batchInOrder, MIN_POINTS, type Plan, type PlanContext, valuesPerPoint } from "./plan.js";

/** Plans a query all of whose points have arrived. */
export function planByTiles(context: PlanContext): Plan {
  const { points, parallelism, buffers, checked } = context;
  const width = valuesPerPoint(checked);
  const out = buffers.floats(points.count * width);
  const sections = Math.ceil(points.count / BATCH_POINTS);
  const size = Math.ceil(points.count / Math.max(1, sections));
  const parts = Math.max(1, Math.min(parallelism, Math.floor(size / MIN_POINTS.box)));
  let taken = 0;
  return {
    values: [out],
    next(): BatchTask | null {
      if (taken === sections * parts) return null;
      const first = size * Math.floor(taken / parts);
      const count = Math.min(size, points.count - first);
      const part = { index: taken++ % parts, of: parts };
      const batch = batchInOrder(context, first, count, out.subarray(first * width, (first + count) * width));
      return { ...batch, part, work: batch.work / parts };
    },
    isFinished: () => taken === sections * parts,
    release: () => buffers.giveBack(out),
  };
}
