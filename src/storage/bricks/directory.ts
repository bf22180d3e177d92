/**
 * The directory of the brick cache: which run of units holds which brick, which runs are free, which brick was used last.
 *
 * The memory is cut into units of 16 KiB; a brick takes a run of units. Everything about a run is kept in arrays indexed
 * by its first unit, so that the lists can be rebuilt from them when a thread dies in the middle of a change. Nothing here
 * is safe without the lock of `brick-cache.ts`, but for looking at the state of a run.
 */
import {
  type CacheLayout,
  cacheViews,
  FREE_HEAD,
  NEWEST,
  OLDEST,
  PINNED_RUNS,
  UNIT_BYTES,
  USED_UNITS,
} from "./cache-layout.js";

export const NONE = -1;

/** States of a unit; units inside a run are INTERIOR, the last one of a free run is FREE_TAIL. */
const INTERIOR = 0;
const FREE = 1;
const FREE_TAIL = 2;
export const LOADING = 3;
export const READY = 4;
export const FAILED = 5;

/** One thread's view of the directory. */
export class BrickDirectory {
  readonly control: Int32Array;
  readonly stats: Float64Array;
  /** State of the run that starts at a unit; waited on while it is LOADING. */
  readonly state: Int32Array;
  /** Worker slot that reads the brick while it is LOADING. */
  readonly reader: Int32Array;
  readonly #layout: CacheLayout;
  readonly #slot: number;
  readonly #bucket: Int32Array;
  readonly #length: Int32Array;
  readonly #source: Int32Array;
  readonly #frame: Int32Array;
  readonly #brick: Int32Array;
  readonly #chain: Int32Array;
  readonly #before: Int32Array;
  readonly #after: Int32Array;
  readonly #pins: Int32Array;

  /** @param slot worker slot whose pins this view sets */
  constructor(buffer: SharedArrayBuffer, layout: CacheLayout, slot: number) {
    this.#layout = layout;
    this.#slot = slot;
    const views = cacheViews(buffer, layout);
    this.stats = views.stats;
    this.control = views.control;
    this.#bucket = views.bucket;
    this.state = views.state;
    this.#length = views.length;
    this.#source = views.source;
    this.#frame = views.frame;
    this.#brick = views.brick;
    this.reader = views.reader;
    this.#chain = views.chain;
    this.#before = views.before;
    this.#after = views.after;
    this.#pins = views.pins;
  }

  /** Bytes of all units. */
  get capacity(): number {
    return this.#layout.units * UNIT_BYTES;
  }

  get bytesUsed(): number {
    return this.control[USED_UNITS] * UNIT_BYTES;
  }

  /** Whether any worker has a brick pinned. */
  get anyPinned(): boolean {
    return this.control[PINNED_RUNS] !== 0;
  }

  /** The unit whose first float32 has this index in the memory. */
  unitAt(offset: number): number {
    return (offset * 4 - this.#layout.data) / UNIT_BYTES;
  }

  offsetOf(unit: number): number {
    return (this.#layout.data + unit * UNIT_BYTES) / 4;
  }

  /** The run of a brick, or NONE. */
  find(source: number, frame: number, brick: number): number {
    let unit = this.#bucket[this.#hash(source, frame, brick)];
    while (unit !== NONE) {
      if (this.#brick[unit] === brick && this.#frame[unit] === frame && this.#source[unit] === source) return unit;
      unit = this.#chain[unit];
    }
    return NONE;
  }

  /** A pinned run for a brick that this worker is going to read; NONE when only pinned bricks are left to evict. */
  reserve(source: number, frame: number, brick: number, bytes: number): number {
    const unit = this.#allocate(bytes / UNIT_BYTES);
    if (unit === NONE) return NONE;
    this.#source[unit] = source;
    this.#frame[unit] = frame;
    this.#brick[unit] = brick;
    this.reader[unit] = this.#slot;
    this.state[unit] = LOADING;
    this.#link(unit);
    this.pin(unit);
    return unit;
  }

  /** Pins a run for this worker. */
  pin(unit: number): void {
    if (!this.#pinned(unit)) {
      if (this.state[unit] === READY) this.#detach(unit, OLDEST);
      this.control[PINNED_RUNS] = this.control[PINNED_RUNS] + 1;
    }
    const at = unit * this.#layout.pinWords + (this.#slot >> 5);
    this.#pins[at] = this.#pins[at] | (1 << (this.#slot & 31));
  }

  /** Drops this worker's pin; a ready brick without pins becomes the newest of the LRU list, a failed one is freed. */
  unpin(unit: number): void {
    const at = unit * this.#layout.pinWords + (this.#slot >> 5);
    this.#pins[at] = this.#pins[at] & ~(1 << (this.#slot & 31));
    if (this.#pinned(unit)) return;
    this.control[PINNED_RUNS] = this.control[PINNED_RUNS] - 1;
    if (this.state[unit] === FAILED) this.#free(unit);
    else this.#append(unit);
  }

  /** Takes a reserved run out of the hash; its memory stays until the last pin is gone. */
  fail(unit: number): void {
    this.#unlink(unit);
    Atomics.store(this.state, unit, FAILED);
  }

  /** Takes a dead worker's pins off a run. */
  dropPins(unit: number, deadSlot: number): void {
    const at = unit * this.#layout.pinWords + (deadSlot >> 5);
    this.#pins[at] = this.#pins[at] & ~(1 << (deadSlot & 31));
  }

  /** Visits the first unit of every run that holds or awaits a brick. */
  eachRun(visit: (unit: number) => void): void {
    for (let unit = 0; unit < this.#layout.units; ) {
      if (this.state[unit] < LOADING) {
        unit++;
        continue;
      }
      const length = this.#length[unit];
      visit(unit);
      unit += length;
    }
  }

  /** Drops all bricks; none may be pinned. */
  clear(): void {
    this.state.fill(INTERIOR);
    this.rebuild();
  }

  /** Makes all lists anew from states, lengths, keys and pins. */
  rebuild(): void {
    const control = this.control;
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
    this.eachRun((unit) => {
      if (this.state[unit] === FAILED && !this.#pinned(unit)) {
        this.state[unit] = INTERIOR;
        return;
      }
      gap(unit);
      end = unit + this.#length[unit];
      control[USED_UNITS] = control[USED_UNITS] + end - unit;
      if (this.state[unit] !== FAILED) this.#link(unit);
      if (this.#pinned(unit)) control[PINNED_RUNS] = control[PINNED_RUNS] + 1;
      else this.#append(unit);
    });
    gap(this.#layout.units);
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

  /** A run of `units` units, evicting the oldest bricks until one is found; NONE when only pinned ones are left. */
  #allocate(units: number): number {
    for (;;) {
      for (let unit = this.control[FREE_HEAD]; unit !== NONE; unit = this.#after[unit]) {
        if (this.#length[unit] < units) continue;
        this.#detach(unit, FREE_HEAD);
        const rest = this.#length[unit] - units;
        if (rest > 0) this.#addFree(unit + units, rest);
        this.state.fill(INTERIOR, unit, unit + units);
        this.#length[unit] = units;
        this.control[USED_UNITS] = this.control[USED_UNITS] + units;
        return unit;
      }
      const oldest = this.control[OLDEST];
      if (oldest === NONE) return NONE;
      this.#detach(oldest, OLDEST);
      this.#unlink(oldest);
      this.#free(oldest);
    }
  }

  /** Gives a run back and joins it with free neighbours. */
  #free(unit: number): void {
    let first = unit;
    let length = this.#length[unit];
    this.control[USED_UNITS] = this.control[USED_UNITS] - length;
    const next = unit + length;
    if (next < this.#layout.units && this.state[next] === FREE) {
      this.#detach(next, FREE_HEAD);
      length += this.#length[next];
    }
    const last = unit - 1;
    if (last >= 0 && (this.state[last] === FREE_TAIL || (this.state[last] === FREE && this.#length[last] === 1))) {
      first = unit - this.#length[last];
      this.#detach(first, FREE_HEAD);
      length += this.#length[last];
    }
    this.#addFree(first, length);
  }

  #addFree(unit: number, length: number): void {
    this.state.fill(INTERIOR, unit, unit + length);
    this.#length[unit + length - 1] = length;
    this.state[unit + length - 1] = FREE_TAIL;
    this.#length[unit] = length;
    this.state[unit] = FREE;
    const head = this.control[FREE_HEAD];
    this.#before[unit] = NONE;
    this.#after[unit] = head;
    if (head !== NONE) this.#before[head] = unit;
    this.control[FREE_HEAD] = unit;
  }

  /** Takes a run out of the free list or the LRU list, whose head word is `head`. */
  #detach(unit: number, head: typeof FREE_HEAD | typeof OLDEST): void {
    const before = this.#before[unit];
    const after = this.#after[unit];
    if (before === NONE) this.control[head] = after;
    else this.#after[before] = after;
    if (after !== NONE) this.#before[after] = before;
    else if (head === OLDEST) this.control[NEWEST] = before;
  }

  #append(unit: number): void {
    const newest = this.control[NEWEST];
    this.#before[unit] = newest;
    this.#after[unit] = NONE;
    if (newest === NONE) this.control[OLDEST] = unit;
    else this.#after[newest] = unit;
    this.control[NEWEST] = unit;
  }
}
