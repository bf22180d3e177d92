/**
 * The bricks of a group of points: chosen to fit this worker's part of the cache and a time slice, fetched from stores,
 * and pinned while the group is evaluated. In some sweeps, one combined brick (`combined-field.ts`) replaces those of
 * all frames.
 */
import type { BrickField, Bricking, FrameWeights, Scheme } from "../../kernels/types.js";
import { DataError } from "../../shared/errors.js";
import type { BrickPins, BrickRequest } from "../../storage/bricks/cache.js";
import { brickBytes } from "../../storage/bricks/directory.js";
import { MAX_BRICKS } from "../../storage/dataset/dataset.js";
import { type Arena, MAX_FRAMES, PINNED_PART } from "../contract/memory.js";
import type { BrickSource } from "./brick-source.js";
import type { SortedPoints } from "./sorted-points.js";

/** Most points by which a group grows at a time. */
const GROUP_STEP = 1024;
/** Growth below which a group is complete. */
const SMALLEST_STEP = 16;
/** Rough bound on the time for reading the bricks that a group lacks. */
const READ_MS = 4;
/** Bricks kept when a group is cleared. */
const NONE = [0, 0] as const;
/** Estimate of the time for reading a brick, until one has been read. */
const FIRST_READ_MS = 1;

/** What is evaluated at the points: a scheme on fields, at a combination of frames. */
export interface SampledFields {
  readonly scheme: Scheme;
  readonly sources: readonly BrickSource[];
  readonly combination: FrameWeights;
}

/** Receives the fields of each frame while their bricks are pinned. */
type UseFields = (fields: readonly (readonly BrickField[])[]) => void;

interface FieldBricks {
  /** For each frame by brick: index of its first value in the memory; -1 if it is not pinned. */
  readonly tables: readonly Int32Array[];
  /** By brick: 1 if it is in `list`. */
  readonly marks: Uint8Array;
  /** Cleared entries of tables and marks; the others are left over from an earlier thread. */
  cleared: number;
  /** The bricks that the group needs: the first `length` entries. */
  readonly list: Int32Array;
  length: number;
  /** Number of the following entries: combined bricks made together with the bricks of the group. */
  more: number;
  /** For each frame and entry of `list`: index of the first value in the memory. */
  offsets: readonly Int32Array[];
}

interface GroupMemory {
  readonly buffer: SharedArrayBuffer;
  readonly workerIndex: number;
  readonly workers: number;
  readonly cache: BrickPins;
}

export class BrickGroup {
  /** Whether frames are combined one after another, because the cache cannot hold a stencil in all frames. */
  isFrameByFrame = false;
  acquireMs = 0;
  readonly #points: SortedPoints;
  readonly #fields: readonly [FieldBricks, FieldBricks];
  readonly #data: Float32Array;
  /** The same memory as float64, the type of combined bricks. */
  readonly #sums: Float64Array;
  readonly #workerIndex: number;
  readonly #cache: BrickPins;
  /** This worker's part of the cache, in bytes. */
  readonly #budget: number;
  /** Bytes that each worker can pin while all others pin as much. */
  readonly #allowance: number;
  #mostPinned = 0;
  /** First growth of the next group, in points. */
  #step = GROUP_STEP;
  /** Milliseconds per brick of the last reads. */
  #readMs = FIRST_READ_MS;
  /** Bricks of files that the cache lacks for the group. */
  #lacking = 0;
  /** Index in the order of evaluation of the first and the last point of the group. */
  #first = 0;
  #last = 0;

  constructor(arena: Arena, points: SortedPoints, { buffer, workerIndex, workers, cache }: GroupMemory) {
    const bricks = (): FieldBricks => ({
      tables: Array.from({ length: MAX_FRAMES }, () => arena.int32(MAX_BRICKS)),
      marks: arena.uint8(MAX_BRICKS),
      cleared: 0,
      list: arena.int32(MAX_BRICKS),
      offsets: roomFor(256),
      length: 0,
      more: 0,
    });
    this.#fields = [bricks(), bricks()];
    this.#points = points;
    this.#data = new Float32Array(buffer);
    this.#sums = new Float64Array(buffer);
    this.#workerIndex = workerIndex;
    this.#cache = cache;
    // One part more than there are workers: bricks lie in runs of units, so pins that filled the whole cache could
    // leave free units but no run of them that is long enough.
    this.#budget = Math.floor(cache.capacity / (workers + 1));
    this.#allowance = Math.floor(cache.capacity / workers);
  }

  /**
   * Decides how many bytes a group may pin: this worker's part of the cache or, if that is more, the bricks of a
   * stencil at a corner of bricks in all frames. If these exceed the cache, frames are combined one after the other;
   * each is then read for every group, so groups are large: they may pin most of the cache.
   */
  begin({ sources, combination: { frames } }: SampledFields): void {
    const corner = sources.reduce((sum, source) => {
      const bricks = source.bricking.count.reduce((product, count) => product * Math.min(2, count), 1);
      return sum + bricks * frames.length * brickBytes(brickValues(source));
    }, 0);
    const most = PINNED_PART * this.#cache.capacity;
    this.isFrameByFrame = frames.length > 1 && corner > most;
    this.#mostPinned = this.isFrameByFrame ? most : Math.max(this.#budget, frames.length > 1 ? corner : 0);
  }

  /** Drops the combined bricks that the sweep has passed, as a batch begins or goes on. */
  dropPassedBricks({ sources }: SampledFields): void {
    for (const { source, combined } of sources) {
      if (combined === undefined) continue;
      const bricks = Int32Array.from(combined.passed(this.#points.positions, this.#workerIndex));
      if (bricks.length > 0) this.#cache.drop({ source, frame: 0, bricks, count: bricks.length });
    }
  }

  /** Lets other threads drop combined bricks without this one. */
  end({ sources }: SampledFields): void {
    for (const { combined } of sources) combined?.leave(this.#workerIndex);
  }

  /** Chooses at least one point: steps grow while their bricks fit, then shrink. Returns the number of points. */
  choose(sampled: SampledFields, first: number, most: number): number {
    let size = 0;
    let step = this.#step;
    let isFull = false;
    this.#lacking = 0;
    while (size < most) {
      const count = Math.min(step, most - size);
      const before = this.#fields.map(({ length }) => length);
      this.#cover(sampled, first + size, count);
      const bytes = this.#bytes(sampled.sources, this.isFrameByFrame ? 1 : sampled.combination.frames.length);
      const lacking = this.#lacking + this.#countLacking(sampled, before);
      const fits = bytes <= this.#mostPinned && lacking * this.#readMs <= READ_MS;
      if (fits || (size === 0 && count === 1)) {
        this.#lacking = lacking;
        size += count;
        if (!isFull) step = Math.min(4 * step, GROUP_STEP);
        continue;
      }
      isFull = true;
      this.#keep(before);
      if (size > 0 && step <= SMALLEST_STEP) break;
      step = Math.ceil(step / 4);
    }
    this.#step = Math.min(size, GROUP_STEP);
    this.#first = first;
    this.#last = first + size - 1;
    this.acquireMs = 0;
    return size;
  }

  clear(): void {
    this.#keep(NONE);
  }

  /** The first brick of the group. */
  get firstBrick(): number {
    return this.#fields[0].list[0];
  }

  /**
   * Caches bricks that have arrived from their store, and starts to fetch the others.
   *
   * @returns whether every brick of the group is in the cache, has arrived or has failed
   */
  isFetched({ sources, combination: { frames } }: SampledFields): boolean {
    if (sources[0].combined !== undefined) return this.#isCombinedFetched(sources);
    if (sources.every(({ fetched }) => fetched === undefined)) return true;
    const arrived = sources.map(({ fetched, source }, i) => {
      if (fetched === undefined) return [];
      const { list: bricks, length: count } = this.#fields[i];
      const missing = frames
        .map((frame) => ({ frame, bricks: this.#cache.missing({ source, frame, bricks, count }) }))
        .filter((ofFrame) => ofFrame.bricks.length > 0);
      if (missing.length === 0) return [];
      return fetched(missing).map((ofFrame, f) => ({ ...ofFrame, requested: missing[f].bricks.length }));
    });
    // Bricks are not pinned yet: if the group exceeds this worker's share of the cache, they could evict each other.
    if (this.#mostPinned <= this.#budget)
      for (const [i, ofField] of arrived.entries())
        for (const { frame, bricks } of ofField)
          for (const brick of bricks) this.#readMissing(sources[i], frame, brick);
    return arrived.flat().every(({ bricks, requested }) => bricks.length === requested);
  }

  /**
   * As `isFetched`, for the stored bricks of combined ones. It takes none before all have arrived: the first would be
   * evicted to make room for the rest, and fetched again without end.
   */
  #isCombinedFetched(sources: readonly BrickSource[]): boolean {
    const arrived = sources.map(({ source, combined }, i) => {
      const { list: bricks, length: count } = this.#fields[i];
      const missing = this.#cache.missing({ source, frame: 0, bricks, count });
      return missing.length === 0 || combined?.areFetched(missing);
    });
    return arrived.every(Boolean);
  }

  /** Adds combined bricks that are made together with the missing ones, so that each stored brick is read once. */
  addBricksMadeTogether({ sources }: SampledFields): void {
    if (sources.every(({ combined }) => combined === undefined)) return;
    let room = this.#allowance - this.#bytes(sources, 1) - brickBytes(scratchValues(sources));
    for (const [i, source] of sources.entries()) room = this.#addBricksMadeWith(source, this.#fields[i], room);
  }

  /** Adds the bricks of one field while they fit. Returns the bytes that are left. */
  #addBricksMadeWith(field: BrickSource, bricksOfField: FieldBricks, room: number): number {
    const { source, combined } = field;
    const { list, marks, length: count } = bricksOfField;
    const one = brickBytes(brickValues(field));
    let left = room;
    if (combined === undefined) return left;
    for (const brick of this.#cache.missing({ source, frame: 0, bricks: list, count })) {
      const together = combined.madeWith(brick, this.#points.positions, this.#first, this.#last);
      const bricks = Int32Array.from(together.filter((more) => !marks[more]));
      for (const more of this.#cache.missing({ source, frame: 0, bricks, count: bricks.length })) {
        if (one > left) return left;
        left -= one;
        marks[more] = 1;
        list[count + bricksOfField.more++] = more;
      }
    }
    return left;
  }

  /** Calls `use` with the fields of each frame, while the group's bricks of the frames are pinned and in the tables. */
  withFields(sources: readonly BrickSource[], frames: readonly number[], use: UseFields): void {
    const wanted: BrickRequest[] = [];
    const fields: BrickField[][] = [];
    for (const space of this.#fields) {
      const count = space.length + space.more;
      if (space.offsets[0].length < count) space.offsets = roomFor(2 * count);
    }
    // Spelled out: spreads take as long as the evaluation of a point.
    for (let f = 0; f < frames.length; f++) {
      const ofFrame: BrickField[] = [];
      for (let i = 0; i < sources.length; i++) {
        const { source, components, bricking, load, combined } = sources[i];
        const { list: bricks, tables, offsets, length, more } = this.#fields[i];
        const count = length + more;
        wanted.push({
          source,
          frame: frames[f],
          bricks,
          count,
          values: brickValues(sources[i]),
          load,
          offsets: offsets[f],
        });
        ofFrame.push({ components, bricking, data: combined ? this.#sums : this.#data, table: tables[f] });
      }
      fields.push(ofFrame);
    }
    const requests = this.#withScratch(sources, wanted);
    const since = performance.now();
    this.#cache.acquire(requests);
    const spent = performance.now() - since;
    this.acquireMs += spent;
    if (this.#lacking > 0) this.#readMs = spent / this.#lacking;
    try {
      this.#setTables(sources.length, frames.length, sources[0].combined === undefined ? 1 : 2);
      use(fields);
    } finally {
      this.#setTables(sources.length, frames.length, 0);
      this.#cache.release(requests);
    }
  }

  /**
   * Reads the bricks of the first `count` points into the cache until `mustStop`. It does nothing for stores, from which
   * a batch fetches all its bricks at once, nor if the cache is too small for all frames.
   */
  readAhead(sampled: SampledFields, count: number, mustStop: () => boolean): void {
    const { sources, combination } = sampled;
    if (this.isFrameByFrame || sources.some((source) => (source.combined?.stored ?? source).fetched !== undefined))
      return;
    try {
      this.#cover(sampled, 0, count);
      for (const [i, source] of sources.entries()) {
        const { list, length } = this.#fields[i];
        for (const brick of list.subarray(0, length))
          for (const frame of combination.frames)
            if (!mustStop())
              this.#readMissing(source, frame, brick, () =>
                source.combined?.madeWith(brick, this.#points.positions, 0, count - 1),
              );
      }
    } finally {
      this.clear();
    }
  }

  /** Reads a brick into the cache, unless it is there. `together`: combined bricks that are made with it. */
  #readMissing(
    source: BrickSource,
    frame: number,
    brick: number,
    together: () => number[] | undefined = () => undefined,
  ): void {
    const alone = Int32Array.of(brick);
    if (this.#cache.missing({ source: source.source, frame, bricks: alone, count: 1 }).length === 0) return;
    const bricks = Int32Array.from(together() ?? alone);
    const offsets = new Int32Array(bricks.length);
    const request = { ...requestOf(source), frame, bricks, count: bricks.length, offsets };
    const requests = this.#withScratch([source], [request]);
    this.#cache.acquire(requests);
    this.#cache.release(requests);
  }

  /**
   * Requests that make combined bricks, from one stored brick at a time. A further request before them gets room for
   * that one: its brick belongs to no field but to this worker.
   */
  #withScratch(sources: readonly BrickSource[], requests: readonly BrickRequest[]): readonly BrickRequest[] {
    if (sources.every(({ combined }) => combined === undefined)) return requests;
    const values = scratchValues(sources);
    const offsets = new Int32Array(1);
    const load = (): void => undefined;
    // The size serves as the brick's number, so that a room of another size is another brick.
    const bricks = Int32Array.of(values);
    const makeNothing: BrickRequest["make"] = (_bricks, _offsets, made) => made(0);
    const source = -1 - this.#workerIndex;
    const room = { source, frame: 0, bricks, count: 1, values, load, make: makeNothing, offsets };
    const making = requests.map((request, i): BrickRequest => {
      const makeCombined: BrickRequest["make"] = (bricks, places, made) => {
        const memory = { data: this.#data, sums: this.#sums, scratch: offsets[0] };
        this.#cache.countRead(sources[i].combined?.make(bricks, places, memory, made) ?? 0);
      };
      return { ...request, make: makeCombined };
    });
    return [room, ...making];
  }

  #cover({ scheme, sources }: SampledFields, first: number, count: number): void {
    for (const [i, { bricking }] of sources.entries()) {
      const space = this.#fields[i];
      clearTables(space, bricking);
      const { positions } = this.#points;
      space.length = scheme.listBricks(bricking, positions, first, count, space.marks, space.list, space.length);
    }
  }

  #keep(lengths: readonly number[]): void {
    for (const [i, space] of this.#fields.entries()) {
      for (let k = lengths[i]; k < space.length + space.more; k++) space.marks[space.list[k]] = 0;
      space.length = lengths[i];
      space.more = 0;
    }
  }

  #bytes(sources: readonly BrickSource[], frames: number): number {
    return sources.reduce((bytes, source, i) => {
      return bytes + frames * this.#fields[i].length * brickBytes(brickValues(source));
    }, 0);
  }

  /** Counts the bricks to be read from files, not stores, from entry `from` of each field on. */
  #countLacking({ sources, combination: { frames } }: SampledFields, from: readonly number[]): number {
    if (this.isFrameByFrame) return 0;
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

  /** Puts the group's bricks into the tables. `words`: size of a value in 32 bits; 0 takes bricks out. */
  #setTables(sources: number, frames: number, words: 0 | 1 | 2): void {
    for (let i = 0; i < sources; i++) {
      const { tables, list, offsets, length } = this.#fields[i];
      for (let f = 0; f < frames; f++) {
        const table = tables[f];
        const first = offsets[f];
        for (let k = 0; k < length; k++) table[list[k]] = words === 0 ? -1 : first[k] / words;
      }
    }
  }
}

/** Clears the tables of a field as far as it has bricks. Throws DataError if it has too many. */
function clearTables(space: FieldBricks, { count }: Bricking): void {
  const bricks = count[0] * count[1] * count[2];
  if (bricks > MAX_BRICKS) throw new DataError(`A field of ${bricks} bricks is too finely cut to be served.`);
  if (bricks <= space.cleared) return;
  for (const table of space.tables) table.fill(-1, space.cleared, bricks);
  space.marks.fill(0, space.cleared, bricks);
  space.cleared = bricks;
}

function roomFor(bricks: number): readonly Int32Array[] {
  return Array.from({ length: MAX_FRAMES }, () => new Int32Array(bricks));
}

function brickValues({ components, bricking: { edge }, combined }: BrickSource): number {
  return edge[0] * edge[1] * edge[2] * components * (combined === undefined ? 1 : 2);
}

/** Float32 values of the largest stored brick that combined ones are made of. */
function scratchValues(sources: readonly BrickSource[]): number {
  return Math.max(...sources.map(({ combined }) => combined?.storedValues ?? 0));
}

export function requestOf(source: BrickSource): Pick<BrickRequest, "source" | "values" | "load"> {
  return { source: source.source, values: brickValues(source), load: source.load };
}
