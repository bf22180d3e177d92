/** Declares the settings of stores behind HTTP: how they are asked, and where their answers are kept. */

const MIB = 1024 * 1024;

export interface StoreSettings {
  /** Time that a host has for one answer. */
  readonly timeoutMs: number;
  /** Attempts for one request. */
  readonly attempts: number;
  /** Requests under way at a time, per store. */
  readonly connections: number;
  /** Bytes that are read before they are asked for. */
  readonly aheadBytes: number;
  /** Folder of the cache on disk, which other processes may share; null: there is none. */
  readonly cacheDir: string | null;
  /** Bytes in that folder at most. */
  readonly cacheBytes: number;
}

export const STORE_DEFAULTS: StoreSettings = {
  timeoutMs: 10_000,
  attempts: 4,
  connections: 16,
  aheadBytes: 256 * MIB,
  cacheDir: null,
  cacheBytes: 10 * 1024 * MIB,
};
