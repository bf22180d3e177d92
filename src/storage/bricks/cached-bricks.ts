/** Pins cached bricks for the thread that serves all requests, which neither reads files nor waits. */
import { type BrickPins, type BrickRequest, NOT_CACHED } from "./cache.js";
import { BrickDirectory, type CacheLayout, NONE } from "./directory.js";

export class CachedBricks implements BrickPins {
  readonly #directory: BrickDirectory;
  /** Runs no longer used that are still pinned because another thread had the lock. */
  readonly #due: number[] = [];

  constructor(buffer: SharedArrayBuffer, layout: CacheLayout, workerIndex: number) {
    this.#directory = new BrickDirectory(buffer, layout, workerIndex);
  }

  get capacity(): number {
    return this.#directory.capacity;
  }

  /** Pins all bricks of all requests. Throws NotCached when one is missing, or this thread would have to wait. */
  acquire(requests: readonly BrickRequest[]): void {
    if (!this.#directory.tryLocked(() => this.#pin(requests))) throw NOT_CACHED;
  }

  release(requests: readonly BrickRequest[]): void {
    for (const { count, offsets } of requests)
      for (let i = 0; i < count; i++) this.#due.push(this.#directory.unitAt(offsets[i]));
    this.#unpinDue();
  }

  /** Always none: missing bricks are not read here. */
  missing(): number[] {
    return [];
  }

  drop(): void {}

  countRead(): void {}

  /** Under the lock: pins the requests, if the cache has all their bricks and no worker waits for space. */
  #pin(requests: readonly BrickRequest[]): boolean {
    if (this.#due.length > 0 || this.#directory.othersTurn) return false;
    let hits = 0;
    for (const { source, frame, bricks, count, offsets } of requests) {
      for (let i = 0; i < count; i++) {
        const unit = this.#directory.find(source, frame, bricks[i]);
        if (unit === NONE || !this.#directory.isReady(unit)) return false;
        offsets[i] = this.#directory.offsetOf(unit);
      }
      hits += count;
    }
    for (const { count, offsets } of requests)
      for (let i = 0; i < count; i++) this.#directory.pin(this.#directory.unitAt(offsets[i]));
    this.#directory.count(hits, 0, 0);
    return true;
  }

  #unpinDue(): void {
    const dropped = this.#directory.tryLocked(() => {
      for (const unit of this.#due) this.#directory.unpin(unit);
      this.#due.length = 0;
      return true;
    });
    if (dropped) this.#directory.announceRelease();
    else setTimeout(() => this.#unpinDue(), 1).unref();
  }
}
