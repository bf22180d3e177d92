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
const TURN = 7;
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
    state: take(units),
    length: take(units),
    source: take(units),
    frame: take(units),
    brick: take(units),
    reader: take(units),
    chain: take(units),
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

export interface CacheStatus {
  readonly hits: number;
  readonly misses: number;
  readonly bytesRead: number;
  readonly bytesUsed: number;
}

/** Bytes that a brick takes up. `values`: float32 values in it. */
export function brickBytes(values: number): number {
  return roundUp(values * 4, UNIT_BYTES);
}

export class BrickDirectory {
  readonly #control: Int32Array;
  readonly #stats: Float64Array;
  /** State of the run that starts at a unit; waited on while it is LOADING. */
  readonly #state: Int32Array;
  /** Index of the worker that reads the brick while it is LOADING. */
  readonly #reader: Int32Array;
  readonly #layout: CacheLayout;
  readonly #workerIndex: number;
  readonly #bucket: Int32Array;
  /** Units of the run that starts at a unit; of a free run, also at its last unit. */
  readonly #length: Int32Array;
  readonly #source: Int32Array;
  readonly #frame: Int32Array;
  readonly #brick: Int32Array;
  /** Next run in the same bucket. */
  readonly #chain: Int32Array;
  /** Neighbours in the list of free runs, or in the list of bricks by last use. */
  readonly #before: Int32Array;
  readonly #after: Int32Array;
  readonly #pins: Int32Array;

  constructor(buffer: SharedArrayBuffer, layout: CacheLayout, workerIndex: number) {
    this.#layout = layout;
    this.#workerIndex = workerIndex;
    const views = cacheViews(buffer, layout);
    this.#stats = views.stats;
    this.#control = views.control;
    this.#bucket = views.bucket;
    this.#state = views.state;
    this.#length = views.length;
    this.#source = views.source;
    this.#frame = views.frame;
    this.#brick = views.brick;
    this.#reader = views.reader;
    this.#chain = views.chain;
    this.#before = views.before;
    this.#after = views.after;
    this.#pins = views.pins;
  }

  get capacity(): number {
    return this.#layout.units * UNIT_BYTES;
  }

  get anyPinned(): boolean {
    return this.#control[PINNED_RUNS] !== 0;
  }

  unitAt(offset: number): number {
    return (offset * 4 - this.#layout.data) / UNIT_BYTES;
  }

  offsetOf(unit: number): number {
    return (this.#layout.data + unit * UNIT_BYTES) / 4;
  }

  find(source: number, frame: number, brick: number): number {
    let unit = this.#bucket[this.#hash(source, frame, brick)];
    while (unit !== NONE) {
      if (this.#brick[unit] === brick && this.#frame[unit] === frame && this.#source[unit] === source) return unit;
      unit = this.#chain[unit];
    }
    return NONE;
  }

  /** Reserves a pinned run for a brick that this worker will read; NONE when only pinned bricks could be evicted. */
  reserve(source: number, frame: number, brick: number, bytes: number): number {
    const unit = this.#allocate(bytes / UNIT_BYTES);
    if (unit === NONE) return NONE;
    this.#source[unit] = source;
    this.#frame[unit] = frame;
    this.#brick[unit] = brick;
    this.#reader[unit] = this.#workerIndex;
    this.#state[unit] = LOADING;
    this.#link(unit);
    this.pin(unit);
    return unit;
  }

  pin(unit: number): void {
    if (!this.#pinned(unit)) {
      if (this.#state[unit] === READY) this.#detach(unit, OLDEST);
      this.#control[PINNED_RUNS] += 1;
    }
    const at = unit * this.#layout.pinWords + (this.#workerIndex >> 5);
    this.#pins[at] |= 1 << (this.#workerIndex & 31);
  }

  /** Frees the run of a brick that has been read and that no worker has pinned. */
  drop(unit: number): void {
    if (this.#state[unit] !== READY || this.#pinned(unit)) return;
    this.#detach(unit, OLDEST);
    this.#unlink(unit);
    this.#free(unit);
  }

  /** Drops this worker's pin; a ready brick without pins becomes the newest of the LRU list, a failed one is freed. */
  unpin(unit: number): void {
    const at = unit * this.#layout.pinWords + (this.#workerIndex >> 5);
    this.#pins[at] &= ~(1 << (this.#workerIndex & 31));
    if (this.#pinned(unit)) return;
    this.#control[PINNED_RUNS] -= 1;
    if (this.#state[unit] === FAILED) this.#free(unit);
    else this.#append(unit);
  }

  /** Whether this worker has reserved the run and not yet read its brick. */
  isOwn(unit: number): boolean {
    return this.#state[unit] === LOADING && this.#reader[unit] === this.#workerIndex;
  }

  isReady(unit: number): boolean {
    return this.#state[unit] === READY;
  }

  /** Publishes a brick that this worker has read to the workers that wait for it; needs no lock. */
  publish(unit: number): void {
    Atomics.store(this.#state, unit, READY);
    Atomics.notify(this.#state, unit);
  }

  /** Takes a reserved run out of the hash; its memory stays until the last pin is gone. */
  fail(unit: number): void {
    this.#unlink(unit);
    Atomics.store(this.#state, unit, FAILED);
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
    for (const unit of units) Atomics.notify(this.#state, unit);
  }

  /** Waits until the worker that reserved a run has read it; needs no lock. Returns false when it has failed. */
  awaitRead(unit: number): boolean {
    while (Atomics.load(this.#state, unit) === LOADING) Atomics.wait(this.#state, unit, LOADING, 1000);
    return Atomics.load(this.#state, unit) !== FAILED;
  }

  count(hits: number, misses: number, bytesRead: number): void {
    this.#stats[HITS] += hits;
    this.#stats[MISSES] += misses;
    this.#stats[BYTES_READ] += bytesRead;
  }

  status(): CacheStatus {
    return {
      hits: this.#stats[HITS],
      misses: this.#stats[MISSES],
      bytesRead: this.#stats[BYTES_READ],
      bytesUsed: this.#control[USED_UNITS] * UNIT_BYTES,
    };
  }

  /** Bricks in the cache in any frame, by source; read without the lock, so a few may be wrong. */
  held(): ReadonlyMap<number, readonly number[]> {
    const found = new Map<number, number[]>();
    for (let unit = 0; unit < this.#layout.units; unit++) {
      if (this.#state[unit] !== READY) continue;
      const bricks = found.get(this.#source[unit]);
      if (bricks) bricks.push(this.#brick[unit]);
      else found.set(this.#source[unit], [this.#brick[unit]]);
    }
    return found;
  }

  locked<T>(change: () => T): T {
    const holder = holderOf(this.#workerIndex);
    for (;;) {
      const found = Atomics.compareExchange(this.#control, LOCK, 0, holder);
      if (found === 0) break;
      Atomics.wait(this.#control, LOCK, found, 20);
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
    for (let left = ATTEMPTS; Atomics.compareExchange(this.#control, LOCK, 0, holder) !== 0; left--)
      if (left === 0) return null;
    try {
      return change();
    } finally {
      this.#unlock();
    }
  }

  /** Whether another worker waits for space: new pins must not delay it further. Under the lock. */
  get othersTurn(): boolean {
    return this.#control[TURN] !== 0 && this.#control[TURN] !== holderOf(this.#workerIndex);
  }

  /** Gives this worker the next free space, unless another waits already. Under the lock. */
  claimTurn(): void {
    if (this.#control[TURN] === 0) this.#control[TURN] = holderOf(this.#workerIndex);
  }

  /** Ends this worker's turn. Under the lock; `announceRelease` wakes the others. Returns whether it had waited. */
  endTurn(): boolean {
    if (this.#control[TURN] !== holderOf(this.#workerIndex)) return false;
    this.#control[TURN] = 0;
    return true;
  }

  get releases(): number {
    return Atomics.load(this.#control, RELEASED);
  }

  /** Wakes the workers that wait for space, after pins have been dropped. */
  announceRelease(): void {
    Atomics.add(this.#control, RELEASED, 1);
    Atomics.notify(this.#control, RELEASED);
  }

  /** Waits a short time for pins to be dropped, unless `releases` has changed since it had this value. */
  awaitRelease(releases: number): void {
    Atomics.wait(this.#control, RELEASED, releases, 100);
  }

  /**
   * Frees what a dead worker held: the lock, its pins, and runs that it was to read.
   * @returns false when another worker, which may be dead as well, has the lock: call again later
   */
  repair(deadIndex: number): boolean {
    const dead = holderOf(deadIndex);
    const own = holderOf(this.#workerIndex);
    const found = Atomics.compareExchange(this.#control, LOCK, dead, own);
    if (found !== dead && Atomics.compareExchange(this.#control, LOCK, 0, own) !== 0) return false;
    if (this.#control[TURN] === dead) this.#control[TURN] = 0;
    const failed: number[] = [];
    this.#eachRun((unit) => {
      const at = unit * this.#layout.pinWords + (deadIndex >> 5);
      this.#pins[at] &= ~(1 << (deadIndex & 31));
      if (this.#state[unit] !== LOADING || this.#reader[unit] !== deadIndex) return;
      this.#state[unit] = FAILED;
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
    this.#state.fill(INTERIOR);
    this.rebuild();
  }

  /** Rebuilds all lists from states, lengths, keys and pins. */
  rebuild(): void {
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
      end = unit + this.#length[unit];
      control[USED_UNITS] += end - unit;
      if (this.#state[unit] !== FAILED) this.#link(unit);
      if (this.#pinned(unit)) control[PINNED_RUNS] += 1;
      else this.#append(unit);
    });
    gap(this.#layout.units);
  }

  #eachRun(visit: (unit: number) => void): void {
    for (let unit = 0; unit < this.#layout.units; ) {
      if (this.#state[unit] < LOADING) {
        unit++;
        continue;
      }
      const length = this.#length[unit];
      visit(unit);
      unit += length;
    }
  }

  #unlock(): void {
    Atomics.store(this.#control, LOCK, 0);
    Atomics.notify(this.#control, LOCK, 1);
  }

  #hash(source: number, frame: number, brick: number): number {
    let hash = Math.imul(source, 0x9e3779b1) ^ Math.imul(frame + 1, 0x85ebca6b) ^ Math.imul(brick + 1, 0xc2b2ae35);
    hash ^= hash >>> 15;
    hash = Math.imul(hash, 0x2c1b3c6d);
    return (hash ^ (hash >>> 13)) & (this.#layout.buckets - 1);
  }

  #link(unit: number): void {
    const at = this.#hash(this.#source[unit], this.#frame[unit], this.#brick[unit]);
    this.#chain[unit] = this.#bucket[at];
    this.#bucket[at] = unit;
  }

  #unlink(unit: number): void {
    const at = this.#hash(this.#source[unit], this.#frame[unit], this.#brick[unit]);
    let previous = NONE;
    for (let found = this.#bucket[at]; found !== NONE; found = this.#chain[found]) {
      if (found === unit) {
        if (previous === NONE) this.#bucket[at] = this.#chain[unit];
        else this.#chain[previous] = this.#chain[unit];
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

  /** Allocates a run of `units` units, evicting the oldest bricks if necessary; NONE when only pinned ones are left. */
  #allocate(units: number): number {
    for (;;) {
      for (let unit = this.#control[FREE_HEAD]; unit !== NONE; unit = this.#after[unit]) {
        if (this.#length[unit] < units) continue;
        this.#detach(unit, FREE_HEAD);
        const rest = this.#length[unit] - units;
        if (rest > 0) this.#addFree(unit + units, rest);
        this.#state.fill(INTERIOR, unit, unit + units);
        this.#length[unit] = units;
        this.#control[USED_UNITS] += units;
        return unit;
      }
      const oldest = this.#control[OLDEST];
      if (oldest === NONE) return NONE;
      this.#detach(oldest, OLDEST);
      this.#unlink(oldest);
      this.#free(oldest);
    }
  }

  #free(unit: number): void {
    let first = unit;
    let length = this.#length[unit];
    this.#control[USED_UNITS] -= length;
    const next = unit + length;
    if (next < this.#layout.units && this.#state[next] === FREE) {
      this.#detach(next, FREE_HEAD);
      length += this.#length[next];
    }
    const last = unit - 1;
    if (last >= 0 && (this.#state[last] === FREE_TAIL || (this.#state[last] === FREE && this.#length[last] === 1))) {
      first = unit - this.#length[last];
      this.#detach(first, FREE_HEAD);
      length += this.#length[last];
    }
    this.#addFree(first, length);
  }

  #addFree(unit: number, length: number): void {
    this.#state.fill(INTERIOR, unit, unit + length);
    this.#length[unit + length - 1] = length;
    this.#state[unit + length - 1] = FREE_TAIL;
    this.#length[unit] = length;
    this.#state[unit] = FREE;
    const head = this.#control[FREE_HEAD];
    this.#before[unit] = NONE;
    this.#after[unit] = head;
    if (head !== NONE) this.#before[head] = unit;
    this.#control[FREE_HEAD] = unit;
  }

  /** Takes a run out of the free list or the LRU list, whose head word is `head`. */
  #detach(unit: number, head: typeof FREE_HEAD | typeof OLDEST): void {
    const before = this.#before[unit];
    const after = this.#after[unit];
    if (before === NONE) this.#control[head] = after;
    else this.#after[before] = after;
    if (after !== NONE) this.#before[after] = before;
    else if (head === OLDEST) this.#control[NEWEST] = before;
  }

  #append(unit: number): void {
    const newest = this.#control[NEWEST];
    this.#before[unit] = newest;
    this.#after[unit] = NONE;
    if (newest === NONE) this.#control[OLDEST] = unit;
    else this.#after[newest] = unit;
    this.#control[NEWEST] = unit;
  }
}

/** The word of a worker in the lock: 0 is free, and the main thread, which has no pins, has index -1. */
const holderOf = (workerIndex: number): number => workerIndex + 2;
