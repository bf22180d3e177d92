/** Interface of plans, which cut a query into tasks, and what all of them share. */
import { type Family, RECORDS } from "../../../shared/operations.js";
import { recordOf } from "../../contract/particle-records.js";
import type { BatchTask, Slab, SortTask, StepBudget } from "../../contract/task.js";
import type { BufferPool } from "../buffers.js";
import { type CheckedQuery, workOf } from "../check-query.js";
import type { Collector } from "../collector.js";
import type { DividedTask } from "../sharing.js";

/** Most float32 values in the result of a batch. */
export const BATCH_VALUES = 4 * 1024 * 1024;
/** Fewest points worth a separate batch or message. */
export const MIN_POINTS: Readonly<Record<Family, number>> = {
  points: 1024,
  force: 1024,
  track: 64,
  filter: 1,
  box: 64,
  search: 1,
  cutout: 1,
  arrays: 1,
  echo: 1,
};
/** Most particles of a batch: all take a step before its time slice can end. */
export const MAX_PARTICLES = 4096;

/** The query, and the values that its batches share. */
export interface PlanContext {
  readonly checked: CheckedQuery & { readonly dataset: NonNullable<CheckedQuery["dataset"]> };
  readonly points: Collector;
  readonly velocities: Collector;
  readonly buffers: BufferPool;
  readonly parallelism: number;
  /** Number of the dataset's first field in the brick cache. */
  readonly source: number;
  /** Number of the combined bricks of this query in the brick cache. */
  numberCombination(): number;
  /** Most float32 values in the result of a batch by arrival. */
  readonly mostValues: number;
  /** Word 0 becomes 1 when the query is cancelled. */
  readonly cancel: Int32Array;
  /** The bound on adaptive steps; null or absent for steps that are known in advance. */
  readonly stepBudget?: StepBudget | null;
}

/** Hands out the tasks of a query one after the other. */
export interface Plan {
  /** Parts of the result, in order. */
  readonly values: readonly Float32Array[];
  /** The next task, or null if there is none now. `outstanding`: number of running tasks. */
  next(hasAll: boolean, outstanding: number): BatchTask | SortTask | DividedTask | null;
  /** Whether every task has been handed out, once all points have arrived. */
  isFinished(): boolean;
  /** Gives the buffer of a part back; plans by arrival only. */
  drop?(part: number): void;
  /** Gives the buffers back. */
  release(): void;
}

/** Float32 values in the result of one point. */
export function valuesPerPoint({ itemsPerPoint, operation, query }: CheckedQuery): number {
  return itemsPerPoint * RECORDS[recordOf(operation, query)].length;
}

/** Makes a batch. */
export function batchOf(
  { checked, velocities, source, cancel, stepBudget }: PlanContext,
  part: Pick<BatchTask, "points" | "first" | "count" | "out" | "outIndices" | "combined">,
): BatchTask {
  const { query, dataset, fields, steps, step, last, itemsPerPoint } = checked;
  return {
    kind: "batch",
    query,
    fields,
    dataset,
    source,
    velocities: velocities.count > 0 ? sliceSlabs(velocities.slabs, part.first, part.count) : [],
    steps,
    step,
    last,
    itemsPerPoint,
    cancel,
    ...(stepBudget ? { stepBudget } : {}),
    work: workOf(checked, part.count),
    ...part,
  };
}

/** Makes a batch of consecutive points, in their order. */
export function batchInOrder(context: PlanContext, first: number, count: number, out: Float32Array): BatchTask {
  const points = sliceSlabs(context.points.slabs, first, count);
  return batchOf(context, { points, first, count, out, outIndices: null });
}

/** Triples `first .. first + count - 1` of a list of slabs. */
export function sliceSlabs(slabs: readonly Slab[], first: number, count: number): readonly Slab[] {
  const parts: Slab[] = [];
  let skip = first;
  let left = count;
  for (const slab of slabs) {
    if (left === 0) break;
    if (skip >= slab.count) {
      skip -= slab.count;
      continue;
    }
    const here = Math.min(left, slab.count - skip);
    parts.push({ triples: slab.triples.subarray(3 * skip, 3 * (skip + here)), count: here });
    left -= here;
    skip = 0;
  }
  return parts;
}
