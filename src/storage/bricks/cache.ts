/**
 * Byte-bounded LRU cache of decoded bricks in one memory that all worker threads share.
 *
 * All changes of the directory happen under one lock, whose word names its holder; reading bricks from disk happens outside
 * of it. A brick is pinned by a bit per worker while it is in use; bricks without pins form the LRU list.
 */
import { DataError } from "../../errors.js";
import { BYTES_READ, type CacheLayout, HITS, LOCK, MISSES, RELEASED, roundUp, UNIT_BYTES } from "./cache-layout.js";
import { BrickDirectory, FAILED, LOADING, NONE, READY } from "./directory.js";

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

/** One thread's view of the cache. Threads that make views over the same memory and layout share its content. */
export class BrickCache {
  readonly #slot: number;
  readonly #values: Float32Array;
  readonly #directory: BrickDirectory;
  readonly #control: Int32Array;
  readonly #state: Int32Array;
  readonly #stats: Float64Array;

  /**
   * @param buffer the shared memory
   * @param slot   worker slot of this thread, or -1 for the thread that only sets up, looks and repairs
   */
  constructor(buffer: SharedArrayBuffer, layout: CacheLayout, slot: number) {
    this.#slot = slot;
    this.#values = new Float32Array(buffer);
    this.#directory = new BrickDirectory(buffer, layout, slot);
    this.#control = this.#directory.control;
    this.#state = this.#directory.state;
    this.#stats = this.#directory.stats;
  }

  /** Makes never-used memory an empty cache; called once, before any other thread looks at it. */
  initialise(): void {
    this.#directory.rebuild();
  }

  /** Bytes of bricks the cache can hold. */
  get capacity(): number {
    return this.#directory.capacity;
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
      for (let i = 0; i < count; i++) this.#directory.unpin(this.#directory.unitAt(offsets[i]));
    }
    this.#unlock();
    this.#announceRelease();
  }

  /**
   * Frees what a dead worker held: the lock, its pins, and bricks it was reading.
   *
   * @returns false when another has the lock. It may have died as well, and who waits here does not hear of that: to be
   *   called again later.
   */
  repair(deadSlot: number): boolean {
    const dead = holderOf(deadSlot);
    const own = holderOf(this.#slot);
    const found = Atomics.compareExchange(this.#control, LOCK, dead, own);
    if (found !== dead && Atomics.compareExchange(this.#control, LOCK, 0, own) !== 0) return false;
    const failed: number[] = [];
    this.#directory.eachRun((unit) => {
      this.#directory.dropPins(unit, deadSlot);
      if (this.#state[unit] !== LOADING || this.#directory.reader[unit] !== deadSlot) return;
      this.#state[unit] = FAILED;
      failed.push(unit);
    });
    this.#directory.rebuild();
    this.#unlock();
    for (const unit of failed) Atomics.notify(this.#state, unit);
    this.#announceRelease();
    return true;
  }

  status(): CacheStatus {
    return {
      hits: this.#stats[HITS],
      misses: this.#stats[MISSES],
      bytesRead: this.#stats[BYTES_READ],
      bytesUsed: this.#directory.bytesUsed,
    };
  }

  /** Pins what is there and reserves space for the rest, all or nothing, waiting for other workers' pins if it must. */
  #reserve(requests: readonly BrickRequest[]): void {
    const bytes = requests.reduce((sum, { count, values }) => sum + count * BrickCache.brickBytes(values), 0);
    if (bytes > this.capacity) {
      throw new DataError(`The brick cache of ${this.capacity} bytes cannot hold ${bytes} bytes needed at once.`);
    }
    for (;;) {
      this.#lock();
      const released = Atomics.load(this.#control, RELEASED);
      let done = this.#place(requests);
      if (!done && !this.#directory.anyPinned) {
        // Bricks at hand that are needed again may lie so that nothing long enough is free between them.
        this.#directory.clear();
        done = this.#place(requests);
      }
      this.#unlock();
      if (done) return;
      Atomics.wait(this.#control, RELEASED, released, 100);
    }
  }

  /** Under the lock: the body of `#reserve`; undoes itself and returns false when space runs out. */
  #place(requests: readonly BrickRequest[]): boolean {
    let hits = 0;
    for (const { source, frame, bricks, count, offsets } of requests) {
      for (let i = 0; i < count; i++) {
        const unit = this.#directory.find(source, frame, bricks[i]);
        offsets[i] = NONE;
        if (unit === NONE) continue;
        this.#directory.pin(unit);
        offsets[i] = this.#directory.offsetOf(unit);
        hits++;
      }
    }
    let misses = 0;
    for (const request of requests) {
      const { source, frame, bricks, count, values, offsets } = request;
      const bytes = BrickCache.brickBytes(values);
      for (let i = 0; i < count; i++) {
        if (offsets[i] !== NONE) continue;
        const unit = this.#directory.reserve(source, frame, bricks[i], bytes);
        if (unit === NONE) {
          this.#undo(requests);
          return false;
        }
        offsets[i] = this.#directory.offsetOf(unit);
        misses++;
      }
    }
    this.#stats[HITS] = this.#stats[HITS] + hits;
    this.#stats[MISSES] = this.#stats[MISSES] + misses;
    return true;
  }

  /** Under the lock: drops every pin and reservation that an unfinished `#place` made. */
  #undo(requests: readonly BrickRequest[]): void {
    for (const { count, offsets } of requests) {
      for (let i = 0; i < count; i++) {
        const offset = offsets[i];
        if (offset === NONE) continue;
        const unit = this.#directory.unitAt(offset);
        if (this.#state[unit] === LOADING && this.#directory.reader[unit] === this.#slot) this.#directory.fail(unit);
        this.#directory.unpin(unit);
      }
    }
  }

  /** Reads the bricks that this worker has reserved; on failure marks the rest of them failed. */
  #read(request: BrickRequest): void {
    const { frame, bricks, count, values, load, offsets } = request;
    let bytes = 0;
    for (let i = 0; i < count; i++) {
      const offset = offsets[i];
      const unit = this.#directory.unitAt(offset);
      if (this.#state[unit] !== LOADING || this.#directory.reader[unit] !== this.#slot) continue;
      try {
        load(frame, bricks[i], this.#values.subarray(offset, offset + values));
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
    this.#stats[BYTES_READ] = this.#stats[BYTES_READ] + bytes;
    this.#unlock();
  }

  /** Marks everything this worker has reserved and not read as failed, and wakes who waits for it. */
  #failReserved(): void {
    const failed: number[] = [];
    this.#lock();
    this.#directory.eachRun((unit) => {
      if (this.#state[unit] !== LOADING || this.#directory.reader[unit] !== this.#slot) return;
      this.#directory.fail(unit);
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
        const unit = this.#directory.unitAt(offsets[i]);
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
}

function holderOf(slot: number): number {
  return slot + 2;
}
