/**
 * Directory of the brick cache in shared memory: the brick of each run of units, free runs, and the order of use. A
 * brick takes a run of units of 16 KiB. Arrays indexed by its first unit hold everything about a run, so that lists can
 * be rebuilt when a thread dies in the middle of a change. All changes are made under one lock, unless a method says
 * otherwise: callers of `find`, `reserve`, `pin` and the like hold it. The word of the lock names its holder.
 */
const UNIT_BYTES = 16 * 1024;

/** Words of the control block; the first two belong to the lock. */
const LOCK = 0;
const RELEASED = 1;
const FREE_HEAD = 2;
const OLDEST = 3;
const NEWEST = 4;
const USED_UNITS = 5;
const PINNED_RUNS = 6;
const TURN = 7; // Worker that gets the next free space.
const CONTROL_WORDS = 8;

/** Attempts to take the lock by a thread that must not wait; others mostly hold it for a microsecond. */
const ATTEMPTS = 50;

const HITS = 0;
const MISSES = 1;
const BYTES_READ = 2;
const STATS = 3;

/** Words for each unit, except its pins. */
const UNIT_WORDS = 9;

/** Offsets of the parts of the cache in the shared memory. */
export interface CacheLayout {
  /** First byte of the directory; a multiple of 8. */
  readonly base: number;
  readonly units: number;
  /** Words of 32 pin bits per unit; worker indices are 0 .. 32 * pinWords - 1. */
  readonly pinWords: number;
  readonly buckets: number;
  /** First byte of unit 0. */
  readonly data: number;
  readonly end: number;
}

/** @param bytes bound on brick data; the directory adds about 0.3 % */
export function cacheLayout(base: number, bytes: number, workers: number): CacheLayout {
  const units = Math.max(1, Math.floor(bytes / UNIT_BYTES));
  const pinWords = Math.ceil(workers / 32);
  const buckets = 2 ** Math.ceil(Math.log2(units + 1));
  const start = roundUp(base, 8);
  const words = CONTROL_WORDS + buckets + units * (UNIT_WORDS + pinWords);
  const data = roundUp(start + STATS * 8 + words * 4, UNIT_BYTES);
  return { base: start, units, pinWords, buckets, data, end: data + units * UNIT_BYTES };
}

const roundUp = (value: number, to: number): number => Math.ceil(value / to) * to;

/** Views of the memory; arrays from `state` on have an element (or `pinWords`) per unit. */
function cacheViews(buffer: SharedArrayBuffer, { base, units, pinWords, buckets }: CacheLayout) {
  let byte = base + STATS * 8;
  const take = (length: number): Int32Array => {
    const view = new Int32Array(buffer, byte, length);
    byte += length * 4;
    return view;
  };
  return {
    stats: new Float64Array(buffer, base, STATS),
    control: take(CONTROL_WORDS),
    bucket: take(buckets),
    /** State of the run that starts at a unit; waited on while it is LOADING. */
    state: take(units),
    /** Units of the run that starts at a unit; of a free run, also at its last unit. */
    length: take(units),
    source: take(units),
    frame: take(units),
    brick: take(units),
    /** Index of the worker that reads the brick while it is LOADING. */
    reader: take(units),
    /** Next run in the same bucket. */
    chain: take(units),
    /** Neighbours in the list of free runs, or in the list of bricks by last use. */
    before: take(units),
    after: take(units),
    pins: take(units * pinWords),
  };
}

export const NONE = -1;

/** States of a unit; units inside a run are INTERIOR, the last one of a free run is FREE_TAIL. */
const INTERIOR = 0;
const FREE = 1;
const FREE_TAIL = 2;
const LOADING = 3;
const READY = 4;
const FAILED = 5;

export type CacheStatus = Readonly<Record<"hits" | "misses" | "bytesRead" | "bytesUsed", number>>;

/** Bytes that a brick takes up. `values`: float32 values in it. */
export function brickBytes(values: number): number {
  return roundUp(values * 4, UNIT_BYTES);
}

export class BrickDirectory {
  readonly #views: ReturnType<typeof cacheViews>;
  readonly #layout: CacheLayout;
  readonly #workerIndex: number;

  constructor(buffer: SharedArrayBuffer, layout: CacheLayout, workerIndex: number) {
    this.#views = cacheViews(buffer, layout);
    this.#layout = layout;
    this.#workerIndex = workerIndex;
  }

  get capacity(): number {
    return this.#layout.units * UNIT_BYTES;
  }

  get anyPinned(): boolean {
    return this.#views.control[PINNED_RUNS] !== 0;
  }

  /** `offset`: in float32 values. */
  unitAt(offset: number): number {
    return (offset * 4 - this.#layout.data) / UNIT_BYTES;
  }

  offsetOf(unit: number): number {
    return (this.#layout.data + unit * UNIT_BYTES) / 4;
  }

  /** First unit of a cached brick, or NONE. `source`: number of the field. */
  find(source: number, frame: number, brick: number): number {
    const views = this.#views;
    let unit = views.bucket[this.#hash(source, frame, brick)];
    while (unit !== NONE) {
      if (views.brick[unit] === brick && views.frame[unit] === frame && views.source[unit] === source) return unit;
      unit = views.chain[unit];
    }
    return NONE;
  }

  /** Reserves a pinned run for a brick that this worker will read; NONE when only pinned bricks could be evicted. */
  reserve(source: number, frame: number, brick: number, bytes: number): number {
    const unit = this.#allocate(bytes / UNIT_BYTES);
    if (unit === NONE) return NONE;
    this.#views.source[unit] = source;
    this.#views.frame[unit] = frame;
    this.#views.brick[unit] = brick;
    this.#views.reader[unit] = this.#workerIndex;
    this.#views.state[unit] = LOADING;
    this.#link(unit);
    this.pin(unit);
    return unit;
  }

  pin(unit: number): void {
    if (!this.#pinned(unit)) {
      if (this.#views.state[unit] === READY) this.#detach(unit, OLDEST);
      this.#views.control[PINNED_RUNS] += 1;
    }
    const at = unit * this.#layout.pinWords + (this.#workerIndex >> 5);
    this.#views.pins[at] |= 1 << (this.#workerIndex & 31);
  }

  /** Frees the run of a brick that has been read and that no worker has pinned. */
  drop(unit: number): void {
    if (this.#views.state[unit] !== READY || this.#pinned(unit)) return;
    this.#detach(unit, OLDEST);
    this.#unlink(unit);
    this.#free(unit);
  }

  /** Drops this worker's pin; a ready brick without pins becomes the newest of the LRU list, a failed one is freed. */
  unpin(unit: number): void {
    const at = unit * this.#layout.pinWords + (this.#workerIndex >> 5);
    this.#views.pins[at] &= ~(1 << (this.#workerIndex & 31));
    if (this.#pinned(unit)) return;
    this.#views.control[PINNED_RUNS] -= 1;
    if (this.#views.state[unit] === FAILED) this.#free(unit);
    else this.#append(unit);
  }

  /** Whether this worker has reserved the run and not yet read its brick. */
  isOwn(unit: number): boolean {
    return this.#views.state[unit] === LOADING && this.#views.reader[unit] === this.#workerIndex;
  }

  isReady(unit: number): boolean {
    return this.#views.state[unit] === READY;
  }

  /** Publishes a brick that this worker has read to the workers that wait for it; needs no lock. */
  publish(unit: number): void {
    Atomics.store(this.#views.state, unit, READY);
    Atomics.notify(this.#views.state, unit);
  }

  /** Marks a reserved run as failed, so that it is not found; its memory stays until the last pin is gone. */
  fail(unit: number): void {
    this.#unlink(unit);
    Atomics.store(this.#views.state, unit, FAILED);
  }

  /** Fails everything that this worker has reserved and not read. Returns the runs, to be announced after the lock. */
  failOwn(): number[] {
    const failed: number[] = [];
    this.#eachRun((unit) => {
      if (!this.isOwn(unit)) return;
      this.fail(unit);
      failed.push(unit);
    });
    return failed;
  }

  /** Wakes the workers that wait for failed runs; needs no lock. */
  announceFailed(units: readonly number[]): void {
    for (const unit of units) Atomics.notify(this.#views.state, unit);
  }

  /** Waits until the worker that reserved a run has read it; needs no lock. Returns false when it has failed. */
  awaitRead(unit: number): boolean {
    while (Atomics.load(this.#views.state, unit) === LOADING) Atomics.wait(this.#views.state, unit, LOADING, 1000);
    return Atomics.load(this.#views.state, unit) !== FAILED;
  }

  count(hits: number, misses: number, bytesRead: number): void {
    this.#views.stats[HITS] += hits;
    this.#views.stats[MISSES] += misses;
    this.#views.stats[BYTES_READ] += bytesRead;
  }

  status(): CacheStatus {
    return {
      hits: this.#views.stats[HITS],
      misses: this.#views.stats[MISSES],
      bytesRead: this.#views.stats[BYTES_READ],
      bytesUsed: this.#views.control[USED_UNITS] * UNIT_BYTES,
    };
  }

  /** Bricks in the cache in any frame, by source; read without the lock, so a few may be wrong. */
  held(): ReadonlyMap<number, readonly number[]> {
    const found = new Map<number, number[]>();
    for (let unit = 0; unit < this.#layout.units; unit++) {
      if (this.#views.state[unit] !== READY) continue;
      const bricks = found.get(this.#views.source[unit]);
      if (bricks) bricks.push(this.#views.brick[unit]);
      else found.set(this.#views.source[unit], [this.#views.brick[unit]]);
    }
    return found;
  }

  locked<T>(change: () => T): T {
    const holder = holderOf(this.#workerIndex);
    for (;;) {
      const present = Atomics.compareExchange(this.#views.control, LOCK, 0, holder);
      if (present === 0) break;
      Atomics.wait(this.#views.control, LOCK, present, 20);
    }
    try {
      return change();
    } finally {
      this.#unlock();
    }
  }

  /** Runs a change under the lock; null if another thread keeps the lock for longer than a moment. */
  tryLocked<T>(change: () => T): T | null {
    const holder = holderOf(this.#workerIndex);
    for (let left = ATTEMPTS; Atomics.compareExchange(this.#views.control, LOCK, 0, holder) !== 0; left--)
      if (left === 0) return null;
    try {
      return change();
    } finally {
      this.#unlock();
    }
  }

  /** Whether another worker waits for space: new pins must not delay it further. */
  get othersTurn(): boolean {
    return this.#views.control[TURN] !== 0 && this.#views.control[TURN] !== holderOf(this.#workerIndex);
  }

  /** Gives this worker the next free space, unless another waits already. */
  claimTurn(): void {
    if (this.#views.control[TURN] === 0) this.#views.control[TURN] = holderOf(this.#workerIndex);
  }

  /** Ends this worker's turn; `announceRelease` wakes the others. Returns whether it had waited. */
  endTurn(): boolean {
    if (this.#views.control[TURN] !== holderOf(this.#workerIndex)) return false;
    this.#views.control[TURN] = 0;
    return true;
  }

  get releases(): number {
    return Atomics.load(this.#views.control, RELEASED);
  }

  /** Wakes the workers that wait for space, after pins have been dropped. */
  announceRelease(): void {
    Atomics.add(this.#views.control, RELEASED, 1);
    Atomics.notify(this.#views.control, RELEASED);
  }

  /** Waits a short time for pins to be dropped, unless `releases` has changed since it had this value. */
  awaitRelease(releases: number): void {
    Atomics.wait(this.#views.control, RELEASED, releases, 100);
  }

  /**
   * Frees what a dead worker held: the lock, its pins, and runs that it was to read.
   * @returns false when another worker, which may be dead as well, has the lock: call again later
   */
  repair(deadIndex: number): boolean {
    const dead = holderOf(deadIndex);
    const own = holderOf(this.#workerIndex);
    const found = Atomics.compareExchange(this.#views.control, LOCK, dead, own);
    if (found !== dead && Atomics.compareExchange(this.#views.control, LOCK, 0, own) !== 0) return false;
    if (this.#views.control[TURN] === dead) this.#views.control[TURN] = 0;
    const failed: number[] = [];
    this.#eachRun((unit) => {
      const at = unit * this.#layout.pinWords + (deadIndex >> 5);
      this.#views.pins[at] &= ~(1 << (deadIndex & 31));
      if (this.#views.state[unit] !== LOADING || this.#views.reader[unit] !== deadIndex) return;
      this.#views.state[unit] = FAILED;
      failed.push(unit);
    });
    this.rebuild();
    this.#unlock();
    this.announceFailed(failed);
    this.announceRelease();
    return true;
  }

  /** Drops all bricks; none may be pinned. */
  clear(): void {
    this.#views.state.fill(INTERIOR);
    this.rebuild();
  }

  /** Rebuilds all lists from states, lengths, keys and pins. */
  rebuild(): void {
    const { bucket, control, length, state } = this.#views;
    bucket.fill(NONE);
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
      if (state[unit] === FAILED && !this.#pinned(unit)) {
        state[unit] = INTERIOR;
        return;
      }
      gap(unit);
      end = unit + length[unit];
      control[USED_UNITS] += end - unit;
      if (state[unit] !== FAILED) this.#link(unit);
      if (this.#pinned(unit)) control[PINNED_RUNS] += 1;
      else this.#append(unit);
    });
    gap(this.#layout.units);
  }

  #eachRun(visit: (unit: number) => void): void {
    for (let unit = 0; unit < this.#layout.units; ) {
      if (this.#views.state[unit] < LOADING) {
        unit++;
        continue;
      }
      const length = this.#views.length[unit];
      visit(unit);
      unit += length;
    }
  }

  #unlock(): void {
    Atomics.store(this.#views.control, LOCK, 0);
    Atomics.notify(this.#views.control, LOCK, 1);
  }

  #hash(source: number, frame: number, brick: number): number {
    let hash = Math.imul(source, 0x9e3779b1) ^ Math.imul(frame + 1, 0x85ebca6b) ^ Math.imul(brick + 1, 0xc2b2ae35);
    hash ^= hash >>> 15;
    hash = Math.imul(hash, 0x2c1b3c6d);
    return (hash ^ (hash >>> 13)) & (this.#layout.buckets - 1);
  }

  #link(unit: number): void {
    const { source, frame, brick, bucket, chain } = this.#views;
    const at = this.#hash(source[unit], frame[unit], brick[unit]);
    chain[unit] = bucket[at];
    bucket[at] = unit;
  }

  #unlink(unit: number): void {
    const { source, frame, brick, bucket, chain } = this.#views;
    const at = this.#hash(source[unit], frame[unit], brick[unit]);
    let previous = NONE;
    for (let run = bucket[at]; run !== NONE; run = chain[run]) {
      if (run === unit) {
        if (previous === NONE) bucket[at] = chain[unit];
        else chain[previous] = chain[unit];
        return;
      }
      previous = run;
    }
  }

  #pinned(unit: number): boolean {
    const first = unit * this.#layout.pinWords;
    for (let word = 0; word < this.#layout.pinWords; word++) if (this.#views.pins[first + word] !== 0) return true;
    return false;
  }

  /** Allocates a run of `units` units, evicting the oldest bricks if necessary; NONE when only pinned ones are left. */
  #allocate(units: number): number {
    const { control, after, length, state } = this.#views;
    for (;;) {
      for (let unit = control[FREE_HEAD]; unit !== NONE; unit = after[unit]) {
        if (length[unit] < units) continue;
        this.#detach(unit, FREE_HEAD);
        const rest = length[unit] - units;
        if (rest > 0) this.#addFree(unit + units, rest);
        state.fill(INTERIOR, unit, unit + units);
        length[unit] = units;
        control[USED_UNITS] += units;
        return unit;
      }
      const oldest = control[OLDEST];
      if (oldest === NONE) return NONE;
      this.#detach(oldest, OLDEST);
      this.#unlink(oldest);
      this.#free(oldest);
    }
  }

  #free(unit: number): void {
    const { control, state } = this.#views;
    let first = unit;
    let length = this.#views.length[unit];
    control[USED_UNITS] -= length;
    const next = unit + length;
    if (next < this.#layout.units && state[next] === FREE) {
      this.#detach(next, FREE_HEAD);
      length += this.#views.length[next];
    }
    const previous = unit - 1;
    if (
      previous >= 0 &&
      (state[previous] === FREE_TAIL || (state[previous] === FREE && this.#views.length[previous] === 1))
    ) {
      first = unit - this.#views.length[previous];
      this.#detach(first, FREE_HEAD);
      length += this.#views.length[previous];
    }
    this.#addFree(first, length);
  }

  #addFree(unit: number, length: number): void {
    this.#views.state.fill(INTERIOR, unit, unit + length);
    this.#views.length[unit + length - 1] = length;
    this.#views.state[unit + length - 1] = FREE_TAIL;
    this.#views.length[unit] = length;
    this.#views.state[unit] = FREE;
    const head = this.#views.control[FREE_HEAD];
    this.#views.before[unit] = NONE;
    this.#views.after[unit] = head;
    if (head !== NONE) this.#views.before[head] = unit;
    this.#views.control[FREE_HEAD] = unit;
  }

  /** Takes a run out of the free list or the LRU list, whose head word is `head`. */
  #detach(unit: number, head: typeof FREE_HEAD | typeof OLDEST): void {
    const before = this.#views.before[unit];
    const after = this.#views.after[unit];
    if (before === NONE) this.#views.control[head] = after;
    else this.#views.after[before] = after;
    if (after !== NONE) this.#views.before[after] = before;
    else if (head === OLDEST) this.#views.control[NEWEST] = before;
  }

  #append(unit: number): void {
    const newest = this.#views.control[NEWEST];
    this.#views.before[unit] = newest;
    this.#views.after[unit] = NONE;
    if (newest === NONE) this.#views.control[OLDEST] = unit;
    else this.#views.after[newest] = unit;
    this.#views.control[NEWEST] = unit;
  }
}

/** The word of a worker in the lock: 0 is free, and the main thread, which has no pins, has index -1. */
const holderOf = (workerIndex: number): number => workerIndex + 2;
