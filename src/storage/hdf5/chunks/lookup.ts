/** Shared parts of the kinds of chunk index: the lookup, the numbers of chunks, runs of entries and the pieces that are kept. */
import { addressAt, type OpenBytes, type ReadBytes } from "../bytes.js";

/** Whether the chunk with this first element, in stored order, was ever written. */
export type Lookup = (first: readonly number[]) => boolean;

/** The chunks of a dataset, in stored order. */
export interface ChunkGrid {
  /** Edges of a chunk. */
  readonly chunks: readonly number[];
  /** Lengths that the dataset may grow to; Infinity where there is no bound. */
  readonly maxShape: readonly number[];
}

/** Pieces of an index that are kept: at most about 1 MiB of them. */
const PIECES_KEPT = 256;

/** Remembers by their addresses what was read last: to open the file for one piece costs more than all else here. */
export function kept<A, T>(read: (address: number, about: A) => T): (address: number, about: A) => T {
  const pieces = new Map<number, T>();
  return (address, about) => {
    const known = pieces.get(address);
    if (known !== undefined) return known;
    const piece = read(address, about);
    if (pieces.size === PIECES_KEPT) pieces.delete(pieces.keys().next().value as number);
    pieces.set(address, piece);
    return piece;
  };
}

/**
 * The number of a chunk in an array of all that the dataset may ever have: the last dimension counts fastest, but one
 * without a bound slowest of all, wherever it stands.
 *
 * @returns also the number of all chunks; Infinity where a dimension has no bound
 */
export function chunkNumbers({ chunks, maxShape }: ChunkGrid) {
  const counts = maxShape.map((length, d) => Math.ceil(length / chunks[d]));
  const bounded = [...counts.keys()].filter((d) => counts[d] !== Number.POSITIVE_INFINITY);
  const order = [...counts.keys()].filter((d) => !bounded.includes(d)).concat(bounded);
  const numberOf = (first: readonly number[]): number => {
    let number = 0;
    for (let place = 0; place < order.length; place++) {
      const d = order[place];
      if (place > 0) number *= counts[d];
      number += first[d] / chunks[d];
    }
    return number;
  };
  return { numberOf, total: counts.reduce((product, count) => product * count, 1) };
}

/** A run of entries in the file. */
interface Run {
  readonly count: number;
  /** Bytes of one entry: those of filtered chunks have a size and a mask besides the address. */
  readonly entryBytes: number;
}

/** Reads runs of entries by their addresses: 1 for a chunk that has an address, 0 for one that has none. */
export function entryRuns(bytes: OpenBytes) {
  return kept((address: number, run: Run) => bytes((read) => entries(read, address, run)));
}

function entries(read: ReadBytes, address: number, { count, entryBytes }: Run): Uint8Array {
  const stored = read(address, count * entryBytes);
  return Uint8Array.from({ length: count }, (_, i) => (addressAt(stored, i * entryBytes) === null ? 0 : 1));
}
