/** Locates the values of a stored dataset in its file: one range, or chunk by chunk. */
import { DataError } from "../../shared/errors.js";
import type { ChunkIndex, Hyperslab, Stored, StoredChunk } from "../dataset/stored.js";
import { addressAt, type ReadBytes, unsigned } from "./bytes.js";
import { extensibleArray } from "./chunks/extensible-array.js";
import { firstTree } from "./chunks/first-tree.js";
import { fixedArray } from "./chunks/fixed-array.js";
import { type ChunkGrid, chunksIn, type Lookup } from "./chunks/lookup.js";
import { secondTree } from "./chunks/second-tree.js";

/** Kinds of index from version 4 of the message on, bytes of their parameters, and a flag of single chunks. */
const ONE_CHUNK = 1;
const IMPLICIT = 2;
const FIXED_ARRAY = 3;
const EXTENSIBLE_ARRAY = 4;
const SECOND_TREE = 5;
const PARAMETERS = new Map([
  [ONE_CHUNK, 0],
  [IMPLICIT, 0],
  [FIXED_ARRAY, 1],
  [EXTENSIBLE_ARRAY, 5],
  [SECOND_TREE, 6],
]);
const PLAIN_AT_EDGES = 0x01;
const FILTERED = 0x02;
const FILTERED_PARAMETERS = 12;
/** Stands for the B-tree, the index of all earlier versions. */
const FIRST_TREE = -1;

const [COMPACT, CONTIGUOUS, CHUNKED, VIRTUAL] = [0, 1, 2, 3];

export interface StoredLayout {
  /** The mappings of a virtual dataset in the global heap; null for any other. */
  readonly virtual: { readonly address: number; readonly index: number } | null;
  /** Lengths of a chunk; null if the values are in one range. */
  readonly chunks: readonly number[] | null;
  /** Address of the values or of the chunk index, from the start of the HDF5 data; null if nothing was ever written. */
  readonly address: number | null;
  /** Bytes of the values in one range; null if the layout does not say. */
  readonly bytes: number | null;
  readonly index: number;
  readonly plainAtEdges: boolean;
  /** The size and the mask of the one chunk, if it has a filter and no other index. */
  readonly single: Omit<StoredChunk, "address"> | null;
}

/**
 * Source: HDF5 file format specification 4.0, section IV.A.2.i.
 * @param start address of the message
 * @param dimensions of the dataset
 */
export function readLayout(message: DataView, start: number, dimensions: number): StoredLayout {
  const version = message.getUint8(0);
  if (version < 1 || version > 4) throw new DataError(`a layout of version ${version} is not read`);
  const early = version < 3;
  const kind = message.getUint8(early ? 2 : 1);
  const plain = { virtual: null, chunks: null, bytes: null, index: FIRST_TREE, plainAtEdges: false, single: null };
  const lengths = (rank: number, from: number, width: number) =>
    Array.from({ length: rank }, (_, d) => unsigned(message, from + width * d, width));
  const rank = message.getUint8(early ? 1 : version === 3 ? 2 : 3) - 1;
  // Early writers count the bytes of an element as a dimension; for values in one range only some do.
  if (early && rank !== dimensions && (kind === CHUNKED || rank + 1 !== dimensions))
    throw new DataError(`its layout has ${rank} dimensions, not ${dimensions}`);
  if (kind === COMPACT) {
    const at = early ? 8 + 4 * (rank + 1) : 2;
    const width = early ? 4 : 2;
    const bytes = unsigned(message, at, width);
    if (at + width + bytes > message.byteLength) throw new DataError("its values reach beyond their message");
    return { ...plain, address: start + at + width, bytes };
  }
  if (kind === CONTIGUOUS) {
    const at = early ? 8 : 2;
    return { ...plain, address: addressAt(message, at), bytes: early ? null : unsigned(message, at + 8) };
  }
  if (kind === VIRTUAL) {
    const virtual = { address: unsigned(message, 2), index: message.getUint32(10, true) };
    return { ...plain, virtual, address: null };
  }
  if (kind !== CHUNKED) throw new DataError(`a layout of kind ${kind} is not read`);
  // The last length is the size of an element.
  if (early) return { ...plain, chunks: lengths(rank, 16, 4), address: addressAt(message, 8) };
  if (version === 3) return { ...plain, chunks: lengths(rank, 11, 4), address: addressAt(message, 3) };
  return { ...plain, chunks: lengths(rank, 5, message.getUint8(4)), ...readIndexKind(message) };
}

function readIndexKind(message: DataView): Pick<StoredLayout, "index" | "address" | "plainAtEdges" | "single"> {
  const at = 5 + message.getUint8(3) * message.getUint8(4);
  const index = message.getUint8(at);
  const flags = message.getUint8(2);
  const isFilteredChunk = index === ONE_CHUNK && (flags & FILTERED) !== 0;
  const parameters = isFilteredChunk ? FILTERED_PARAMETERS : PARAMETERS.get(index);
  if (parameters === undefined) throw new DataError(`a chunk index of kind ${index} is not read`);
  return {
    index,
    address: addressAt(message, at + 1 + parameters),
    plainAtEdges: (flags & PLAIN_AT_EDGES) !== 0,
    single: isFilteredChunk ? { bytes: unsigned(message, at + 1), mask: message.getUint32(at + 9, true) } : null,
  };
}

export interface Placement {
  /** Position of contiguous values, from the start of the file; null for chunks. */
  readonly contiguous: number | null;
  /** The position of the chunk with this first element, from the start of the file; null when it was never written. */
  chunk(first: readonly number[]): PlacedChunk | null;
}

export type PlacedChunk = Readonly<Record<"address" | "bytes", number>>;

export interface ValuePlaces {
  readonly placement: Placement;
  readonly index: ChunkIndex;
  /** Whether the index knows which chunks were written; else all chunks have a position. */
  readonly isKnown: boolean;
}

/**
 * @param start offset of the HDF5 data in the file
 * @param where file and path, for messages
 * @throws DataError, also from the index, when that is damaged
 */
export function valuePlaces(
  read: ReadBytes,
  start: number,
  where: string,
  layout: StoredLayout,
  stored: Stored,
): ValuePlaces {
  const named = <T>(call: () => T): T => {
    try {
      return call();
    } catch (error) {
      if (!(error instanceof DataError || error instanceof RangeError)) throw error;
      throw new DataError(`${where}: the list of its written parts cannot be read: ${error.message}.`, error);
    }
  };
  const { address, plainAtEdges } = layout;
  const { chunks } = stored;
  if (chunks === null) {
    const contiguous = address === null ? null : start + address;
    const unwritten = ({ offset }: Hyperslab) => (address === null ? offset : null);
    return {
      placement: { contiguous, chunk: () => null },
      index: { unwritten, chunk: () => null, plainAtEdges },
      isKnown: address === null,
    };
  }
  const chunkBytes = chunks.reduce((product, edge) => product * edge, stored.size);
  const grid = { chunks, maxShape: stored.maxShape };
  const known = address === null ? () => null : named(() => lookup(read, layout, address, grid));
  const find = known ?? implicitly(address as number, chunks, stored.maxShape, chunkBytes);
  const chunk = (first: readonly number[]): PlacedChunk | null => {
    const found = named(() => find(first));
    if (found === null) return null;
    return { address: start + found.address, bytes: found.bytes ?? chunkBytes };
  };
  return {
    placement: { contiguous: null, chunk },
    index: {
      unwritten: (box) => named(() => firstWithout(find, chunks, box)),
      chunk: (first) => named(() => find(first)),
      plainAtEdges,
    },
    isKnown: known !== null,
  };
}

export function reachesBeyond(shape: readonly number[], chunks: readonly number[], first: readonly number[]): boolean {
  return first.some((at, d) => at + chunks[d] > shape[d]);
}

function implicitly(address: number, chunks: readonly number[], shape: readonly number[], bytes: number): Lookup {
  const grid = shape.map((length, axis) => Math.ceil(length / chunks[axis]));
  return (first) => {
    const at = first.reduce((sum, index, axis) => sum * grid[axis] + index / chunks[axis], 0);
    return { address: address + at * bytes, bytes: null, mask: 0 };
  };
}

function lookup(read: ReadBytes, { index, single }: StoredLayout, address: number, grid: ChunkGrid): Lookup | null {
  if (single !== null) return () => ({ address, ...single });
  if (index === FIRST_TREE) return firstTree(read, address, grid.chunks.length);
  if (index === FIXED_ARRAY) return fixedArray(read, address, grid);
  if (index === EXTENSIBLE_ARRAY) return extensibleArray(read, address, grid);
  if (index === SECOND_TREE) return secondTree(read, address, grid.chunks);
  return null;
}

function firstWithout(find: Lookup, chunks: readonly number[], box: Hyperslab): readonly number[] | null {
  for (const first of chunksIn(chunks, box)) if (find(first) === null) return first;
  return null;
}
