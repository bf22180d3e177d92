/** Where the brick cache keeps what in the shared memory: the directory first, then the units that hold bricks. */

export const UNIT_BYTES = 16 * 1024;

/** Words of the control block; the first two belong to the lock. */
export const LOCK = 0;
export const RELEASED = 1;
export const FREE_HEAD = 2;
export const OLDEST = 3;
export const NEWEST = 4;
export const USED_UNITS = 5;
export const PINNED_RUNS = 6;
const CONTROL_WORDS = 8;

/** Figures kept as float64, in this order. */
export const HITS = 0;
export const MISSES = 1;
export const BYTES_READ = 2;
const STATS = 3;

/** Words for each unit, but for its pins. */
const UNIT_WORDS = 9;

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
  const words = CONTROL_WORDS + buckets + units * (UNIT_WORDS + pinWords);
  const data = roundUp(start + STATS * 8 + words * 4, UNIT_BYTES);
  return { base: start, units, pinWords, buckets, data, end: data + units * UNIT_BYTES };
}

export function roundUp(value: number, to: number): number {
  return Math.ceil(value / to) * to;
}

/** What stands in the directory, in the order in which it stands there: from `state` on, a place for each unit. */
export function cacheViews(buffer: SharedArrayBuffer, { base, units, pinWords, buckets }: CacheLayout) {
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
