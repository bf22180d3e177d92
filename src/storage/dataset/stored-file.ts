/** A tree of groups and arrays with attributes, in any format. */
import { DataError } from "../../shared/errors.js";
import type { ReadBuffer } from "./read-buffer.js";
import type { Attributes, ChunkIndex, Hyperslab, RawValues, Stored } from "./stored.js";

/** Most bytes of a table of coordinates: anything larger is a field, and is read by `readHyperslab`. */
export const MAX_TABLE_BYTES = 64 * 1024 * 1024;
export const MAX_TEXTS = 64;

export interface StoredHyperslab extends Hyperslab {
  readonly path: string;
}

/** A dataset of which a virtual dataset consists. */
export interface SourceDataset {
  /** File and path, as the virtual dataset names them. */
  readonly name: string;
  /** Null if it is missing. */
  readonly stored: Stored | null;
  /** Attributes that the virtual dataset does not have, or has with other values. */
  readonly attributes: Attributes;
}

/** Where the values of a virtual dataset come from. */
export interface VirtualSources {
  /** Absolute paths of files, missing ones included. */
  readonly files: readonly string[];
  readonly missing: readonly string[];
  readonly datasets: readonly SourceDataset[];
  /** Why its values cannot be those of its sources; null if they can. */
  readonly refusal: string | null;
}

export const NO_SOURCES: VirtualSources = { files: [], missing: [], datasets: [], refusal: null };

/** An open file or store, read-only. Failures are DataErrors. */
export interface StoredFile {
  readonly path: string;
  /** Time of the newest object of a store or of a remote file, by the clock of its host. */
  readonly newestMs?: number | undefined;
  /** Digest of the version of a store or a remote file. */
  readonly version?: string | undefined;
  names(group: string): string[];
  /** The path with links followed; null if there is no such member. Throws DataError for links that are refused. */
  resolve(path: string): string | null;
  kind(path: string): "group" | "dataset" | "other";
  describe(path: string): Stored;
  /**
   * Attributes: numbers, texts, and null for other types; with `_FillValue` if the format marks holes otherwise.
   * @param member of a group, if several files hold it: what the others say of the group is left out
   */
  attributes(path: string, member?: string): Attributes;
  /** Paths of the coordinate tables that belong to each dimension of a dataset. */
  scales(path: string): string[][];
  /** Dimensions of a dataset whose named coordinate table cannot be found; absent if there are none. */
  lostScales?(path: string): number[];
  /** Label of each dimension of a dataset, or null. */
  labels(path: string): (string | null)[];
  /** All texts of a small dataset; null if it does not hold text. */
  texts(path: string): readonly string[] | null;
  /** Address of the object at a path that `resolve` returned; null if the format has no hard links. */
  address(path: string): number | null;
  /** All values of a small numeric dataset, unpacked to float64. */
  numbers(path: string): Float64Array;
  /** Reads a box of elements in stored order and stored type; the values last until the next use of `buffer`. */
  readHyperslab(path: string, stored: Stored, box: Hyperslab, buffer: ReadBuffer): RawValues;
  /**
   * Reads a box that is one whole chunk into `out`, little-endian.
   * @returns false if `readHyperslab` has to read it; `out` is then unchanged
   */
  readWholeChunk?(path: string, stored: Stored, box: Hyperslab, out: Uint8Array, buffer: ReadBuffer): boolean;
  /**
   * Starts to fetch boxes, and waits for a moment if none has arrived. @returns for each, whether it has arrived or is
   * known to fail
   */
  fetch?(boxes: readonly StoredHyperslab[]): readonly boolean[];
  /** The index of written chunks; null if everything is written, or missing values read as NaN. */
  chunkIndex(path: string, stored: Stored): ChunkIndex | null;
  /** Whether no value of a dataset was ever written, so that all read as its fill value. */
  isUnwritten(path: string): boolean;
  /** Sources of a virtual dataset, and sources that are missing or too short; absent or empty for other datasets. */
  sources?(path: string): VirtualSources;
  /** How many chunks are missing, as text; null if none are, absent if they have not been counted. */
  missingChunks?(path: string): string | null;
  /** Whether the values of a dataset are stored outside the file. */
  hasExternalStorage(path: string): boolean;
  close(): void;
}

/** Counts the elements of a box. Throws DataError, naming `name`, when a dataset of that shape lacks some of them. */
export function countElements(name: string, shape: readonly number[], { offset, count }: Hyperslab): number {
  const rank = shape.length;
  if (offset.length !== rank || count.length !== rank)
    throw new DataError(`${name} has ${rank} dimensions, not ${Math.max(offset.length, count.length)}.`);
  let total = 1;
  for (const [axis, extent] of shape.entries()) {
    const [first, length] = [offset[axis], count[axis]];
    if (first < 0 || length < 1 || first + length > extent)
      throw new DataError(`${name} has no nodes ${first} to ${first + length - 1} on dimension ${axis}.`);
    total *= length;
  }
  return total;
}
