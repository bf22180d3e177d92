/**
 * A query on data that does not fit the cache: its points are put in the order of a sweep over bricks (`sweep-shape.ts`), and
 * batches are small consecutive pieces of that order, so that all workers stay near the front of the sweep and share its bricks.
 *
 * The frames of a time interpolation are swept together, or one after another with their sums kept as float64: whichever
 * reads less.
 */
import { frameWeights } from "../../kernels/time.js";
import { BrickCache } from "../../storage/bricks/cache.js";
import type { Bricking, FieldSource } from "../../storage/dataset.js";
import type { CheckedQuery } from "../check.js";
import { frameShift } from "../points/positions.js";
import type { BatchTask, SortTask } from "../task.js";
import { BATCH_POINTS } from "../threads/memory.js";
import { batchOf, type Cutter, type Job, segmentsOf, valuesPerPoint } from "./by-arrival.js";
import { chooseShape, type SweepShape } from "./sweep-shape.js";

/** Points put in order at a time; fewer where float64 sums of that many would pass the bound. */
const SECTION = 1_048_576;
const SUM_BYTES = 32 * 1024 * 1024;
/** Rows of a column whose points make a batch, and bounds on those. */
const BATCH = { rows: 2, least: 64, most: 32_768 } as const;

/** How a query is swept. */
export interface SweepPlan {
  readonly bricking: Bricking;
  readonly shape: SweepShape;
  /** The part of a frame that is in a row of a column. */
  readonly row: number;
  /** Bricks of a frame that fit the cache, all frames together. */
  readonly room: number;
  /** Points of a section, at most. */
  readonly section: number;
  /** Times every section is swept: 1, or once per frame. */
  readonly passes: number;
}

/** What a query needs of the cache; null when it is not one that walks points once. */
interface Demand {
  readonly main: FieldSource;
  readonly frames: number;
  /** Bricks of a frame, and bytes of one, all fields together. */
  readonly bricks: number;
  readonly brickBytes: number;
}

function demandOf({ query, operation, dataset }: CheckedQuery): Demand | null {
  if (!dataset || (operation.family !== "points" && operation.family !== "force")) return null;
  // A force in closed form reads no field, though the dataset may store one.
  if (operation.family === "force" && dataset.forcing.kind !== "stored") return null;
  const fields = operation.fields.flatMap((name) => dataset.fields[name] ?? []);
  const [main] = fields;
  if (!main) return null;
  const { frames } = frameWeights(dataset.time, query.time as number, query.temporalInterpolation ?? "None");
  const bricks = main.bricking.count.reduce((product, count) => product * count, 1);
  const brickBytes = fields.reduce((sum, { components, bricking: { edge } }) => {
    return sum + BrickCache.brickBytes(components * edge[0] * edge[1] * edge[2]);
  }, 0);
  return { main, frames: frames.length, bricks, brickBytes };
}

/** Whether the frames that a query needs do not fit the cache together. */
export function exceedsCache(checked: CheckedQuery, cacheBytes: number): boolean {
  const demand = demandOf(checked);
  return demand !== null && demand.frames * demand.bricks * demand.brickBytes > cacheBytes;
}

/** Plans the sweep of a query that exceeds the cache, once all of its points are in. */
export function planSweep({ checked, points, workers }: Job, cacheBytes: number): SweepPlan {
  const { main, frames, bricks, brickBytes } = demandOf(checked) as Demand;
  const { bricking } = main;
  const room = Math.floor(cacheBytes / (frames * brickBytes));
  const ways = [1, frames].map((passes) => {
    const { shape, reads } = chooseShape(checked.dataset.axes, bricking, passes * room, workers);
    const sums = Math.floor(SUM_BYTES / (8 * valuesPerPoint(checked)));
    const section = passes === 1 ? SECTION : Math.min(SECTION, sums);
    const row = shape.width[shape.axes[0] as 0 | 1 | 2] / bricks;
    return { plan: { bricking, shape, row, room, section, passes }, reads: reads * Math.ceil(points.count / section) };
  });
  return ways.reduce((best, way) => (way.reads < best.reads ? way : best)).plan;
}

/** Points `first .. end - 1` of the query on their way through the sweep. */
interface Section {
  readonly first: number;
  readonly end: number;
  readonly order: Uint32Array;
  readonly triples: Float32Array;
  readonly sums: Float64Array | null;
  /** Word 0 is 1 when the points are in sweep order; else their bricks fit the cache together, and they are as they came. */
  readonly arranged: Int32Array;
  pass: number;
  /** Points of this pass that are in batches; -1 while they are put in order. */
  taken: number;
}

/** Batches in sweep order, section by section; starts when all points are in. */
export function cutBySweep(job: Job, { bricking, shape, row, room, section: most, passes }: SweepPlan): Cutter {
  const { points, buffers, checked, cancel } = job;
  const perPoint = valuesPerPoint(checked);
  const values: Float32Array[] = [];
  const lent: SharedArrayBuffer[] = [];
  const borrow = (bytes: number): SharedArrayBuffer => {
    const buffer = buffers.take(bytes);
    lent.push(buffer);
    return buffer;
  };
  const giveSection = (): void => {
    for (const buffer of lent.splice(0)) buffers.give(buffer);
  };
  let section: Section | null = null;
  let end = 0;

  const sort = (first: number): SortTask => {
    const count = Math.min(most, points.count - first);
    const order = new Uint32Array(borrow(4 * count), 0, count);
    const triples = new Float32Array(borrow(12 * count), 0, 3 * count);
    const sums = passes === 1 ? null : new Float64Array(borrow(8 * count * perPoint), 0, count * perPoint);
    const arranged = new Int32Array(new SharedArrayBuffer(4));
    section = { first, end: first + count, order, triples, sums, arranged, pass: 0, taken: -1 };
    const shift = frameShift(checked.dataset.frameVelocity, checked.query.time as number);
    const { dataset } = checked;
    return {
      kind: "sort",
      dataset,
      points: segmentsOf(points.slabs, first, count),
      count,
      first,
      shift,
      bricking,
      shape,
      room,
      arranged,
      cancel,
      triples,
      order,
    };
  };
  /** Points as they came, all frames at once: a large batch per worker. */
  const plainBatch = (now: Section): BatchTask => {
    const size = now.end - now.first;
    const count = Math.min(size - now.taken, Math.ceil(size / job.workers), BATCH_POINTS);
    const first = now.first + now.taken;
    now.taken += count;
    const out = values[0].subarray(first * perPoint, (first + count) * perPoint);
    return batchOf(job, {
      points: segmentsOf(points.slabs, first, count),
      first,
      count,
      out,
      places: null,
      pass: null,
    });
  };
  const batch = (now: Section): BatchTask => {
    if (now.arranged[0] === 0) return plainBatch(now);
    const size = now.end - now.first;
    const aim = Math.round(BATCH.rows * row * size);
    const count = Math.min(size - now.taken, Math.min(Math.max(aim, BATCH.least), BATCH.most));
    const at = now.taken;
    now.taken += count;
    const triples = now.triples.subarray(3 * at, 3 * (at + count));
    const places = now.order.subarray(at, at + count);
    const pass = now.sums && {
      index: now.pass,
      count: passes,
      sums: now.sums.subarray(at * perPoint, (at + count) * perPoint),
    };
    const [out] = values as [Float32Array];
    return batchOf(job, { points: [{ triples, count }], first: now.first, count, out, places, pass });
  };
  return {
    values,
    next(ended, outstanding) {
      if (!ended || points.count === 0) return null;
      if (values.length === 0) {
        const size = points.count * perPoint;
        values.push(new Float32Array(buffers.take(4 * size), 0, size));
      }
      if (section === null) return sort(0);
      if (section.taken < 0) {
        if (outstanding > 0) return null;
        section.taken = 0;
      }
      if (section.taken < section.end - section.first) return batch(section);
      // The next pass adds to sums that batches of this one may still be writing; so do new sections to their buffers.
      if (outstanding > 0) return null;
      if (section.arranged[0] === 1 && section.pass + 1 < passes) {
        section.pass++;
        section.taken = 0;
        return batch(section);
      }
      end = section.end;
      if (end === points.count) return null;
      giveSection();
      return sort(end);
    },
    complete: () => end === points.count,
    release() {
      giveSection();
      for (const { buffer } of values) buffers.give(buffer as SharedArrayBuffer);
    },
  };
}
