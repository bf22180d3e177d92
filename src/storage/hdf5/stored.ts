/** Types what HDF5 files hold: headers of datasets, attributes, elements. */

/** First element and lengths of a box in a dataset, in the order of its axes. */
export interface Hyperslab {
  readonly offset: readonly number[];
  readonly count: readonly number[];
}

/** The description of a stored dataset by its own header. */
export interface Stored {
  readonly shape: readonly number[];
  /** Lengths that it may grow to; Infinity where there is no bound. */
  readonly maxShape: readonly number[];
  readonly element: "float" | "integer" | "string" | "other";
  /** Bytes per element. */
  readonly size: number;
  /** Whether integers have a sign. */
  readonly signed: boolean;
  readonly littleEndian: boolean;
  /** Chunk shape, or null for contiguous storage. */
  readonly chunks: readonly number[] | null;
  /** Filter names in order of application, `#id` where unknown. */
  readonly filters: readonly string[];
  readonly virtual: boolean;
}

export type AttributeValue = string | readonly string[] | number | Float64Array;

/** Elements as they are stored. */
export type RawValues =
  | Float32Array
  | Float64Array
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array;
