/**
 * Evaluation of fields at points and times. The points are sorted by brick (`sorted-points.ts`) and taken in groups
 * with the bricks that they need (`brick-group.ts`); each group is evaluated at a combination of frames. Kernels read
 * stored nodes only through the sampler.
 */
import { SumsScratch } from "../../kernels/filter/node-sums.js";
import type { Accelerator } from "../../kernels/index.js";
import type { BrickReader, Scheme } from "../../kernels/types.js";
import { BrickCache, type BrickPins } from "../../storage/bricks/cache.js";
import { Arena, GROUP_VALUES, type MemoryLayout, SIMD_SCRATCH } from "../contract/memory.js";
import { BrickGroup, requestOf, type SampledFields } from "./brick-group.js";
import type { BrickSource } from "./brick-source.js";
import { type PointOrder, SortedPoints } from "./sorted-points.js";

/** Rough bound on the time for evaluating a group. */
const GROUP_MS = 4;
/** Points of the first group of a scheme, when the time per point is not known yet. */
const FIRST_GROUP = 256;
/** Fewest points of a group from which the time per point is measured. */
const TIMED_POINTS = 16;

/** A scheme on fields of one grid, at a combination of frames. */
export interface Sampling extends SampledFields, PointOrder {
  /** Weights of the frames, point after point, if points have their own. */
  readonly weights?: Float64Array;
}

/** Receives a group of `count` points: the values of point `order[i]` of the batch are `values[components * i ..]`. */
export type Emit = (values: Float64Array, order: Uint32Array, count: number) => void;

/** Whether the time slice has ended. `waits`: true if nothing can be done before bricks arrive from a store. */
export type Pause = (waits?: boolean) => boolean;

/** Thrown when a time slice ends while work waits for a store; the work begins again in another slice. */
export class StoreWait extends Error {
  /** The brick that it waits for. */
  readonly brick: string;

  constructor(brick: string) {
    super("bricks are on their way from a store");
    this.brick = brick;
  }
}

/** The sampler of one thread, with its arena, its view of the brick cache and its SIMD module. */
export class Sampler {
  /** Whether work that cannot pause may be abandoned and begun again, while it waits for a store. */
  mayRestart: () => boolean = () => false;
  readonly accelerator: Accelerator | undefined;
  /** Scratch arrays of filters over cubes of nodes. */
  readonly sumsScratch = new SumsScratch();
  readonly #points: SortedPoints;
  readonly #group: BrickGroup;
  readonly #values: Float64Array;
  readonly #data: Float32Array;
  readonly #cache: BrickPins;
  /** Milliseconds that a point took in the last group of each scheme, in one frame. */
  readonly #pointMs = new WeakMap<Scheme, number>();
  /** Weights of the frames for each point of the group. */
  #groupWeights = new Float64Array(0);
  #records = new Float64Array(0);

  /** @param cache pins the bricks; absent: reads those that the cache does not hold */
  constructor(
    buffer: SharedArrayBuffer,
    layout: MemoryLayout,
    workerIndex: number,
    accelerate: (scratch: { offset: number; bytes: number }) => Accelerator | undefined,
    cache: BrickPins = new BrickCache(buffer, layout.cache, workerIndex),
  ) {
    const arena = new Arena(buffer, layout.arenas + workerIndex * layout.arenaBytes, layout.arenaBytes);
    this.accelerator = accelerate({ offset: arena.take(SIMD_SCRATCH), bytes: SIMD_SCRATCH });
    this.#points = new SortedPoints(arena);
    this.#group = new BrickGroup(arena, this.#points, { buffer, workerIndex, workers: layout.workers, cache });
    this.#values = arena.float64(GROUP_VALUES);
    this.#data = new Float32Array(buffer);
    this.#cache = cache;
  }

  /** Positions of the batch in the caller's order, three values per point; the caller fills it before `sample`. */
  get positions(): Float64Array {
    return this.#points.given;
  }

  /**
   * Evaluates the first `count` of `positions`.
   *
   * @param checkCancel called between groups; throws to end the batch
   * @param from number of points, in the order of evaluation, that earlier calls have evaluated
   * @param mustPause called between groups, and with true while bricks are on their way; true ends the call
   * @returns the next `from`
   */
  sample(
    sampling: Sampling,
    count: number,
    emit: Emit,
    checkCancel: () => void,
    from = 0,
    mustPause: Pause = (waits) => this.#neverPause(waits === true, sampling),
  ): number {
    this.#points.arrange(sampling, sampling.sources[0].bricking, count);
    this.#group.begin(sampling);
    this.#group.dropPassedBricks(sampling);
    try {
      return this.#sampleGroups(sampling, count, emit, checkCancel, from, mustPause);
    } finally {
      this.#group.end(sampling);
    }
  }

  #sampleGroups(
    sampling: Sampling,
    count: number,
    emit: Emit,
    checkCancel: () => void,
    from: number,
    mustPause: Pause,
  ): number {
    const group = this.#group;
    let first = from;
    while (first < count) {
      checkCancel();
      if (first > from && mustPause()) return first;
      let size = 0;
      try {
        size = group.choose(sampling, first, Math.min(count - first, this.#mostPoints(sampling)));
        // Bricks of a store may take long: until they arrive, other tasks run and the query can be cancelled.
        while (!group.isFetched(sampling)) {
          checkCancel();
          if (mustPause(true)) return first;
        }
        group.addBricksMadeTogether(sampling);
        const since = performance.now();
        this.#evaluate(sampling, first, size);
        const pointMs = (performance.now() - since - group.acquireMs) / (size * sampling.combination.frames.length);
        if (size >= TIMED_POINTS) this.#pointMs.set(sampling.scheme, pointMs);
      } finally {
        group.clear();
      }
      emit(this.#values, this.#points.order.subarray(first, first + size), size);
      first += size;
    }
    return count;
  }

  /** Reads the bricks that the first `count` of `positions` need into the cache, as `BrickGroup.readAhead` says. */
  readAhead(sampling: Sampling, count: number, mustStop: () => boolean): void {
    this.#points.arrange(sampling, sampling.sources[0].bricking, count);
    this.#group.begin(sampling);
    this.#group.readAhead(sampling, count, mustStop);
  }

  /** Points that take `GROUP_MS`; as many as fit if frames are combined one after the other. */
  #mostPoints({ scheme, combination: { frames } }: Sampling): number {
    const most = Math.floor(GROUP_VALUES / scheme.components);
    if (this.#group.isFrameByFrame) return most;
    const pointMs = this.#pointMs.get(scheme);
    const timed = pointMs === undefined ? FIRST_GROUP : Math.floor(GROUP_MS / (pointMs * frames.length));
    return Math.min(most, Math.max(TIMED_POINTS, timed));
  }

  /**
   * Fills `#values` with the group's values of the combination of frames: with weights of each point, from combined
   * bricks, from a single frame, from all frames at once, or frame by frame if they do not fit together.
   */
  #evaluate(sampling: Sampling, first: number, size: number): void {
    const {
      scheme,
      sources,
      combination: { frames, weights },
    } = sampling;
    const group = this.#group;
    const values = this.#values;
    const positions = this.#points.positions.subarray(3 * first, 3 * (first + size));
    if (sampling.weights !== undefined && frames.length > 1) {
      this.#evaluateWithOwnWeights(sampling, sampling.weights, positions, first, size);
    } else if (sources[0].combined !== undefined) {
      group.withFields(sources, frames, ([fields]) => scheme.evaluateCombined(fields, positions, 0, size, values));
    } else if (frames.length === 1 && weights[0] === 1) {
      group.withFields(sources, frames, ([fields]) => scheme.evaluate(fields, positions, 0, size, values));
    } else if (!group.isFrameByFrame) {
      group.withFields(sources, frames, (fields) => scheme.combine(fields, weights, positions, 0, size, values));
    } else {
      const withFrame = this.#eachFrame(sampling);
      for (let done = 0; done < size; )
        done += scheme.combineInTurn(weights, withFrame, positions, done, size - done, values);
    }
  }

  /** As `#evaluate`, with weights for each point. */
  #evaluateWithOwnWeights(
    sampling: Sampling,
    weights: Float64Array,
    positions: Float64Array,
    first: number,
    size: number,
  ): void {
    const {
      scheme,
      sources,
      combination: { frames },
    } = sampling;
    const group = this.#group;
    const width = frames.length;
    if (this.#groupWeights.length < width * size) this.#groupWeights = new Float64Array(width * size);
    const groupWeights = this.#groupWeights;
    const order = this.#points.order.subarray(first, first + size);
    for (let i = 0; i < size; i++)
      for (let f = 0; f < width; f++) groupWeights[width * i + f] = weights[width * order[i] + f];
    if (!group.isFrameByFrame) {
      group.withFields(sources, frames, (fields) =>
        scheme.combineEach(fields, groupWeights, positions, 0, size, this.#values),
      );
      return;
    }
    const withFrame = this.#eachFrame(sampling);
    for (let i = 0; i < size; i++)
      scheme.combineInTurn(
        [...groupWeights.subarray(width * i, width * (i + 1))],
        withFrame,
        positions,
        i,
        1,
        this.#values,
      );
  }

  /** Makes a function that calls `use` with the fields of one frame while its bricks are pinned. */
  #eachFrame({ sources, combination: { frames } }: Sampling): Parameters<Scheme["combineInTurn"]>[1] {
    return (f, use) => this.#group.withFields(sources, frames.slice(f, f + 1), ([fields]) => use(fields));
  }

  /** The default `pause`, which never pauses. Throws StoreWait if bricks are on their way and the slice is over. */
  #neverPause(waits: boolean, { sources: [{ source }] }: Sampling): false {
    if (waits && this.mayRestart()) throw new StoreWait(`${source} ${this.#group.firstBrick}`);
    return false;
  }

  /** Lends memory, until the next call, for the records of one point of a box filter: there may be millions. */
  recordsOfPoint(length: number): Float64Array {
    if (this.#records.length < length) this.#records = new Float64Array(length);
    return this.#records.subarray(0, length);
  }

  /** Makes a reader of single bricks of a field, for kernels that walk regions. */
  reader(source: BrickSource): BrickReader {
    const { components, bricking } = source;
    const bricks = new Int32Array(1);
    const request = { ...requestOf(source), count: 1, bricks, offsets: new Int32Array(1), frame: 0 };
    return {
      components,
      bricking,
      visit: (frame, brick, use) => {
        request.frame = frame;
        bricks[0] = brick;
        if (source.fetched !== undefined) this.#awaitBrick(source, frame, bricks);
        this.#cache.acquire([request]);
        try {
          use(this.#data, request.offsets[0]);
        } finally {
          this.#cache.release([request]);
        }
      },
    };
  }

  /** Waits, inside `fetched`, for a brick that the cache lacks. Throws StoreWait when the time slice is over. */
  #awaitBrick({ source, fetched }: BrickSource, frame: number, bricks: Int32Array): void {
    const isOnItsWay = (): boolean =>
      this.#cache.missing({ source, frame, bricks, count: 1 }).length > 0 &&
      fetched?.([{ frame, bricks: [bricks[0]] }])[0]?.bricks.length === 0;
    while (isOnItsWay()) if (this.mayRestart()) throw new StoreWait(`${source} ${frame} ${bricks[0]}`);
  }
}
