/**
 * Plan of a query on data that does not fit the cache, or of a filter over cubes at many points. The points are sorted
 * in the order of a sweep over bricks (`sweep-shape.ts`) and cut into small batches, so that all workers are near the
 * front of the sweep and share its bricks. The frames of a time interpolation are combined as their bricks are read
 * (`combined-bricks.ts`).
 */
import { METHODS, reachOf } from "../../../kernels/table.js";
import { brickBytes } from "../../../storage/bricks/directory.js";
import { type Bricking, type FieldSource, isStaggered, MAX_BRICKS } from "../../../storage/dataset/dataset.js";
import {
  type CombinedSweep,
  chooseCombinedShape,
  combinedBricking,
  combinedBytes,
  sweepRows,
} from "../../contract/combined-bricks.js";
import { BATCH_POINTS, PINNED_PART } from "../../contract/memory.js";
import { frameShift } from "../../contract/positions.js";
import { framesOf } from "../../contract/query-frames.js";
import { chooseShape, type SweepShape } from "../../contract/sweep-shape.js";
import type { BatchTask, SortTask } from "../../contract/task.js";
import type { CheckedQuery } from "../check-query.js";
import { batchInOrder, batchOf, type Plan, type PlanContext, sliceSlabs, valuesPerPoint } from "./plan.js";

/** Fewest points of a sweep: fewer touch few bricks. */
const MIN_POINTS = 128;
/** Most points of a section. */
const SECTION = 1_048_576;
/** A batch has the points of `rows` rows of a column, but at least `least` and at most `most`. */
const BATCH = { rows: 2, least: 64, most: 32_768 } as const;
/** Rows of a batch of a sweep over combined bricks, whose rows all workers share. */
const COMBINED_ROWS = 0.25;

/** The parameters of a sweep. */
export interface Sweep {
  readonly bricking: Bricking;
  readonly shape: SweepShape;
  /** Bricks in a row of a column, divided by the bricks of a frame. */
  readonly rowFraction: number;
  /** Bricks of each frame that the cache holds, with `inTurn` of one frame. */
  readonly room: number;
  /** Whether frames are combined one after the other, because the cache is too small (`brick-group.ts`). */
  readonly inTurn: boolean;
  /** Null if there is one frame, or if the cache is too small. */
  readonly combined: CombinedSweep | null;
}

/** The bricks that a query may need. */
interface Demand {
  /** The field whose bricks give the sweep its shape. */
  readonly main: FieldSource;
  readonly frames: number;
  /** Bricks of a field in one frame. */
  readonly bricks: number;
  /** Bytes of a brick of each field, added up. */
  readonly brickBytes: number;
  readonly fields: readonly FieldSource[];
}

/** The demand of a query; null for queries that are never swept: only those that read fields once per point are. */
function demandOf({ query, operation, dataset, fields: names }: CheckedQuery): Demand | null {
  if (!dataset || (operation.family !== "points" && operation.family !== "force")) return null;
  // A force in closed form reads no field, though the dataset may store one.
  if (operation.family === "force" && dataset.forcing.kind !== "stored") return null;
  // Parts on nodes of their own are sampled by arrival.
  if (names.some((name) => isStaggered(dataset, name))) return null;
  const fields = names.flatMap((name) => dataset.fields[name] ?? []);
  const [main] = fields;
  if (!main) return null;
  const { frames } = framesOf(dataset.time, query);
  const bricks = bricksOf(main.bricking);
  const brickBytes = fields.reduce((sum, field) => sum + storedBytes(field), 0);
  return { main, frames: frames.length, bricks, brickBytes, fields };
}

/** Whether a query can be swept and its frames do not fit the cache. */
export function exceedsCache(checked: CheckedQuery, cacheBytes: number): boolean {
  const demand = demandOf(checked);
  return demand !== null && demand.frames * demand.bricks * demand.brickBytes > cacheBytes;
}

/** Chooses the sweep of a query that exceeds the cache, once all of its points have arrived. */
function chooseSweep(context: PlanContext, cacheBytes: number): Sweep {
  const { checked, parallelism } = context;
  const demand = demandOf(checked) as Demand;
  const { main, frames, bricks, brickBytes } = demand;
  const { bricking } = main;
  const combined = chooseCombined(context, demand, cacheBytes);
  if (combined !== null) {
    const room = Math.floor(cacheBytes / (frames * brickBytes));
    const { shape } = combined;
    return { bricking, shape, rowFraction: rowOf(shape) / bricks, room, inTurn: false, combined };
  }
  const corner = bricking.count.reduce((product, count) => product * Math.min(2, count), 1);
  const inTurn = frames * corner * brickBytes > PINNED_PART * cacheBytes;
  const room = Math.floor(cacheBytes / ((inTurn ? 1 : frames) * brickBytes));
  // One more for the thread that reads ahead of the workers.
  const { shape } = chooseShape(checked.dataset.axes, bricking, room, parallelism + 1);
  return { bricking, shape, rowFraction: rowOf(shape) / bricks, room, inTurn, combined: null };
}

function rowOf({ axes: [row], width }: SweepShape): number {
  return width[row as 0 | 1 | 2];
}

/** Chooses the sweep over combined bricks; null if there is one frame, or if the cache is too small for it. */
function chooseCombined(context: PlanContext, demand: Demand, cacheBytes: number): CombinedSweep | null {
  const { checked, parallelism } = context;
  const { main, frames, fields } = demand;
  const method = METHODS.get(checked.query.spatialInterpolation ?? "None");
  if (frames === 1 || method === undefined || checked.query.weights !== undefined) return null;
  const { axes } = checked.dataset;
  const { below, above } = reachOf(method);
  const halo = below + above;
  // Each worker, and the thread that reads ahead, has room for a stored brick there.
  const scratch = (parallelism + 1) * Math.max(...fields.map(storedBytes));
  const components = fields.map((field) => field.components);
  const bytes = cacheBytes - scratch;
  const shape = chooseCombinedShape(axes, main.bricking, components, bytes, above, halo)?.shape;
  if (shape === undefined) return null;
  const [row] = shape.axes;
  const many = fields.some(({ bricking }) => bricksOf(combinedBricking(bricking, axes, row, halo)) > MAX_BRICKS);
  const least = fields.map((field) => combinedBytes(axes, field.bricking, [field.components], row, halo));
  if (many || 2 * Math.max(...least) + scratch > PINNED_PART * cacheBytes) return null;
  return {
    source: context.numberCombination(),
    shape,
    bricking: main.bricking,
    halo,
    rows: sweepRows(parallelism),
    batch: 0,
  };
}

function storedBytes({ components, bricking: { edge } }: FieldSource): number {
  return brickBytes(components * edge[0] * edge[1] * edge[2]);
}

function bricksOf({ count }: Bricking): number {
  return count[0] * count[1] * count[2];
}

/** Plans batches in sweep order, section by section, once all points have arrived; null if that would not pay. */
export function planBySweep(context: PlanContext, cacheBytes: number): Plan | null {
  if (context.points.count < MIN_POINTS || !exceedsCache(context.checked, cacheBytes)) return null;
  return new SweepPlan(context, chooseSweep(context, cacheBytes));
}

/** Whether a filter over cubes has more points than one batch. */
export function sweepsFilter({ checked, points }: PlanContext): boolean {
  return points.count > BATCH_POINTS && !checked.fields.some((name) => isStaggered(checked.dataset, name));
}

/** Plans a filter over cubes in sweep order, whatever the cache holds: the cubes of neighbouring points share sums. */
export function planFilterBySweep(context: PlanContext, cacheBytes: number): Plan {
  const { checked, parallelism } = context;
  const fields = checked.fields.flatMap((name) => checked.dataset.fields[name] ?? []);
  const { bricking } = fields[0] as FieldSource;
  const room = Math.floor(cacheBytes / fields.reduce((sum, field) => sum + storedBytes(field), 0));
  const { shape } = chooseShape(checked.dataset.axes, bricking, room, parallelism + 1);
  return new SweepPlan(context, { bricking, shape, rowFraction: 1, room: 0, inTurn: false, combined: null });
}

/** The section that is being swept: points `first .. end - 1` of the query. */
interface Section {
  readonly first: number;
  readonly end: number;
  /** In sweep order: the index in the query of each point, and the points. */
  readonly order: Uint32Array;
  readonly triples: Float32Array;
  /** Word 0 becomes 1 when the points have been sorted; it stays 0 if their bricks fit `Sweep.room`. */
  readonly arranged: Int32Array;
  /** Number of points in batches; -1 while the section is sorted. */
  taken: number;
}

/** Hands out a sort for each section, then the batches of that section. */
class SweepPlan implements Plan {
  readonly values: readonly Float32Array[];
  readonly #context: PlanContext;
  readonly #sweep: Sweep;
  /** Float32 values of a point's result. */
  readonly #perPoint: number;
  readonly #out: Float32Array;
  readonly #lent: Uint8Array<SharedArrayBuffer>[] = [];
  #section: Section | null = null;
  /** Number of batches in sweep order so far. */
  #batches = 0;
  /** Number of points in evaluated sections. */
  #end = 0;

  constructor(context: PlanContext, sweep: Sweep) {
    this.#context = context;
    this.#sweep = sweep;
    this.#perPoint = valuesPerPoint(context.checked);
    this.#out = context.buffers.floats(context.points.count * this.#perPoint);
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
    // The next section takes over the buffers of this one, which its batches still read.
    if (outstanding > 0) return null;
    this.#end = section.end;
    if (this.isFinished()) return null;
    this.#giveSection();
    return this.#sort(this.#end);
  }

  isFinished(): boolean {
    return this.#end === this.#context.points.count;
  }

  release(): void {
    this.#giveSection();
    this.#context.buffers.giveBack(this.#out);
  }

  /** Takes memory that is given back with the section. */
  #borrow(bytes: number): Uint8Array<SharedArrayBuffer> {
    const block = this.#context.buffers.lend(bytes);
    this.#lent.push(block);
    return block;
  }

  #giveSection(): void {
    for (const block of this.#lent.splice(0)) this.#context.buffers.giveBack(block);
  }

  /** Begins the section from point `first` on, with the sort of its points. */
  #sort(first: number): SortTask {
    const { points, checked, cancel, source } = this.#context;
    const { bricking, shape, room, combined } = this.#sweep;
    // Every section begins with the first row.
    combined?.rows.passed.fill(0);
    const count = Math.min(SECTION, points.count - first);
    const places = this.#borrow(4 * count);
    const order = new Uint32Array(places.buffer, places.byteOffset, count);
    const sorted = this.#borrow(12 * count);
    const triples = new Float32Array(sorted.buffer, sorted.byteOffset, 3 * count);
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

  /** Makes the next batch of a section, in sweep order if its points have been put in that. */
  #batch(section: Section): BatchTask {
    if (section.arranged[0] === 0) return this.#plainBatch(section);
    const size = section.end - section.first;
    const { inTurn, combined, rowFraction } = this.#sweep;
    const aim = inTurn ? BATCH.most : Math.round((combined ? COMBINED_ROWS : BATCH.rows) * rowFraction * size);
    const count = Math.min(size - section.taken, Math.min(Math.max(aim, BATCH.least), BATCH.most));
    const at = section.taken;
    section.taken += count;
    return batchOf(this.#context, {
      points: [{ triples: section.triples.subarray(3 * at, 3 * (at + count)), count }],
      first: section.first,
      count,
      out: this.#out,
      outIndices: section.order.subarray(at, at + count),
      ...(combined ? { combined: { ...combined, batch: this.#batches++ } } : {}),
    });
  }

  /** Makes the next batch in the order of the query: the cache holds its bricks. */
  #plainBatch(section: Section): BatchTask {
    const { parallelism } = this.#context;
    const size = section.end - section.first;
    const count = Math.min(size - section.taken, Math.ceil(size / parallelism), BATCH_POINTS);
    const first = section.first + section.taken;
    section.taken += count;
    const out = this.#out.subarray(first * this.#perPoint, (first + count) * this.#perPoint);
    return batchInOrder(this.#context, first, count, out);
  }
}
