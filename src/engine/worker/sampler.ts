/**
 * The sampler evaluates fields at points: it sorts the points by brick, cuts them into groups, pins the bricks that a
 * group needs in all frames, and evaluates the combination of the frames. In a sweep, bricks may be combined too: one
 * brick of sums over the frames then takes the place of one per frame. Kernels read stored nodes only through it.
 */

import { sortByBrick, sortTables } from "../../kernels/brick-order.js";
import { SumsScratch } from "../../kernels/filter/node-sums.js";
import type { Accelerator } from "../../kernels/index.js";
import type { Axes, BrickField, Bricking, BrickReader, FrameWeights, Scheme } from "../../kernels/types.js";
import { DataError } from "../../shared/errors.js";
import { BrickCache, type BrickPins, type BrickRequest } from "../../storage/bricks/cache.js";
import { MAX_BRICKS } from "../../storage/file/dataset.js";
import {
  Arena,
  BATCH_POINTS,
  GROUP_VALUES,
  MAX_AXIS_NODES,
  MAX_FRAMES,
  type MemoryLayout,
  PINNED_PART,
  SIMD_SCRATCH,
} from "../contract/memory.js";
import type { BrickSource } from "./brick-source.js";

/** Fewest points that are sorted: sorting fewer costs more than it saves. */
const SORT_FROM = 128;
/** Evaluations of particles from one sort to the next. */
const KEPT_ORDER = 8;
/** Most points by which a group grows at a time, while its bricks fit the bytes that it may pin. */
const GROUP_STEP = 1024;
/** A group that cannot grow by so few points is complete. */
const SMALLEST_STEP = 16;
/** Rough bound on the milliseconds of evaluating a group, and on those of reading the bricks that it lacks. */
const GROUP_MS = 4;
/** Points of the first group of a scheme, when the time per point is not known yet. */
const FIRST_GROUP = 256;
/** Fewest points of a group from which the time per point is measured. */
const TIMED_POINTS = 16;
/** Estimate of the milliseconds that reading a brick takes, until one has been read. */
const FIRST_READ_MS = 1;

/** The parameters of a sampling: a scheme on fields of one grid, at a combination of frames. */
export interface Sampling {
  readonly axes: Axes;
  readonly scheme: Scheme;
  readonly sources: readonly BrickSource[];
  readonly frames: FrameWeights;
  /** Weights of the frames for each point of the batch, if not all points have the same: one point after another. */
  readonly weights?: Float64Array;
  /** Whether the points need no sort: they are in sweep order already. */
  readonly sorted: boolean;
  /** Identifies particles that move little between evaluations and so keep their order for some of them. */
  readonly moving?: object;
}

/** Receives a group of `count` points: the values of point `order[i]` of the batch are `values[components * i ..]`. */
export type Emit = (values: Float64Array, order: Uint32Array, count: number) => void;

/** Asks whether the time slice has ended; `waits`: nothing can be done before bricks arrive from their store. */
export type Pause = (waits?: boolean) => boolean;

/** Interrupts work that waits for a store when its time slice is over; the work begins again in another slice. */
export class StoreWait extends Error {
  /** The brick that it waits for. */
  readonly brick: string;

  constructor(brick: string) {
    super("bricks are on their way from a store");
    this.brick = brick;
  }
}

/** The bricks of one field that a group needs. */
interface FieldSpace {
  /** For each frame a table by brick: index of its first value in the memory; -1 for bricks that are not pinned. */
  readonly tables: readonly Int32Array[];
  /** By brick: 1 if it is in `list`. */
  readonly marks: Uint8Array;
  /** Entries of the tables and marks that have been cleared; the others are left over from an earlier thread. */
  cleared: number;
  /** The bricks that the group needs: the first `length` entries. */
  readonly list: Int32Array;
  length: number;
  /** Number of the entries that follow: combined bricks that are made together with those of the group. */
  more: number;
  /** For each frame and entry of `list` the index of the brick's first value in the memory. */
  offsets: readonly Int32Array[];
}

/** The sampler of one thread, with its arena, its view of the brick cache and its SIMD module. */
export class Sampler {
  /** Whether work that cannot pause should give its thread up while it waits for a store. */
  mayLeave: () => boolean = () => false;
  readonly accelerator: Accelerator | undefined;
  /** The arrays in which filters over cubes of nodes add. */
  readonly sumsScratch = new SumsScratch();
  /** Positions of the batch in the caller's order, three values per point; the caller fills it before `sample`. */
  readonly positions: Float64Array;
  readonly #sorted: Float64Array;
  readonly #keys: Uint32Array;
  readonly #order: Uint32Array;
  readonly #values: Float64Array;
  readonly #keyTables: Uint32Array;
  readonly #fields: readonly FieldSpace[];
  readonly #data: Float32Array;
  /** The same memory as float64, the type of combined bricks. */
  readonly #sums: Float64Array;
  readonly #seat: number;
  readonly #cache: BrickPins;
  /** Bytes of the brick cache that are this worker's part. */
  readonly #budget: number;
  /** Bytes that each worker can pin while all others pin as much. */
  readonly #allowance: number;
  /** Whether the frames of a batch are combined one after the other, since they do not fit the cache together. */
  #inTurn = false;
  /** Bytes of bricks that a group may pin. */
  #mostPinned = 0;
  /** Points by which the next group first grows: as many as the last group had, up to `GROUP_STEP`. */
  #step = GROUP_STEP;
  /** Milliseconds that a point took in the last group of each scheme, in one frame. */
  readonly #pointMs = new WeakMap<Scheme, number>();
  /** Milliseconds per brick of the last reads. */
  #readMs = FIRST_READ_MS;
  /** Bricks of files that the cache lacked for the group. */
  #lacking = 0;
  /** Milliseconds in which the group acquired its bricks. */
  #acquireMs = 0;
  /** Weights of the frames for each point of the group, if not all points have the same. */
  #groupWeights = new Float64Array(0);
  /** The particles whose order `#order` holds, their number, and the evaluations for which they still keep it. */
  #kept: { readonly moving: object; readonly count: number; left: number } | null = null;
  /** See `recordsOfPoint`. */
  #records = new Float64Array(0);
  #tablesFor: { axes: Axes; bricking: Bricking } | null = null;
  #tables: ReturnType<typeof sortTables> | null = null;

  /** @param cache pins the bricks; absent: reads those that the cache does not hold */
  constructor(
    buffer: SharedArrayBuffer,
    layout: MemoryLayout,
    seat: number,
    accelerate: (scratch: { offset: number; bytes: number }) => Accelerator | undefined,
    cache: BrickPins = new BrickCache(buffer, layout.cache, seat),
  ) {
    const arena = new Arena(buffer, layout.arenas + seat * layout.arenaBytes, layout.arenaBytes);
    this.accelerator = accelerate({ offset: arena.take(SIMD_SCRATCH), bytes: SIMD_SCRATCH });
    this.positions = arena.float64(3 * BATCH_POINTS);
    this.#sorted = arena.float64(3 * BATCH_POINTS);
    this.#keys = arena.uint32(2 * BATCH_POINTS);
    this.#order = arena.uint32(2 * BATCH_POINTS);
    this.#values = arena.float64(GROUP_VALUES);
    this.#keyTables = arena.uint32(MAX_AXIS_NODES);
    const space = (): FieldSpace => ({
      tables: Array.from({ length: MAX_FRAMES }, () => arena.int32(MAX_BRICKS)),
      marks: arena.uint8(MAX_BRICKS),
      cleared: 0,
      list: arena.int32(MAX_BRICKS),
      offsets: roomFor(256),
      length: 0,
      more: 0,
    });
    this.#fields = [space(), space()];
    this.#data = new Float32Array(buffer);
    this.#sums = new Float64Array(buffer);
    this.#seat = seat;
    this.#cache = cache;
    // One part more than there are workers: bricks lie in runs of units, so pins that filled the whole cache could
    // leave free units but no run of them that is long enough.
    this.#budget = Math.floor(this.#cache.capacity / (layout.workers + 1));
    this.#allowance = Math.floor(this.#cache.capacity / layout.workers);
  }

  /**
   * Evaluates the first `count` of `positions`.
   *
   * @param emit  called for each group of points, in no particular order
   * @param stop  polled between groups; throws to end the batch
   * @param from  number of points, in the order of evaluation, that earlier calls have evaluated
   * @param pause asked between groups, and with true while bricks are on their way; true ends the call early
   * @returns number of points, in that order, that have been evaluated by now: the next `from`
   */
  sample(
    sampling: Sampling,
    count: number,
    emit: Emit,
    stop: () => void,
    from = 0,
    pause: Pause = (waits) => this.#neverPause(waits === true, sampling),
  ): number {
    this.#choosePinned(sampling);
    this.#arrange(sampling, count);
    this.#dropPassed(sampling);
    try {
      return this.#sampleGroups(sampling, count, emit, stop, from, pause);
    } finally {
      for (const { combined } of sampling.sources) combined?.leave(this.#seat);
    }
  }

  /** Evaluates the points of a batch, group by group, as `sample` says. */
  #sampleGroups(sampling: Sampling, count: number, emit: Emit, stop: () => void, from: number, pause: Pause): number {
    let first = from;
    while (first < count) {
      stop();
      if (first > from && pause()) return first;
      let size = 0;
      try {
        size = this.#chooseGroup(sampling, first, Math.min(count - first, this.#mostPoints(sampling)));
        // Bricks of a store may take long: until they arrive other tasks have their turn, and the query can be ended.
        while (!this.#fetchGroup(sampling, first, size)) {
          stop();
          if (pause(true)) return first;
        }
        this.#addCompanions(sampling, first, size);
        this.#timed(sampling, size, () => this.#evaluate(sampling, first, size));
      } finally {
        for (const space of this.#fields) this.#forget(space, 0);
      }
      emit(this.#values, this.#order.subarray(first, first + size), size);
      first += size;
    }
    return count;
  }

  /**
   * Reads the bricks that the first `count` of `positions` need into the cache, one after the other. It does nothing
   * for stores, from which a batch fetches all its bricks at once, nor if frames are combined one after the other,
   * because the cache then has no room for more bricks.
   *
   * @param isOver asked before each brick; true ends the call
   */
  readAhead(sampling: Sampling, count: number, isOver: () => boolean): void {
    const { scheme, sources, frames } = sampling;
    this.#choosePinned(sampling);
    if (this.#inTurn || sources.some((source) => (source.combined?.stored ?? source).fetched !== undefined)) return;
    this.#arrange(sampling, count);
    try {
      sources.forEach((source, i) => {
        const space = this.#fields[i];
        this.#cover(scheme, source.bricking, space, 0, count);
        for (const brick of space.list.subarray(0, space.length))
          for (const frame of frames.frames) if (!isOver()) this.#readMissing(source, frame, brick, 0, count);
      });
    } finally {
      for (const space of this.#fields) this.#forget(space, 0);
    }
  }

  /**
   * Reads a brick into the cache, unless it is there or being read; it is not pinned. A combined brick is made for
   * `count` points, from point `first` on, together with others that need the same stored brick.
   */
  #readMissing(source: BrickSource, frame: number, brick: number, first: number, count: number): void {
    if (this.#cache.missing({ source: source.source, frame, bricks: Int32Array.of(brick), count: 1 }).length === 0)
      return;
    const together = source.combined?.madeWith(brick, this.#sorted, first, first + count - 1) ?? [brick];
    const bricks = Int32Array.from(together);
    const offsets = new Int32Array(bricks.length);
    const request = { ...blankRequest(source), frame, bricks, count: bricks.length, offsets };
    const requests = this.#withScratch([source], [request]);
    this.#cache.acquire(requests);
    this.#cache.release(requests);
  }

  /**
   * Adds combined bricks to the group: those that are made together with the ones it lacks, up to this worker's
   * allowance. They are pinned while they are made, so that each stored brick is read once for the group.
   */
  #addCompanions({ sources }: Sampling, first: number, size: number): void {
    if (sources.every(({ combined }) => combined === undefined)) return;
    let bytes = this.#groupBytes(sources, 1) + BrickCache.brickBytes(scratchValues(sources));
    sources.forEach((field, i) => {
      const { source, combined } = field;
      if (combined === undefined) return;
      const space = this.#fields[i];
      const { list, marks, length } = space;
      const one = BrickCache.brickBytes(brickValues(field));
      for (const brick of this.#cache.missing({ source, frame: 0, bricks: list, count: length })) {
        const bricks = combined.madeWith(brick, this.#sorted, first, first + size - 1).filter((more) => !marks[more]);
        const request = { source, frame: 0, bricks: Int32Array.from(bricks), count: bricks.length };
        for (const more of bricks.length > 0 ? this.#cache.missing(request) : []) {
          if (bytes + one > this.#allowance) return;
          bytes += one;
          marks[more] = 1;
          list[space.length + space.more++] = more;
        }
      }
    });
  }

  /** Drops the combined bricks that the sweep no longer needs, for this batch or for those of other threads. */
  #dropPassed({ sources }: Sampling): void {
    for (const { source, combined } of sources) {
      const bricks = Int32Array.from(combined?.passed(this.#sorted, this.#seat) ?? []);
      if (bricks.length > 0) this.#cache.drop({ source, frame: 0, bricks, count: bricks.length });
    }
  }

  /**
   * Gives each request the function that makes its combined bricks. They are made from one stored brick at a time, for
   * which a further request gets room: its brick belongs to no field but to this seat, and is pinned before the others.
   */
  #withScratch(sources: readonly BrickSource[], requests: readonly BrickRequest[]): readonly BrickRequest[] {
    if (sources.every(({ combined }) => combined === undefined)) return requests;
    const values = scratchValues(sources);
    const offsets = new Int32Array(1);
    const load = (): void => undefined;
    // The size serves as the brick's number, so that a room of another size is another brick.
    const bricks = Int32Array.of(values);
    const makeNothing: BrickRequest["make"] = (_bricks, _places, made) => made(0);
    const room = { source: -1 - this.#seat, frame: 0, bricks, count: 1, values, load, make: makeNothing, offsets };
    const making = requests.map((request, i): BrickRequest => {
      const makeCombined: BrickRequest["make"] = (bricks, places, made) => {
        const memory = { data: this.#data, sums: this.#sums, scratch: offsets[0] };
        this.#cache.countRead(sources[i].combined?.make(bricks, places, memory, made) ?? 0);
      };
      return { ...request, make: makeCombined };
    });
    return [room, ...making];
  }

  /**
   * Puts the bricks of the group that have arrived from their store into the cache, and starts to fetch the others.
   *
   * @returns whether every brick of the group is in the cache, has arrived or has failed
   */
  #fetchGroup({ sources, frames: { frames } }: Sampling, first: number, size: number): boolean {
    if (sources[0].combined !== undefined) return this.#fetchCombined(sources);
    if (sources.every(({ fetched }) => fetched === undefined)) return true;
    const arrived = sources.map(({ fetched, source }, i) => {
      if (fetched === undefined) return [];
      const { list: bricks, length: count } = this.#fields[i];
      const missing = frames
        .map((frame) => ({ frame, bricks: this.#cache.missing({ source, frame, bricks, count }) }))
        .filter((ofFrame) => ofFrame.bricks.length > 0);
      return missing.length === 0 ? [] : fetched(missing).map((ofFrame, f) => ({ ...ofFrame, asked: missing[f] }));
    });
    // Bricks are not pinned yet, and those of a group larger than this worker's part of the cache could evict each
    // other: such a group reads them when it is evaluated.
    if (this.#mostPinned <= this.#budget)
      for (const [i, ofField] of arrived.entries())
        for (const { frame, bricks } of ofField)
          for (const brick of bricks) this.#readMissing(sources[i], frame, brick, first, size);
    return arrived.flat().every(({ bricks, asked }) => bricks.length === asked?.bricks.length);
  }

  /**
   * Starts to fetch the stored bricks from which the group's missing combined bricks will be made. None is taken before
   * all have arrived: otherwise the first would be dropped to make room for the rest, and fetched again without end.
   *
   * @returns whether all have arrived or failed
   */
  #fetchCombined(sources: readonly BrickSource[]): boolean {
    const arrived = sources.map(({ source, combined }, i) => {
      const { list: bricks, length: count } = this.#fields[i];
      const missing = this.#cache.missing({ source, frame: 0, bricks, count });
      return missing.length === 0 || combined?.areFetched(missing);
    });
    return arrived.every(Boolean);
  }

  /**
   * Lends memory for the records of one point of a box filter, which may be millions, until the next call. The array is
   * reused, because many would accumulate between garbage collections.
   */
  recordsOfPoint(length: number): Float64Array {
    if (this.#records.length < length) this.#records = new Float64Array(length);
    return this.#records.subarray(0, length);
  }

  /** Makes a reader of single bricks of a field, for kernels that walk regions. */
  reader(source: BrickSource): BrickReader {
    const { components, bricking } = source;
    const request = {
      ...blankRequest(source),
      count: 1,
      bricks: new Int32Array(1),
      offsets: new Int32Array(1),
      frame: 0,
    };
    return {
      components,
      bricking,
      visit: (frame, brick, use) => {
        request.frame = frame;
        request.bricks[0] = brick;
        if (source.fetched !== undefined) this.#awaitBrick(source, request);
        this.#cache.acquire([request]);
        try {
          use(this.#data, request.offsets[0]);
        } finally {
          this.#cache.release([request]);
        }
      },
    };
  }

  /** Waits for a brick of a store that the cache lacks. @throws StoreWait when the time slice is over */
  #awaitBrick({ source, fetched }: BrickSource, request: Parameters<BrickPins["missing"]>[0]): void {
    const { frame, bricks } = request;
    while (
      this.#cache.missing(request).length > 0 &&
      fetched?.([{ frame, bricks: [bricks[0]] }])[0]?.bricks.length === 0
    )
      if (this.mayLeave()) throw new StoreWait(`${source} ${frame} ${bricks[0]}`);
  }

  /**
   * The `pause` of work that cannot pause: always false.
   *
   * @throws StoreWait if bricks are on their way and the time slice is over
   */
  #neverPause(waits: boolean, { sources: [{ source }] }: Sampling): false {
    if (waits && this.mayLeave()) throw new StoreWait(`${source} ${this.#fields[0].list[0]}`);
    return false;
  }

  /** Sorts the batch by the bricks of its first field into `#sorted` and `#order`, or keeps the order of particles. */
  #arrange({ axes, sources, sorted: isSorted, moving }: Sampling, count: number): void {
    const { positions } = this;
    const sorted = this.#sorted;
    const order = this.#order;
    const kept = this.#kept;
    if (kept !== null && kept.moving === moving && kept.count === count && kept.left-- > 0) {
      for (let i = 0; i < count; i++) for (let c = 0; c < 3; c++) sorted[3 * i + c] = positions[3 * order[i] + c];
      return;
    }
    this.#kept = null;
    if (isSorted || count < SORT_FROM) {
      for (let i = 0; i < count; i++) order[i] = i;
      sorted.set(positions.subarray(0, 3 * count));
      return;
    }
    const tables = this.#sortTables(axes, sources[0].bricking);
    sortByBrick(axes, tables, positions, count, this.#keys, order, sorted);
    if (moving !== undefined) this.#kept = { moving, count, left: KEPT_ORDER - 1 };
  }

  /** The key tables of the sort, which are kept in the arena while the grid stays the same. */
  #sortTables(axes: Axes, bricking: Bricking): ReturnType<typeof sortTables> {
    if (this.#tables && this.#tablesFor?.axes === axes && this.#tablesFor.bricking === bricking) return this.#tables;
    const plain = sortTables(axes, bricking);
    let first = 0;
    const place = (table: Uint32Array): Uint32Array => {
      const placed = this.#keyTables.subarray(first, first + table.length);
      placed.set(table);
      first += table.length;
      return placed;
    };
    this.#tables = { x: place(plain.x), y: place(plain.y), z: place(plain.z) };
    this.#tablesFor = { axes, bricking };
    return this.#tables;
  }

  /**
   * Chooses how many points from `first` on form a group, at least one, and collects the bricks that they need: steps
   * grow while their bricks fit, and shrink from the first that do not.
   */
  #chooseGroup({ scheme, sources, frames }: Sampling, first: number, most: number): number {
    let size = 0;
    let lacking = 0;
    let step = this.#step;
    let full = false;
    while (size < most) {
      const count = Math.min(step, most - size);
      const before = sources.map((_, i) => this.#fields[i].length);
      sources.forEach((source, i) => {
        this.#cover(scheme, source.bricking, this.#fields[i], first + size, count);
      });
      const bytes = this.#groupBytes(sources, this.#inTurn ? 1 : frames.frames.length);
      const lackingThen = lacking + this.#countLacking(sources, frames.frames, before);
      const fits = bytes <= this.#mostPinned && lackingThen * this.#readMs <= GROUP_MS;
      if (fits || (size === 0 && count === 1)) {
        lacking = lackingThen;
        size += count;
        if (!full) step = Math.min(4 * step, GROUP_STEP);
        continue;
      }
      full = true;
      sources.forEach((_, i) => {
        this.#forget(this.#fields[i], before[i]);
      });
      if (size > 0 && step <= SMALLEST_STEP) break;
      step = Math.ceil(step / 4);
    }
    this.#step = Math.min(size, GROUP_STEP);
    this.#lacking = lacking;
    return size;
  }

  /**
   * Counts the bricks of files that the cache lacks among those of the group from entry `from` of each field on. Those
   * of stores are fetched beforehand, and those of frames that are combined one after the other are read for every
   * group.
   */
  #countLacking(sources: readonly BrickSource[], frames: readonly number[], from: readonly number[]): number {
    if (this.#inTurn) return 0;
    let lacking = 0;
    for (const [i, { source, fetched, combined }] of sources.entries()) {
      const { list, length } = this.#fields[i];
      const bricks = list.subarray(from[i], length);
      if (fetched !== undefined || combined !== undefined || bricks.length === 0) continue;
      for (const frame of frames)
        lacking += this.#cache.missing({ source, frame, bricks, count: bricks.length }).length;
    }
    return lacking;
  }

  /** Adds to the group the bricks that `count` points from `first` on need. */
  #cover(scheme: Scheme, bricking: Bricking, space: FieldSpace, first: number, count: number): void {
    const bricks = bricking.count[0] * bricking.count[1] * bricking.count[2];
    if (bricks > MAX_BRICKS) throw new DataError(`A field of ${bricks} bricks is too finely cut to be served.`);
    if (bricks > space.cleared) {
      for (const table of space.tables) table.fill(-1, space.cleared, bricks);
      space.marks.fill(0, space.cleared, bricks);
      space.cleared = bricks;
    }
    space.length = scheme.cover(bricking, this.#sorted, first, count, space.marks, space.list, space.length);
  }

  /** Removes the bricks from entry `keep` on from the group. */
  #forget(space: FieldSpace, keep: number): void {
    for (let i = keep; i < space.length + space.more; i++) space.marks[space.list[i]] = 0;
    space.length = keep;
    space.more = 0;
  }

  /**
   * The most points of a group: as many as take `GROUP_MS`. If frames are combined one after the other, each is read
   * again for every group, so only the room for values bounds it.
   */
  #mostPoints({ scheme, frames: { frames } }: Sampling): number {
    const most = Math.floor(GROUP_VALUES / scheme.components);
    if (this.#inTurn) return most;
    const pointMs = this.#pointMs.get(scheme);
    const timed = pointMs === undefined ? FIRST_GROUP : Math.floor(GROUP_MS / (pointMs * frames.length));
    return Math.min(most, Math.max(TIMED_POINTS, timed));
  }

  /** Evaluates a group of `size` points, and measures the time per point and per brick that it lacked. */
  #timed({ scheme, frames: { frames } }: Sampling, size: number, evaluate: () => void): void {
    const since = performance.now();
    this.#acquireMs = 0;
    evaluate();
    const spent = performance.now() - since - this.#acquireMs;
    if (size >= TIMED_POINTS) this.#pointMs.set(scheme, spent / (size * frames.length));
    if (this.#lacking > 0) this.#readMs = this.#acquireMs / this.#lacking;
  }

  /** Fills `#values` with the group's values of the combination of frames. */
  #evaluate(sampling: Sampling, first: number, size: number): void {
    const {
      scheme,
      sources,
      frames: { frames, weights },
    } = sampling;
    const positions = this.#sorted.subarray(3 * first, 3 * (first + size));
    const values = this.#values;
    if (sampling.weights !== undefined && frames.length > 1) {
      this.#evaluateEach(sampling, sampling.weights, positions, first, size);
    } else if (sources[0].combined !== undefined) {
      this.#withBricks(sources, frames, ([fields]) => scheme.evaluateCombined(fields, positions, 0, size, values));
    } else if (frames.length === 1 && weights[0] === 1) {
      this.#withBricks(sources, frames, ([fields]) => scheme.evaluate(fields, positions, 0, size, values));
    } else if (!this.#inTurn) {
      this.#withBricks(sources, frames, (fields) => scheme.combine(fields, weights, positions, 0, size, values));
    } else {
      const withFrame = this.#eachFrame(sampling);
      for (let done = 0; done < size; )
        done += scheme.combineInTurn(weights, withFrame, positions, done, size - done, values);
    }
  }

  /** As `#evaluate`, with weights for each point. */
  #evaluateEach(sampling: Sampling, weights: Float64Array, positions: Float64Array, first: number, size: number): void {
    const {
      scheme,
      sources,
      frames: { frames },
    } = sampling;
    const width = frames.length;
    if (this.#groupWeights.length < width * size) this.#groupWeights = new Float64Array(width * size);
    const each = this.#groupWeights;
    const order = this.#order.subarray(first, first + size);
    for (let i = 0; i < size; i++) for (let f = 0; f < width; f++) each[width * i + f] = weights[width * order[i] + f];
    if (!this.#inTurn) {
      this.#withBricks(sources, frames, (fields) => scheme.combineEach(fields, each, positions, 0, size, this.#values));
      return;
    }
    const withFrame = this.#eachFrame(sampling);
    for (let i = 0; i < size; i++)
      scheme.combineInTurn([...each.subarray(width * i, width * (i + 1))], withFrame, positions, i, 1, this.#values);
  }

  /** Makes a function that calls `use` with the fields of one frame of the sampling, while its bricks are pinned. */
  #eachFrame({ sources, frames: { frames } }: Sampling): Parameters<Scheme["combineInTurn"]>[1] {
    return (f, use) => this.#withBricks(sources, frames.slice(f, f + 1), ([fields]) => use(fields));
  }

  /**
   * Decides how many bytes a group may pin: this worker's part of the cache or, if that is more, what a stencil at a
   * corner of bricks needs in several frames. If the cache cannot hold the latter, frames are combined one after the
   * other; each is then read again for every group, so groups may pin most of the cache in order to be large.
   */
  #choosePinned({ sources, frames: { frames } }: Sampling): void {
    const corner = sources.reduce((sum, source) => {
      const bricks = source.bricking.count.reduce((product, count) => product * Math.min(2, count), 1);
      return sum + bricks * frames.length * BrickCache.brickBytes(brickValues(source));
    }, 0);
    const most = PINNED_PART * this.#cache.capacity;
    this.#inTurn = frames.length > 1 && corner > most;
    this.#mostPinned = this.#inTurn ? most : Math.max(this.#budget, frames.length > 1 ? corner : 0);
  }

  /** Bytes of the bricks of the group in a number of frames. */
  #groupBytes(sources: readonly BrickSource[], frames: number): number {
    return sources.reduce((bytes, source, i) => {
      return bytes + frames * this.#fields[i].length * BrickCache.brickBytes(brickValues(source));
    }, 0);
  }

  /** Calls `use` with the fields of each frame, while the group's bricks of the frames are pinned and in the tables. */
  #withBricks(
    sources: readonly BrickSource[],
    frames: readonly number[],
    use: (fields: readonly (readonly BrickField[])[]) => void,
  ): void {
    const wanted: BrickRequest[] = [];
    const fields: BrickField[][] = [];
    for (const space of this.#fields) {
      const count = space.length + space.more;
      if (space.offsets[0].length < count) space.offsets = roomFor(2 * count);
    }
    for (let f = 0; f < frames.length; f++) {
      const frame = frames[f];
      const ofFrame: BrickField[] = [];
      for (let i = 0; i < sources.length; i++) {
        const { source, components, bricking, load, combined } = sources[i];
        const { list: bricks, tables, offsets, length, more } = this.#fields[i];
        const values = brickValues(sources[i]);
        const count = length + more;
        wanted.push({ source, frame, bricks, count, values, load, offsets: offsets[f] });
        ofFrame.push({ components, bricking, data: combined ? this.#sums : this.#data, table: tables[f] });
      }
      fields.push(ofFrame);
    }
    const requests = this.#withScratch(sources, wanted);
    const words = sources[0].combined === undefined ? 1 : 2;
    const since = performance.now();
    this.#cache.acquire(requests);
    this.#acquireMs += performance.now() - since;
    try {
      this.#setTables(sources.length, frames.length, words);
      use(fields);
    } finally {
      this.#setTables(sources.length, frames.length, 0);
      this.#cache.release(requests);
    }
  }

  /**
   * Puts the group's bricks into the tables, or takes them out.
   *
   * @param words words of 32 bits in a node value; 0 takes bricks out
   */
  #setTables(sources: number, frames: number, words: 0 | 1 | 2): void {
    for (let i = 0; i < sources; i++) {
      const { tables, list, offsets, length } = this.#fields[i];
      for (let f = 0; f < frames; f++) {
        const table = tables[f];
        const places = offsets[f];
        for (let k = 0; k < length; k++) table[list[k]] = words === 0 ? -1 : places[k] / words;
      }
    }
  }
}

/** Arrays for the offsets of up to `bricks` bricks in every frame. */
function roomFor(bricks: number): readonly Int32Array[] {
  return Array.from({ length: MAX_FRAMES }, () => new Int32Array(bricks));
}

/** The size of a brick of a field, in float32 values. */
function brickValues({ components, bricking: { edge }, combined }: BrickSource): number {
  return edge[0] * edge[1] * edge[2] * components * (combined === undefined ? 1 : 2);
}

/** Float32 values of the largest stored brick that combined ones are made of. */
function scratchValues(sources: readonly BrickSource[]): number {
  return Math.max(...sources.map(({ combined }) => combined?.storedValues ?? 0));
}

/** The members of a request that depend on the field alone. */
function blankRequest(source: BrickSource): Pick<BrickRequest, "source" | "values" | "load"> {
  return { source: source.source, values: brickValues(source), load: source.load };
}
