/** Counts of fetches from remote stores, and of the cache on disk. */

export interface StoreStatus {
  /** Address as named by the settings or descriptors. */
  readonly store: string;
  readonly requests: number;
  readonly retries: number;
  readonly failures: number;
  readonly bytes: number;
  readonly seconds: number;
  readonly answers: boolean;
}

export interface DiskCounts {
  readonly hits: number;
  readonly misses: number;
  /** Misses because of a wrong checksum or length. */
  readonly damaged: number;
  readonly evictions: number;
  /** Dropped entries: larger than half of the bound, or fetched faster than the disk writes. */
  readonly dropped: number;
  /** Bytes by the last look at the folder, plus those written since. */
  readonly bytes: number;
}
