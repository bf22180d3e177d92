/**
 * Cache of decoded bricks in memory that all worker threads share, evicted in order of last use. The directory is
 * changed under a lock; bricks are read outside it. A worker pins the bricks that it uses, one bit per worker;
 * bricks without pins form the LRU list.
 */
import { DataError } from "../../shared/errors.js";
import { BrickDirectory, brickBytes, type CacheLayout, type CacheStatus, NONE } from "./directory.js";

export interface BrickRequest {
  /** Identifies a field of a version of a dataset; never reused for other data. */
  readonly source: number;
  readonly frame: number;
  readonly bricks: Int32Array;
  readonly count: number;
  readonly values: number;
  readonly load: (frame: number, brick: number, into: Float32Array) => void;
  /**
   * If present, makes bricks instead of `load`, several at once, and counts what it reads. A brick may be used once
   * `made` has received its index, or `make` has returned.
   */
  readonly make?: (bricks: readonly number[], offsets: readonly number[], made: (at: number) => void) => void;
  /** Receives, per brick, the index of its first value in a Float32Array over the whole memory. */
  readonly offsets: Int32Array;
}

/** What the sampler needs of the cache. */
export interface BrickPins {
  readonly capacity: number;
  acquire(requests: readonly BrickRequest[]): void;
  release(requests: readonly BrickRequest[]): void;
  missing(request: Pick<BrickRequest, "source" | "frame" | "bricks" | "count">): number[];
  /** Frees the cached bricks among those given that are not pinned, since they will not be needed again. */
  drop(request: Pick<BrickRequest, "source" | "frame" | "bricks" | "count">): void;
  /** Counts bytes that a request with `make` has read. */
  countRead(bytes: number): void;
}

/** Thrown when bricks would have to be read or awaited by a thread that does neither. It never leaves the engine. */
export class NotCached extends Error {}

/** Thrown again and again: a new error with its stack would cost more than most failed attempts. */
export const NOT_CACHED = new NotCached();

/** One thread's view of the cache. Views over the same memory and layout share its content. */
export class BrickCache implements BrickPins {
  readonly #values: Float32Array;
  readonly #directory: BrickDirectory;
  /**
   * Calls of `acquire` that have not been released. While there are any, this worker does not wait for another's turn:
   * that one may be waiting for these very pins.
   */
  #acquired = 0;

  /** @param workerIndex this worker, or -1 for the thread that only sets up, observes and repairs the cache */
  constructor(buffer: SharedArrayBuffer, layout: CacheLayout, workerIndex: number) {
    this.#values = new Float32Array(buffer);
    this.#directory = new BrickDirectory(buffer, layout, workerIndex);
  }

  /** Makes never-used memory an empty cache; called once, before any other thread looks at it. */
  initialise(): void {
    this.#directory.rebuild();
  }

  get capacity(): number {
    return this.#directory.capacity;
  }

  status(): CacheStatus {
    return this.#directory.status();
  }

  /** Bricks in the cache in any frame, by source; some may be wrong while workers change the cache. */
  held(): ReadonlyMap<number, readonly number[]> {
    return this.#directory.held();
  }

  /**
   * Pins all bricks of all requests, or none. Reads missing bricks; waits for those that another worker is reading, and
   * for space that others have pinned. A worker pins a brick once.
   * @throws DataError when the bricks exceed the cache, or the error of `load`
   */
  acquire(requests: readonly BrickRequest[]): void {
    for (;;) {
      this.#reserve(requests);
      try {
        for (const request of requests) this.#read(request);
      } catch (error) {
        this.#unpin(requests);
        throw error;
      }
      if (this.#arrived(requests)) {
        this.#acquired++;
        return;
      }
      // Another worker failed to read a brick: try again here, for its data or its error.
      this.#unpin(requests);
    }
  }

  missing({ source, frame, bricks, count }: Pick<BrickRequest, "source" | "frame" | "bricks" | "count">): number[] {
    const absent: number[] = [];
    // Only the search happens under the lock: other workers wait for it.
    this.#directory.locked(() => {
      for (let i = 0; i < count; i++)
        if (this.#directory.find(source, frame, bricks[i]) === NONE) absent.push(bricks[i]);
    });
    return absent;
  }

  drop({ source, frame, bricks, count }: Pick<BrickRequest, "source" | "frame" | "bricks" | "count">): void {
    this.#directory.locked(() => {
      for (let i = 0; i < count; i++) {
        const unit = this.#directory.find(source, frame, bricks[i]);
        if (unit !== NONE) this.#directory.drop(unit);
      }
    });
  }

  countRead(bytes: number): void {
    this.#directory.locked(() => this.#directory.count(0, 0, bytes));
  }

  release(requests: readonly BrickRequest[]): void {
    this.#acquired--;
    this.#unpin(requests);
  }

  #unpin(requests: readonly BrickRequest[]): void {
    this.#directory.locked(() => {
      for (const { count, offsets } of requests) {
        for (let i = 0; i < count; i++) this.#directory.unpin(this.#directory.unitAt(offsets[i]));
      }
    });
    this.#directory.announceRelease();
  }

  /** Frees what a dead worker held. Returns false when another worker has the lock: call again later. */
  repair(deadIndex: number): boolean {
    return this.#directory.repair(deadIndex);
  }

  /**
   * Pins cached bricks and reserves space for the others, all or none. The first worker that waits for space is served
   * before others get new pins.
   */
  #reserve(requests: readonly BrickRequest[]): void {
    const bytes = requests.reduce((sum, { count, values }) => sum + count * brickBytes(values), 0);
    if (bytes > this.capacity) {
      throw new DataError(`The brick cache of ${this.capacity} bytes cannot hold ${bytes} bytes needed at once.`);
    }
    for (;;) {
      const { done, waited, releases } = this.#directory.locked(() => {
        const { releases } = this.#directory;
        const done = (this.#acquired > 0 || !this.#directory.othersTurn) && this.#placeOrClear(requests);
        if (!done) this.#directory.claimTurn();
        return { done, waited: done && this.#directory.endTurn(), releases };
      });
      if (waited) this.#directory.announceRelease();
      if (done) return;
      this.#directory.awaitRelease(releases);
    }
  }

  /** Under the lock: places the requests, in an emptied cache if nothing is pinned. */
  #placeOrClear(requests: readonly BrickRequest[]): boolean {
    if (this.#place(requests)) return true;
    if (this.#directory.anyPinned) return false;
    // Unpinned bricks of the request were kept: between them no free run was long enough.
    this.#directory.clear();
    return this.#place(requests);
  }

  /** Under the lock: pins and reserves for `#reserve`; when space runs out, undoes all of it and returns false. */
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
      const bytes = brickBytes(values);
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
    this.#directory.count(hits, misses, 0);
    return true;
  }

  /** Under the lock: drops every pin and reservation that an unfinished `#place` made. */
  #undo(requests: readonly BrickRequest[]): void {
    for (const { count, offsets } of requests) {
      for (let i = 0; i < count; i++) {
        const offset = offsets[i];
        if (offset === NONE) continue;
        const unit = this.#directory.unitAt(offset);
        if (this.#directory.isOwn(unit)) this.#directory.fail(unit);
        this.#directory.unpin(unit);
      }
    }
  }

  /** Reads the bricks that this worker has reserved; on failure fails all that are not read. */
  #read(request: BrickRequest): void {
    const { frame, bricks, count, values, load, make, offsets } = request;
    let bytes = 0;
    try {
      if (make) {
        this.#make(request, make);
        return;
      }
      for (let i = 0; i < count; i++) {
        const offset = offsets[i];
        const unit = this.#directory.unitAt(offset);
        if (!this.#directory.isOwn(unit)) continue;
        load(frame, bricks[i], this.#values.subarray(offset, offset + values));
        bytes += values * 4;
        this.#directory.publish(unit);
      }
    } catch (error) {
      this.#directory.announceFailed(this.#directory.locked(() => this.#directory.failOwn()));
      throw error;
    } finally {
      if (bytes > 0) this.#directory.locked(() => this.#directory.count(0, 0, bytes));
    }
  }

  #make({ bricks, count, offsets }: BrickRequest, make: NonNullable<BrickRequest["make"]>): void {
    const own: number[] = [];
    for (let i = 0; i < count; i++) if (this.#directory.isOwn(this.#directory.unitAt(offsets[i]))) own.push(i);
    if (own.length === 0) return;
    make(
      own.map((i) => bricks[i]),
      own.map((i) => offsets[i]),
      (at) => this.#directory.publish(this.#directory.unitAt(offsets[own[at]])),
    );
    const left = own.map((i) => this.#directory.unitAt(offsets[i])).filter((unit) => this.#directory.isOwn(unit));
    for (const unit of left) this.#directory.publish(unit);
  }

  /** Waits until other workers have read the bricks that they reserved; false when one of them has failed. */
  #arrived(requests: readonly BrickRequest[]): boolean {
    let complete = true;
    for (const { count, offsets } of requests) {
      for (let i = 0; i < count; i++) {
        if (!this.#directory.awaitRead(this.#directory.unitAt(offsets[i]))) complete = false;
      }
    }
    return complete;
  }
}
