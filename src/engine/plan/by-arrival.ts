/** Cutting a query into pieces of work, in the order in which its points arrive. */
import { type Family, RECORDS } from "../../operations.js";
import type { CheckedQuery } from "../check.js";
import type { BufferPool } from "../points/buffers.js";
import type { Collector } from "../points/collector.js";
import type { BatchTask, Segment, SortTask } from "../task.js";
import { BATCH_POINTS } from "../threads/memory.js";

/** Float32 values that the result of one batch may have, so that results with many numbers a point come in pieces. */
export const BATCH_VALUES = 4 * 1024 * 1024;
/** Fewest points worth a batch, or a message, of their own. */
export const LEAST_POINTS: Readonly<Record<Family, number>> = {
  points: 1024,
  force: 1024,
  track: 64,
  filter: 1,
  echo: 1,
};
/** Batches per worker that waiting points of box filters are cut into, since one may take much longer than another. */
const FILTER_BATCHES = 4;

/** What the batches of one query share. */
export interface Job {
  readonly checked: CheckedQuery & { readonly dataset: NonNullable<CheckedQuery["dataset"]> };
  readonly points: Collector;
  readonly velocities: Collector;
  readonly buffers: BufferPool;
  readonly workers: number;
  /** Number of the dataset's first field in the brick cache. */
  readonly source: number;
  /** Word 0 becomes 1 when batches need not go on. */
  readonly cancel: Int32Array;
}

/** Hands out the work of a query piece by piece. */
export interface Cutter {
  /** Parts of the result, in order. */
  readonly values: readonly Float32Array[];
  /**
   * The next piece, or null when there is none now.
   *
   * @param ended       whether all points are in
   * @param outstanding pieces that run
   */
  next(ended: boolean, outstanding: number): BatchTask | SortTask | null;
  /** Whether every piece has been handed out, once all points are in. */
  complete(): boolean;
  /** Gives the buffers back. */
  release(): void;
}

/** Float32 values in the result of one point. */
export function valuesPerPoint({ itemsPerPoint, operation }: CheckedQuery): number {
  return itemsPerPoint * RECORDS[operation.result].length;
}

/** A batch of a job. */
export function batchOf(
  { checked, velocities, source, cancel }: Job,
  piece: Pick<BatchTask, "points" | "first" | "count" | "out" | "places" | "pass">,
): BatchTask {
  const { query, dataset, steps, step, itemsPerPoint } = checked;
  return {
    kind: "batch",
    query,
    dataset,
    source,
    velocities: velocities.count > 0 ? segmentsOf(velocities.slabs, piece.first, piece.count) : [],
    steps,
    step,
    itemsPerPoint,
    cancel,
    ...piece,
  };
}

/** Triples `first .. first + count - 1` of a list of slabs. */
export function segmentsOf(slabs: readonly Segment[], first: number, count: number): readonly Segment[] {
  const segments: Segment[] = [];
  let skip = first;
  let left = count;
  for (const slab of slabs) {
    if (left === 0) break;
    if (skip >= slab.count) {
      skip -= slab.count;
      continue;
    }
    const here = Math.min(left, slab.count - skip);
    segments.push({ triples: slab.triples.subarray(3 * skip, 3 * (skip + here)), count: here });
    left -= here;
    skip = 0;
  }
  return segments;
}

/** Batches in order of arrival, from the first points on; points that wait for a worker gather into larger ones. */
export function cutByArrival(job: Job): Cutter {
  const { family } = job.checked.operation;
  const smallest = LEAST_POINTS[family];
  const width = valuesPerPoint(job.checked);
  const largest = Math.max(1, Math.min(BATCH_POINTS, Math.floor(BATCH_VALUES / width)));
  const values: Float32Array[] = [];
  let taken = 0;
  return {
    values,
    next(ended) {
      const waiting = job.points.count - taken;
      if (waiting === 0 || (!ended && (family === "track" || waiting < smallest))) return null;
      const even = Math.ceil(waiting / (family === "filter" ? FILTER_BATCHES * job.workers : job.workers));
      const count = Math.min(waiting, Math.max(smallest, even), largest);
      const first = taken;
      taken += count;
      const out = new Float32Array(job.buffers.take(4 * count * width), 0, count * width);
      values.push(out);
      return batchOf(job, {
        points: segmentsOf(job.points.slabs, first, count),
        first,
        count,
        out,
        places: null,
        pass: null,
      });
    },
    complete: () => taken === job.points.count,
    release() {
      for (const { buffer } of values) job.buffers.give(buffer as SharedArrayBuffer);
    },
  };
}
