/** Contents of stored files: headers of datasets, attributes, elements. */

/** First element and lengths of a box in a dataset, in the order of its axes. */
export type Hyperslab = Readonly<Record<"offset" | "count", readonly number[]>>;

export interface Stored {
  readonly shape: readonly number[];
  /** Largest lengths; Infinity without a bound. */
  readonly maxShape: readonly number[];
  readonly element: "float" | "integer" | "string" | "other";
  /** Bytes per element. */
  readonly size: number;
  readonly signed: boolean;
  readonly littleEndian: boolean;
  /** Chunk shape, or null for contiguous storage. */
  readonly chunks: readonly number[] | null;
  /** Filter names in order of application; `#id` for unknown ones. */
  readonly filters: readonly string[];
  readonly virtual: boolean;
}

export function isNumeric(stored: Pick<Stored, "element"> | null): boolean {
  return stored?.element === "float" || stored?.element === "integer";
}

export function typeText({ element, size }: Stored): string {
  return element === "float" ? `float${8 * size}` : element === "integer" ? `int${8 * size}` : element;
}

export type AttributeValue = string | readonly string[] | number | Float64Array;

export interface NumberType {
  readonly element: "float" | "integer";
  /** Bytes per number; null for JSON, which does not state them. */
  readonly size: number | null;
}

/** Attributes by name; null for types that are not read. */
export interface Attributes extends ReadonlyMap<string, AttributeValue | null> {
  readonly types?: ReadonlyMap<string, NumberType>;
}

export type RawValues =
  | Float32Array
  | Float64Array
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array;

export interface StoredChunk {
  /** Address from the start of the HDF5 data. */
  readonly address: number;
  /** Stored bytes; null if the index does not state them, because chunks have no filter. */
  readonly bytes: number | null;
  /** Bit i is set if the chunk has not gone through filter i. */
  readonly mask: number;
}

export interface ChunkIndex {
  /** Null when it was never written. Throws DataError when the index is damaged. */
  chunk(first: readonly number[]): StoredChunk | null;
  /** Whether chunks that reach beyond the dataset are stored without filters. */
  readonly plainAtEdges: boolean;
  /**
   * The first element of an unwritten chunk that a box touches, or of the box without chunks; null if there is none.
   * @throws DataError when the index is damaged
   */
  unwritten(box: Hyperslab): readonly number[] | null;
}
