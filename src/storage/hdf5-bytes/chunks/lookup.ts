/** Parts shared by all kinds of chunk index: the lookup, chunk numbers, and ranges of entries. */
import type { Hyperslab, StoredChunk } from "../../dataset/stored.js";
import { addressAt, checkedBytes, type ReadBytes, unsigned } from "../bytes.js";
import { CHECKSUM, checkSum } from "../checksum.js";

/** The stored chunk with this first element, in stored order; null when it was never written. */
export type Lookup = (first: readonly number[]) => StoredChunk | null;

export interface ChunkGrid {
  readonly chunks: readonly number[];
  /** Lengths that the dataset may grow to; Infinity if there is no bound. */
  readonly maxShape: readonly number[];
}

const ADDRESS = 8;
const MASK = 4;

/** Cached entries of an index: at most about 1 MiB. */
const ENTRIES_KEPT = 256;

/** Caches the last reads by address: repeating and checking them would cost more than anything else here. */
export function kept<A, T>(read: (address: number, about: A) => T): (address: number, about: A) => T {
  const entries = new Map<number, T>();
  return (address, about) => {
    const known = entries.get(address);
    if (known !== undefined) return known;
    const entry = read(address, about);
    if (entries.size === ENTRIES_KEPT) entries.delete(entries.keys().next().value as number);
    entries.set(address, entry);
    return entry;
  };
}

/**
 * Numbers of chunks among all that the dataset may ever have: the last dimension counts fastest, but one without a
 * bound slowest of all.
 * @returns also the number of all chunks; Infinity without a bound
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

/** First elements of the chunks that a box touches, the last dimension fastest. */
export function* chunksIn(chunks: readonly number[], { offset, count }: Hyperslab): Generator<readonly number[]> {
  const low = chunks.map((edge, d) => Math.floor(offset[d] / edge) * edge);
  const at = [...low];
  for (;;) {
    yield [...at];
    let d = chunks.length - 1;
    for (; d >= 0; d--) {
      at[d] = at[d] + chunks[d];
      if (at[d] < offset[d] + count[d]) break;
      at[d] = low[d];
    }
    if (d < 0) return;
  }
}

interface EntryRange {
  readonly count: number;
  /** Bytes of an entry; for filtered chunks with a size and a mask besides the address. */
  readonly entryBytes: number;
  /** The block of all entries; null for a page of a block. */
  readonly block: EntryBlock | null;
}

/** A block of entries: its first letters, the address of the array that it belongs to, and the bytes before entries. */
interface EntryBlock {
  readonly signature: string;
  readonly owner: number;
  readonly prefix: number;
}

/** Reads ranges of entries by address; entries are found by their number within a range. */
export function entryRanges(read: ReadBytes) {
  const rangeAt = kept((address: number, { count, entryBytes, block }: EntryRange) => {
    if (block === null) {
      const page = read(address, count * entryBytes + CHECKSUM);
      checkSum(page);
      return page;
    }
    return checkedBytes(read, block.signature, address, block.prefix + count * entryBytes, block.owner);
  });
  return (address: number, range: EntryRange, entry: number): StoredChunk | null =>
    entryAt(rangeAt(address, range), (range.block?.prefix ?? 0) + entry * range.entryBytes, range.entryBytes);
}

/** The address of a chunk; of a filtered one also its size, in the bytes that are left, and a mask. */
export function entryAt(view: DataView, at: number, entryBytes: number): StoredChunk | null {
  const address = addressAt(view, at);
  if (address === null) return null;
  const sizeBytes = entryBytes - ADDRESS - MASK;
  if (sizeBytes < 1) return { address, bytes: null, mask: 0 };
  return {
    address,
    bytes: unsigned(view, at + ADDRESS, sizeBytes),
    mask: view.getUint32(at + entryBytes - MASK, true),
  };
}

/** The last of the ascending entries of a node that is not above a place; -1 if all are above it. */
export function lastNotAbove(entries: number, order: (entry: number) => number): number {
  let [low, high] = [-1, entries];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (order(middle) <= 0) low = middle;
    else high = middle;
  }
  return low;
}

/** Compares the place of a chunk that is read at `at`, 8 bytes a dimension, with another. */
export function comparePlace(view: DataView, at: number, place: readonly number[]): number {
  for (let d = 0; d < place.length; d++) {
    const difference = unsigned(view, at + 8 * d) - place[d];
    if (difference !== 0) return difference;
  }
  return 0;
}
