export interface StoredGroup {
  readonly kind: "group";
  readonly attributes: Readonly<Record<string, unknown>>;
}

export interface StoredArray {
  readonly kind: "array";
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly shape: readonly number[];
  /** Edges of the ranges that are decoded as a whole: chunks, or the inner chunks of shards. */
  readonly chunks: readonly number[];
  /** Element type as named by Zarr 3, e.g. `float32`; other types as written in the store. */
  readonly dataType: string;
  /** The value of an element that was never written, as stated by the store's writer. */
  readonly fill: unknown;
  readonly dimensions: readonly (string | null)[];
  readonly codecs: readonly string[];
  readonly unknownCodecs: readonly string[];
  /** Chunks or shards that make it up. */
  readonly objects: number;
}

export interface StoreTree {
  readonly entries: Readonly<Record<string, StoredGroup | StoredArray>>;
  /** Digest of the metadata and, if the store states them, of the sizes and times of all its objects. */
  readonly digest: string;
  /** By path of a folder: how many chunks or shards are in it; no entry unless the store lists its objects. */
  readonly present: Readonly<Record<string, number>>;
  /** Time of the newest object in milliseconds of the store's clock; a newer one is a change. */
  readonly newestMs: number;
}
