/**
 * A plan by sweep serves a query on data that does not fit the cache: its points are put in the order of a sweep over
 * bricks (`sweep-shape.ts`), and batches are small consecutive parts of that order, so that all workers stay near the
 * front of the sweep and share its bricks. The frames of a time interpolation are swept together.
 */
import { BrickCache } from "../../storage/bricks/cache.js";
import type { Bricking, FieldSource } from "../../storage/dataset.js";
import type { CheckedQuery } from "../check-query.js";
import { BATCH_POINTS, PINNED_PART } from "../memory.js";
import { frameShift } from "../points/positions.js";
import { framesOf } from "../query-frames.js";
import type { BatchTask, SortTask } from "../task.js";
import { batchOf, type Plan, type PlanContext, sliceSlabs, valuesPerPoint } from "./by-arrival.js";
import { chooseShape, type SweepShape } from "./sweep-shape.js";

/** Points put in order at a time. */
const SECTION = 1_048_576;
/** Rows of a column whose points make a batch, and bounds on those. */
const BATCH = { rows: 2, least: 64, most: 32_768 } as const;

/** The plan of a sweep of a query. */
export interface Sweep {
  readonly bricking: Bricking;
  readonly shape: SweepShape;
  /** The part of a frame that is in a row of a column. */
  readonly row: number;
  /** Bricks of a frame that fit the cache, all frames together unless they are combined one after the other. */
  readonly room: number;
  /** Whether the cache is so small that frames are combined one after the other (`threads/sampler.ts`). */
  readonly inTurn: boolean;
}

/** The bricks that a query needs of the cache. */
interface Demand {
  readonly main: FieldSource;
  readonly frames: number;
  /** Bricks of a frame, and bytes of one, all fields together. */
  readonly bricks: number;
  readonly brickBytes: number;
}

/** The demand of a query; null unless it walks its points once. */
function demandOf({ query, operation, dataset, fields: names }: CheckedQuery): Demand | null {
  if (!dataset || (operation.family !== "points" && operation.family !== "force")) return null;
  // A force in closed form reads no field, though the dataset may store one.
  if (operation.family === "force" && dataset.forcing.kind !== "stored") return null;
  const fields = names.flatMap((name) => dataset.fields[name] ?? []);
  const [main] = fields;
  if (!main) return null;
  const { frames } = framesOf(dataset.time, query);
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

/** Chooses the sweep of a query that exceeds the cache, once all of its points have arrived. */
function chooseSweep({ checked, parallelism }: PlanContext, cacheBytes: number): Sweep {
  const { main, frames, bricks, brickBytes } = demandOf(checked) as Demand;
  const { bricking } = main;
  const corner = bricking.count.reduce((product, count) => product * Math.min(2, count), 1);
  const inTurn = frames * corner * brickBytes > PINNED_PART * cacheBytes;
  const room = Math.floor(cacheBytes / ((inTurn ? 1 : frames) * brickBytes));
  // One more for the thread that reads ahead of the workers.
  const { shape } = chooseShape(checked.dataset.axes, bricking, room, parallelism + 1);
  return { bricking, shape, row: shape.width[shape.axes[0] as 0 | 1 | 2] / bricks, room, inTurn };
}

/** Plans batches in sweep order, section by section, once all points have arrived. */
export function planBySweep(setting: PlanContext, cacheBytes: number): Plan {
  return new SweepPlan(setting, chooseSweep(setting, cacheBytes));
}

/** Points `first .. end - 1` of the query while they are swept. */
interface Section {
  readonly first: number;
  readonly end: number;
  readonly order: Uint32Array;
  readonly triples: Float32Array;
  /**
   * Word 0 is 1 when the points are in sweep order; else their bricks fit the cache together, and they are as they
   * came.
   */
  readonly arranged: Int32Array;
  /** Points that are in batches; -1 while they are put in order. */
  taken: number;
}

/** The plan of a sweep. */
class SweepPlan implements Plan {
  readonly values: readonly Float32Array[];
  readonly #setting: PlanContext;
  readonly #sweep: Sweep;
  readonly #perPoint: number;
  readonly #out: Float32Array;
  readonly #lent: SharedArrayBuffer[] = [];
  #section: Section | null = null;
  /** Points of the sections that have been swept. */
  #end = 0;

  constructor(setting: PlanContext, sweep: Sweep) {
    this.#setting = setting;
    this.#sweep = sweep;
    this.#perPoint = valuesPerPoint(setting.checked);
    const size = setting.points.count * this.#perPoint;
    this.#out = new Float32Array(setting.buffers.take(4 * size), 0, size);
    this.values = [this.#out];
  }

  next(_complete: boolean, outstanding: number): BatchTask | SortTask | null {
    const section = this.#section;
    if (section === null) return this.#sort(0);
    if (section.taken < 0) {
      if (outstanding > 0) return null;
      section.taken = 0;
    }
    if (section.taken < section.end - section.first) return this.#batch(section);
    // Batches of this section may still be writing to the buffers of the next one.
    if (outstanding > 0) return null;
    this.#end = section.end;
    if (this.complete()) return null;
    this.#giveSection();
    return this.#sort(this.#end);
  }

  complete(): boolean {
    return this.#end === this.#setting.points.count;
  }

  release(): void {
    this.#giveSection();
    this.#setting.buffers.give(this.#out.buffer as SharedArrayBuffer);
  }

  #borrow(bytes: number): SharedArrayBuffer {
    const buffer = this.#setting.buffers.take(bytes);
    this.#lent.push(buffer);
    return buffer;
  }

  #giveSection(): void {
    for (const buffer of this.#lent.splice(0)) this.#setting.buffers.give(buffer);
  }

  /** Starts a section: its points are put in order first. */
  #sort(first: number): SortTask {
    const { points, checked, cancel, source } = this.#setting;
    const { bricking, shape, room } = this.#sweep;
    const count = Math.min(SECTION, points.count - first);
    const order = new Uint32Array(this.#borrow(4 * count), 0, count);
    const triples = new Float32Array(this.#borrow(12 * count), 0, 3 * count);
    const arranged = new Int32Array(new SharedArrayBuffer(4));
    this.#section = { first, end: first + count, order, triples, arranged, taken: -1 };
    const { dataset, query } = checked;
    return {
      kind: "sort",
      dataset,
      source,
      points: sliceSlabs(points.slabs, first, count),
      count,
      first,
      shift: frameShift(dataset.frameVelocity, query.time as number),
      bricking,
      shape,
      room,
      arranged,
      cancel,
      triples,
      order,
    };
  }

  #batch(now: Section): BatchTask {
    if (now.arranged[0] === 0) return this.#plainBatch(now);
    const size = now.end - now.first;
    const aim = this.#sweep.inTurn ? BATCH.most : Math.round(BATCH.rows * this.#sweep.row * size);
    const count = Math.min(size - now.taken, Math.min(Math.max(aim, BATCH.least), BATCH.most));
    const at = now.taken;
    now.taken += count;
    return batchOf(this.#setting, {
      points: [{ triples: now.triples.subarray(3 * at, 3 * (at + count)), count }],
      first: now.first,
      count,
      out: this.#out,
      places: now.order.subarray(at, at + count),
    });
  }

  /** Points as they came, all frames at once: a large batch per worker. */
  #plainBatch(now: Section): BatchTask {
    const { points, parallelism } = this.#setting;
    const size = now.end - now.first;
    const count = Math.min(size - now.taken, Math.ceil(size / parallelism), BATCH_POINTS);
    const first = now.first + now.taken;
    now.taken += count;
    return batchOf(this.#setting, {
      points: sliceSlabs(points.slabs, first, count),
      first,
      count,
      out: this.#out.subarray(first * this.#perPoint, (first + count) * this.#perPoint),
      places: null,
    });
  }
}
