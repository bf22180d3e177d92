/** Settings of stores: requests to hosts, caching, and bounds of what is read. */

const MIB = 1024 * 1024;

export interface StoreSettings {
  /** Timeout of one answer of a host. */
  readonly timeoutMs: number;
  /** Attempts for one request. */
  readonly attempts: number;
  /** Requests under way at a time, per store. */
  readonly connections: number;
  /** Bytes that are read ahead. */
  readonly aheadBytes: number;
  /** Bytes of all metadata documents of a store. */
  readonly metadataBytes: number;
  /** Bytes of a list of references. */
  readonly referencesBytes: number;
  /** Bytes of a decoded chunk. */
  readonly chunkBytes: number;
  /** Meaning of a missing chunk, unless its store defines it: an error, or the fill value of the array. */
  readonly missing: MissingChunks;
  /** Folder of the cache on disk, which other processes may share; null for none. */
  readonly cacheDir: string | null;
  /** Bytes in that folder at most. */
  readonly cacheBytes: number;
}

/** Meanings of a missing chunk. */
export const MISSING_CHUNKS = ["error", "fill"] as const;
export type MissingChunks = (typeof MISSING_CHUNKS)[number];

export const STORE_DEFAULTS: StoreSettings = {
  timeoutMs: 10_000,
  attempts: 4,
  connections: 16,
  aheadBytes: 256 * MIB,
  metadataBytes: 16 * MIB,
  referencesBytes: 128 * MIB,
  chunkBytes: 256 * MIB,
  missing: "error",
  cacheDir: null,
  cacheBytes: 10 * 1024 * MIB,
};

/** Bounds of the content of one store, which no setting changes; docs/sources.md lists them. */
export const STORE_BOUNDS = {
  /** Nesting of lists and objects in a metadata document, and of groups. */
  depth: 32,
  /** Members and elements of all metadata documents. */
  values: 1_000_000,
  /** Members of one object of a metadata document; consolidated metadata have three for a group or array. */
  members: 30_000,
  /** Groups and arrays. */
  nodes: 10_000,
  /** Attributes of a group or array. */
  attributes: 10_000,
  /** Characters of the path of a group or array. */
  pathLength: 1024,
  /** Dimensions of an array. */
  dimensions: 32,
  /** Chunks of a shard. */
  shardChunks: 1 << 20,
  /** Chunks that one read needs. */
  readChunks: 1 << 18,
  /** Objects of a store in a folder. */
  objects: 1_000_000,
  /** References of a list, files that they name, and characters of one text and of all texts expanded. */
  references: 500_000,
  targets: 10_000,
  templateLength: 4096,
  expandedLength: 256 * MIB,
  /** Bytes of a page that lists objects, and objects that all pages of a folder list. */
  pageBytes: 16 * MIB,
  listed: 1_000_000,
} as const;
