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
  /** Element type as Zarr 3 names it, e.g. `float32`; anything else as the store writes it. */
  readonly dataType: string;
  /** The value of an element that was never written, as the store's writer has it. */
  readonly fill: unknown;
  readonly dimensions: readonly (string | null)[];
  readonly codecs: readonly string[];
  readonly unknownCodecs: readonly string[];
}

export interface StoreTree {
  readonly entries: Readonly<Record<string, StoredGroup | StoredArray>>;
  /** Digest of the metadata and, if the store tells them, of the sizes and times of all its objects. */
  readonly digest: string;
  /** Time of the newest object in milliseconds of the store's clock: a newer one is a change. */
  readonly newestMs: number;
}
