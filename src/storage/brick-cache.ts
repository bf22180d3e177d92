/**
 * Byte-bounded LRU cache of decoded bricks in one memory that all worker threads share.
 *
 * The memory is cut into units of 16 KiB; a brick takes a run of units. Everything about a run is kept in arrays indexed
 * by its first unit, so that the lists can be rebuilt from them when a thread dies in the middle of a change.
 * All changes happen under one lock, whose word names its holder; reading bricks from disk happens outside of it.
 * A brick is pinned by a bit per worker while it is in use; bricks without pins form the LRU list.
 */
import { DataError } from "../errors.js";

const UNIT_BYTES = 16 * 1024;
const NONE = -1;

/** Words of the control block. */
const LOCK = 0;
const RELEASED = 1;
const FREE_HEAD = 2;
const OLDEST = 3;
const NEWEST = 4;
const USED_UNITS = 5;
const PINNED_RUNS = 6;
const CONTROL_WORDS = 8;

/** States of a unit; units inside a run are INTERIOR, the last one of a free run is FREE_TAIL. */
const INTERIOR = 0;
const FREE = 1;
const FREE_TAIL = 2;
const LOADING = 3;
const READY = 4;
const FAILED = 5;

/** Figures kept as float64, in this order. */
const HITS = 0;
const MISSES = 1;
const BYTES_READ = 2;
const STATS = 3;

/** Where the cache sits in the shared memory. */
export interface CacheLayout {
  /** First byte of the directory; a multiple of 8. */
  readonly base: number;
  readonly units: number;
  /** Words of 32 pin bits per unit; worker slots are 0 .. 32 * pinWords - 1. */
  readonly pinWords: number;
  readonly buckets: number;
  /** First byte of unit 0. */
  readonly data: number;
  /** First byte after the cache. */
  readonly end: number;
}

/** Figures since start. */
export interface CacheStatus {
  readonly hits: number;
  readonly misses: number;
  readonly bytesRead: number;
  readonly bytesUsed: number;
}

/** Bricks of one frame of one source that are needed together. */
export interface BrickRequest {
  /** Number that stands for one field of one version of a dataset; never reused for other data. */
  readonly source: number;
  readonly frame: number;
  readonly bricks: Int32Array;
  readonly count: number;
  /** Float32 values in a brick. */
  readonly values: number;
  /** Reads a brick from storage. */
  readonly load: (frame: number, brick: number, into: Float32Array) => void;
  /** Receives, per brick, the index of its first value in a Float32Array over the whole memory. */
  readonly offsets: Int32Array;
}

/**
 * Plans a cache of at most `bytes` bytes of bricks from byte `base` of the memory on.
 *
 * @param bytes bound on brick data; the directory adds about 0.3 % to it
 */
export function cacheLayout(base: number, bytes: number, workers: number): CacheLayout {
  const units = Math.max(1, Math.floor(bytes / UNIT_BYTES));
  const pinWords = Math.ceil(workers / 32);
  const buckets = 2 ** Math.ceil(Math.log2(units + 1));
  const start = roundUp(base, 8);
  const words = CONTROL_WORDS + buckets + units * (9 + pinWords);
  const data = roundUp(start + STATS * 8 + words * 4, UNIT_BYTES);
  return { base: start, units, pinWords, buckets, data, end: data + units * UNIT_BYTES };
}

function roundUp(value: number, to: number): number {
  return Math.ceil(value / to) * to;
}

/** One thread's view of the cache. Threads that make views over the same memory and layout share its content. */
export class BrickCache {
  readonly #layout: CacheLayout;
  readonly #slot: number;
  readonly #values: Float32Array;
  readonly #stats: Float64Array;
  readonly #control: Int32Array;
  readonly #bucket: Int32Array;
  readonly #state: Int32Array;
  readonly #length: Int32Array;
  readonly #source: Int32Array;
  readonly #frame: Int32Array;
  readonly #brick: Int32Array;
  readonly #reader: Int32Array;
  readonly #chain: Int32Array;
  readonly #before: Int32Array;
  readonly #after: Int32Array;
  readonly #pins: Int32Array;

  /**
   * @param buffer the shared memory
   * @param slot   worker slot of this thread, or -1 for the thread that only sets up, looks and repairs
   */
  constructor(buffer: SharedArrayBuffer, layout: CacheLayout, slot: number) {
    this.#layout = layout;
    this.#slot = slot;
    this.#values = new Float32Array(buffer);
    this.#stats = new Float64Array(buffer, layout.base, STATS);
    let byte = layout.base + STATS * 8;
    const take = (length: number): Int32Array => {
      const view = new Int32Array(buffer, byte, length);
      byte += length * 4;
      return view;
    };
    this.#control = take(CONTROL_WORDS);
    this.#bucket = take(layout.buckets);
    this.#state = take(layout.units);
    this.#length = take(layout.units);
    this.#source = take(layout.units);
    this.#frame = take(layout.units);
    this.#brick = take(layout.units);
    this.#reader = take(layout.units);
    this.#chain = take(layout.units);
    this.#before = take(layout.units);
    this.#after = take(layout.units);
    this.#pins = take(layout.units * layout.pinWords);
  }

  /** Makes never-used memory an empty cache; called once, before any other thread looks at it. */
  initialise(): void {
    this.#rebuild();
  }

  /** Bytes of bricks the cache can hold. */
  get capacity(): number {
    return this.#layout.units * UNIT_BYTES;
  }

  /** Bytes that a brick of so many float32 values takes up. */
  static brickBytes(values: number): number {
    return roundUp(values * 4, UNIT_BYTES);
  }

  /**
   * Pins all bricks of all requests, reading those that nobody holds yet; waits where another worker is reading one, or
   * while all space is pinned by others. Either everything is pinned or nothing. A worker pins a brick once at a time.
   *
   * @throws DataError when the bricks do not fit the cache at all, or whatever `load` throws
   */
  acquire(requests: readonly BrickRequest[]): void {
    for (;;) {
      this.#reserve(requests);
      try {
        for (const request of requests) this.#read(request);
      } catch (error) {
        this.release(requests);
        throw error;
      }
      if (this.#arrived(requests)) return;
      // Another worker failed to read a brick: try it here, for its data or for its error.
      this.release(requests);
    }
  }

  /** Unpins what `acquire` pinned. */
  release(requests: readonly BrickRequest[]): void {
    this.#lock();
    for (const { count, offsets } of requests) {
      for (let i = 0; i < count; i++) this.#unpin(this.#unitAt(offsets[i] as number));
    }
    this.#unlock();
    this.#announceRelease();
  }

  /** Frees what a dead worker held: the lock, its pins, and bricks it was reading. */
  repair(deadSlot: number): void {
    const dead = holderOf(deadSlot);
    if (Atomics.compareExchange(this.#control, LOCK, dead, holderOf(this.#slot)) !== dead) this.#lock();
    const word = deadSlot >> 5;
    const bit = 1 << (deadSlot & 31);
    const failed: number[] = [];
    this.#eachRun((unit) => {
      const at = unit * this.#layout.pinWords + word;
      this.#pins[at] = (this.#pins[at] as number) & ~bit;
      if (this.#state[unit] !== LOADING || this.#reader[unit] !== deadSlot) return;
      this.#state[unit] = FAILED;
      failed.push(unit);
    });
    this.#rebuild();
    this.#unlock();
    for (const unit of failed) Atomics.notify(this.#state, unit);
    this.#announceRelease();
  }

  status(): CacheStatus {
    return {
      hits: this.#stats[HITS] as number,
      misses: this.#stats[MISSES] as number,
      bytesRead: this.#stats[BYTES_READ] as number,
      bytesUsed: (this.#control[USED_UNITS] as number) * UNIT_BYTES,
    };
  }

  /** Pins what is there and reserves space for the rest, all or nothing, waiting for other workers' pins if it must. */
  #reserve(requests: readonly BrickRequest[]): void {
    for (;;) {
      this.#lock();
      const released = Atomics.load(this.#control, RELEASED);
      const done = this.#place(requests);
      const alone = this.#control[PINNED_RUNS] === 0;
      this.#unlock();
      if (done) return;
      if (alone) {
        const bytes = requests.reduce((sum, { count, values }) => sum + count * BrickCache.brickBytes(values), 0);
        throw new DataError(`The brick cache of ${this.capacity} bytes cannot hold ${bytes} bytes needed at once.`);
      }
      Atomics.wait(this.#control, RELEASED, released, 100);
    }
  }

  /** Under the lock: the body of `#reserve`; undoes itself and returns false when space runs out. */
  #place(requests: readonly BrickRequest[]): boolean {
    let hits = 0;
    for (const { source, frame, bricks, count, offsets } of requests) {
      for (let i = 0; i < count; i++) {
        const unit = this.#find(source, frame, bricks[i] as number);
        offsets[i] = NONE;
        if (unit === NONE) continue;
        this.#pin(unit);
        offsets[i] = this.#offsetOf(unit);
        hits++;
      }
    }
    let misses = 0;
    for (const request of requests) {
      const { source, frame, bricks, count, values, offsets } = request;
      const units = BrickCache.brickBytes(values) / UNIT_BYTES;
      for (let i = 0; i < count; i++) {
        if (offsets[i] !== NONE) continue;
        const unit = this.#allocate(units);
        if (unit === NONE) {
          this.#undo(requests);
          return false;
        }
        this.#source[unit] = source;
        this.#frame[unit] = frame;
        this.#brick[unit] = bricks[i] as number;
        this.#reader[unit] = this.#slot;
        this.#state[unit] = LOADING;
        this.#link(unit);
        this.#pin(unit);
        offsets[i] = this.#offsetOf(unit);
        misses++;
      }
    }
    this.#stats[HITS] = (this.#stats[HITS] as number) + hits;
    this.#stats[MISSES] = (this.#stats[MISSES] as number) + misses;
    return true;
  }

  /** Under the lock: drops every pin and reservation that an unfinished `#place` made. */
  #undo(requests: readonly BrickRequest[]): void {
    for (const { count, offsets } of requests) {
      for (let i = 0; i < count; i++) {
        const offset = offsets[i] as number;
        if (offset === NONE) continue;
        const unit = this.#unitAt(offset);
        if (this.#state[unit] === LOADING && this.#reader[unit] === this.#slot) this.#fail(unit);
        this.#unpin(unit);
      }
    }
  }

  /** Reads the bricks that this worker has reserved; on failure marks the rest of them failed. */
  #read(request: BrickRequest): void {
    const { frame, bricks, count, values, load, offsets } = request;
    let bytes = 0;
    for (let i = 0; i < count; i++) {
      const offset = offsets[i] as number;
      const unit = this.#unitAt(offset);
      if (this.#state[unit] !== LOADING || this.#reader[unit] !== this.#slot) continue;
      try {
        load(frame, bricks[i] as number, this.#values.subarray(offset, offset + values));
      } catch (error) {
        this.#failReserved();
        throw error;
      }
      bytes += values * 4;
      Atomics.store(this.#state, unit, READY);
      Atomics.notify(this.#state, unit);
    }
    if (bytes === 0) return;
    this.#lock();
    this.#stats[BYTES_READ] = (this.#stats[BYTES_READ] as number) + bytes;
    this.#unlock();
  }

  /** Marks everything this worker has reserved and not read as failed, and wakes who waits for it. */
  #failReserved(): void {
    const failed: number[] = [];
    this.#lock();
    this.#eachRun((unit) => {
      if (this.#state[unit] !== LOADING || this.#reader[unit] !== this.#slot) return;
      this.#fail(unit);
      failed.push(unit);
    });
    this.#unlock();
    for (const unit of failed) Atomics.notify(this.#state, unit);
  }

  /** Waits until other workers have read the bricks they reserved; false when one of them failed. */
  #arrived(requests: readonly BrickRequest[]): boolean {
    let complete = true;
    for (const { count, offsets } of requests) {
      for (let i = 0; i < count; i++) {
        const unit = this.#unitAt(offsets[i] as number);
        while (Atomics.load(this.#state, unit) === LOADING) Atomics.wait(this.#state, unit, LOADING, 1000);
        if (Atomics.load(this.#state, unit) === FAILED) complete = false;
      }
    }
    return complete;
  }

  #lock(): void {
    const holder = holderOf(this.#slot);
    for (;;) {
      const found = Atomics.compareExchange(this.#control, LOCK, 0, holder);
      if (found === 0) return;
      Atomics.wait(this.#control, LOCK, found, 20);
    }
  }

  #unlock(): void {
    Atomics.store(this.#control, LOCK, 0);
    Atomics.notify(this.#control, LOCK, 1);
  }

  #announceRelease(): void {
    Atomics.add(this.#control, RELEASED, 1);
    Atomics.notify(this.#control, RELEASED);
  }

  #unitAt(offset: number): number {
    return (offset * 4 - this.#layout.data) / UNIT_BYTES;
  }

  #offsetOf(unit: number): number {
    return (this.#layout.data + unit * UNIT_BYTES) / 4;
  }

  #hash(source: number, frame: number, brick: number): number {
    let hash = Math.imul(source, 0x9e3779b1) ^ Math.imul(frame + 1, 0x85ebca6b) ^ Math.imul(brick + 1, 0xc2b2ae35);
    hash ^= hash >>> 15;
    hash = Math.imul(hash, 0x2c1b3c6d);
    return (hash ^ (hash >>> 13)) & (this.#layout.buckets - 1);
  }

  #find(source: number, frame: number, brick: number): number {
    let unit = this.#bucket[this.#hash(source, frame, brick)] as number;
    while (unit !== NONE) {
      if (this.#brick[unit] === brick && this.#frame[unit] === frame && this.#source[unit] === source) return unit;
      unit = this.#chain[unit] as number;
    }
    return NONE;
  }

  #link(unit: number): void {
    const at = this.#hash(this.#source[unit] as number, this.#frame[unit] as number, this.#brick[unit] as number);
    this.#chain[unit] = this.#bucket[at] as number;
    this.#bucket[at] = unit;
  }

  #unlink(unit: number): void {
    const at = this.#hash(this.#source[unit] as number, this.#frame[unit] as number, this.#brick[unit] as number);
    let previous = NONE;
    for (let found = this.#bucket[at] as number; found !== NONE; found = this.#chain[found] as number) {
      if (found === unit) {
        if (previous === NONE) this.#bucket[at] = this.#chain[unit] as number;
        else this.#chain[previous] = this.#chain[unit] as number;
        return;
      }
      previous = found;
    }
  }

  #pinned(unit: number): boolean {
    const first = unit * this.#layout.pinWords;
    for (let word = 0; word < this.#layout.pinWords; word++) if (this.#pins[first + word] !== 0) return true;
    return false;
  }

  #pin(unit: number): void {
    if (!this.#pinned(unit)) {
      if (this.#state[unit] === READY) this.#detach(unit, OLDEST);
      this.#control[PINNED_RUNS] = (this.#control[PINNED_RUNS] as number) + 1;
    }
    const at = unit * this.#layout.pinWords + (this.#slot >> 5);
    this.#pins[at] = (this.#pins[at] as number) | (1 << (this.#slot & 31));
  }

  /** Drops this worker's pin; a ready brick without pins becomes the newest of the LRU list, a failed one is freed. */
  #unpin(unit: number): void {
    const at = unit * this.#layout.pinWords + (this.#slot >> 5);
    this.#pins[at] = (this.#pins[at] as number) & ~(1 << (this.#slot & 31));
    if (this.#pinned(unit)) return;
    this.#control[PINNED_RUNS] = (this.#control[PINNED_RUNS] as number) - 1;
    if (this.#state[unit] === FAILED) this.#free(unit);
    else this.#append(unit);
  }

  /** Takes a reserved run out of the hash; its memory stays until the last pin is gone. */
  #fail(unit: number): void {
    this.#unlink(unit);
    Atomics.store(this.#state, unit, FAILED);
  }

  /** A run of `units` units, evicting the oldest bricks until one is found; NONE when only pinned ones are left. */
  #allocate(units: number): number {
    for (;;) {
      for (let unit = this.#control[FREE_HEAD] as number; unit !== NONE; unit = this.#after[unit] as number) {
        if ((this.#length[unit] as number) < units) continue;
        this.#detach(unit, FREE_HEAD);
        const rest = (this.#length[unit] as number) - units;
        if (rest > 0) this.#addFree(unit + units, rest);
        this.#state.fill(INTERIOR, unit, unit + units);
        this.#length[unit] = units;
        this.#control[USED_UNITS] = (this.#control[USED_UNITS] as number) + units;
        return unit;
      }
      const oldest = this.#control[OLDEST] as number;
      if (oldest === NONE) return NONE;
      this.#detach(oldest, OLDEST);
      this.#unlink(oldest);
      this.#free(oldest);
    }
  }

  /** Gives a run back and joins it with free neighbours. */
  #free(unit: number): void {
    let first = unit;
    let length = this.#length[unit] as number;
    this.#control[USED_UNITS] = (this.#control[USED_UNITS] as number) - length;
    const next = unit + length;
    if (next < this.#layout.units && this.#state[next] === FREE) {
      this.#detach(next, FREE_HEAD);
      length += this.#length[next] as number;
    }
    const last = unit - 1;
    if (last >= 0 && (this.#state[last] === FREE_TAIL || (this.#state[last] === FREE && this.#length[last] === 1))) {
      first = unit - (this.#length[last] as number);
      this.#detach(first, FREE_HEAD);
      length += this.#length[last] as number;
    }
    this.#addFree(first, length);
  }

  #addFree(unit: number, length: number): void {
    this.#state.fill(INTERIOR, unit, unit + length);
    this.#length[unit + length - 1] = length;
    this.#state[unit + length - 1] = FREE_TAIL;
    this.#length[unit] = length;
    this.#state[unit] = FREE;
    const head = this.#control[FREE_HEAD] as number;
    this.#before[unit] = NONE;
    this.#after[unit] = head;
    if (head !== NONE) this.#before[head] = unit;
    this.#control[FREE_HEAD] = unit;
  }

  /** Takes a run out of the free list or the LRU list, whose head word is `head`. */
  #detach(unit: number, head: typeof FREE_HEAD | typeof OLDEST): void {
    const before = this.#before[unit] as number;
    const after = this.#after[unit] as number;
    if (before === NONE) this.#control[head] = after;
    else this.#after[before] = after;
    if (after !== NONE) this.#before[after] = before;
    else if (head === OLDEST) this.#control[NEWEST] = before;
  }

  #append(unit: number): void {
    const newest = this.#control[NEWEST] as number;
    this.#before[unit] = newest;
    this.#after[unit] = NONE;
    if (newest === NONE) this.#control[OLDEST] = unit;
    else this.#after[newest] = unit;
    this.#control[NEWEST] = unit;
  }

  #eachRun(visit: (unit: number) => void): void {
    for (let unit = 0; unit < this.#layout.units; ) {
      if ((this.#state[unit] as number) < LOADING) {
        unit++;
        continue;
      }
      const length = this.#length[unit] as number;
      visit(unit);
      unit += length;
    }
  }

  /** Makes all lists anew from states, lengths, keys and pins. */
  #rebuild(): void {
    const control = this.#control;
    this.#bucket.fill(NONE);
    control[FREE_HEAD] = NONE;
    control[OLDEST] = NONE;
    control[NEWEST] = NONE;
    control[USED_UNITS] = 0;
    control[PINNED_RUNS] = 0;
    let end = 0;
    const gap = (until: number): void => {
      if (until > end) this.#addFree(end, until - end);
    };
    this.#eachRun((unit) => {
      if (this.#state[unit] === FAILED && !this.#pinned(unit)) {
        this.#state[unit] = INTERIOR;
        return;
      }
      gap(unit);
      end = unit + (this.#length[unit] as number);
      control[USED_UNITS] = (control[USED_UNITS] as number) + end - unit;
      if (this.#state[unit] !== FAILED) this.#link(unit);
      if (this.#pinned(unit)) control[PINNED_RUNS] = (control[PINNED_RUNS] as number) + 1;
      else this.#append(unit);
    });
    gap(this.#layout.units);
  }
}

function holderOf(slot: number): number {
  return slot + 2;
}
