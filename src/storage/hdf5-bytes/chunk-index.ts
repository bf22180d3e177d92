/**
 * Finds the chunks of a stored dataset, and those that were never written, which the library reads as zeros without an
 * error.
 */
import { BusyError, DataError } from "../../errors.js";
import type { ChunkIndex, Hyperslab, StoredChunk } from "../file/stored.js";
import { addressAt, type FilePlace, hdf5Bytes, type OpenBytes, pathOf, startOf, unsigned } from "./bytes.js";
import { extensibleArray } from "./chunks/extensible-array.js";
import { firstTree } from "./chunks/first-tree.js";
import { fixedArray } from "./chunks/fixed-array.js";
import { type ChunkGrid, chunksIn, type Lookup } from "./chunks/lookup.js";
import { secondTree } from "./chunks/second-tree.js";
import { CHUNKED, CONTIGUOUS, headerMessages, MESSAGE } from "./object-header.js";

/** Chunks of a dataset (null where it is contiguous or compact) and the lengths that it may grow to. */
interface ChunkedShape {
  readonly maxShape: readonly number[];
  readonly chunks: readonly number[] | null;
}

/**
 * Kinds of index since version 4 of the message, the bytes of parameters that each has, and a flag of those of one
 * chunk.
 */
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
/** Stands for the index that earlier versions all have. */
const FIRST_TREE = -1;

/** Content of a layout message: how and where values are kept. */
interface LayoutMessage {
  readonly kind: number;
  /** Of the values or of the chunk index, from the start of the HDF5 data; null when nothing was ever written. */
  readonly address: number | null;
  readonly plainAtEdges: boolean;
  /** The size and the mask of the one chunk, where it has a filter and no other index. */
  readonly single: Omit<StoredChunk, "address"> | null;
}

/**
 * The chunk index of the dataset with an object header.
 *
 * Source: HDF5 file format specification 4.0, section IV.A.2.i.
 *
 * @param name of the dataset, for messages
 * @param address of the object header from the start of the HDF5 data
 * @returns null where everything is written and unfiltered: contiguous values, one chunk, or chunks that all had a
 *   place from
 *          the start
 * @throws DataError when the header is cut short or the index damaged
 */
export function readChunkIndex(
  place: FilePlace,
  name: string,
  address: number,
  { chunks, maxShape }: ChunkedShape,
): ChunkIndex | null {
  const named = <T>(read: () => T): T => {
    try {
      return read();
    } catch (error) {
      if (error instanceof BusyError) throw error;
      throw new DataError(`${pathOf(place)}: the list of the written parts of ${name} cannot be read.`, error);
    }
  };
  return named((): ChunkIndex | null => {
    const bytes = hdf5Bytes(place);
    const message = headerMessages(place, address).find(({ type }) => type === MESSAGE.layout);
    if (message === undefined) throw new DataError("The object header has no layout message.");
    const layout = bytes((read) => readLayout(read(message.start, message.bytes)));
    if (layout === null) return null;
    const about = { plainAtEdges: layout.plainAtEdges };
    if (chunks === null) {
      return layout.address === null ? { unwritten: ({ offset }) => offset, chunk: () => null, ...about } : null;
    }
    const find = layout.address === null ? () => null : lookup(bytes, layout, layout.address, { chunks, maxShape });
    if (find === null) return null;
    return {
      unwritten: (box) => named(() => firstWithout(find, chunks, box)),
      chunk: (first) => named(() => find(first)),
      ...about,
    };
  });
}

/** The placement of the values of a dataset in its file. */
export interface Placement {
  /** Of the values, from the start of the file, where they are contiguous; null where there are chunks. */
  readonly contiguous: number | null;
  /** The place of the chunk with this first element, from the start of the file; null when it was never written. */
  chunk(first: readonly number[]): PlacedChunk | null;
}

/** A range of a file that is a chunk. */
export interface PlacedChunk {
  readonly address: number;
  readonly bytes: number;
  /** Whether the chunk has not gone through all filters of its dataset. */
  readonly lacksFilters: boolean;
}

/**
 * The place of the values of the dataset with an object header.
 *
 * @param extent     shape, chunks and the lengths that it may grow to
 * @param chunkBytes bytes of a chunk without a filter
 * @throws DataError when the header or the index is damaged, or the values are in the header or in another file
 */
export function readPlacement(
  place: FilePlace,
  name: string,
  address: number,
  { chunks, maxShape, shape }: ChunkedShape & { readonly shape: readonly number[] },
  chunkBytes: number,
): Placement {
  const bytes = hdf5Bytes(place);
  const start = startOf(place);
  const message = headerMessages(place, address).find(({ type }) => type === MESSAGE.layout);
  const layout = message && bytes((read) => readLayout(read(message.start, message.bytes)));
  if (!layout)
    throw new DataError(`${pathOf(place)}: the values of ${name} are not in chunks or in one range of the file`);
  const { address: at } = layout;
  if (chunks === null) return { contiguous: at === null ? null : start + at, chunk: () => null };
  if (at === null) return { contiguous: null, chunk: () => null };
  const find = lookup(bytes, layout, at, { chunks, maxShape }) ?? implicitly(at, chunks, maxShape, chunkBytes);
  return {
    contiguous: null,
    chunk: (first) => {
      const found = find(first);
      if (found === null) return null;
      const isPlain = layout.plainAtEdges && reachesBeyond(shape, chunks, first);
      return {
        address: start + found.address,
        bytes: found.bytes ?? chunkBytes,
        lacksFilters: isPlain || found.mask !== 0,
      };
    },
  };
}

/**
 * Whether no value of the dataset with an object header was ever written: neither values nor chunks have a place.
 *
 * @throws DataError when the header is damaged
 */
export function isUnwritten(place: FilePlace, address: number): boolean {
  const bytes = hdf5Bytes(place);
  const message = headerMessages(place, address).find(({ type }) => type === MESSAGE.layout);
  const layout = message && bytes((read) => readLayout(read(message.start, message.bytes)));
  return layout?.address === null;
}

/** Whether the chunk with this first element reaches beyond a dataset of that shape. */
export function reachesBeyond(shape: readonly number[], chunks: readonly number[], first: readonly number[]): boolean {
  return first.some((at, d) => at + chunks[d] > shape[d]);
}

/** Chunks without an index lie one after the other. */
function implicitly(address: number, chunks: readonly number[], shape: readonly number[], bytes: number): Lookup {
  const grid = shape.map((length, axis) => Math.ceil(length / chunks[axis]));
  return (first) => {
    const at = first.reduce((sum, index, axis) => sum * grid[axis] + index / chunks[axis], 0);
    return { address: address + at * bytes, bytes: null, mask: 0 };
  };
}

/** Null where the values are in the header or in another file. */
function readLayout(message: DataView): LayoutMessage | null {
  const version = message.getUint8(0);
  const early = version < 3;
  const kind = message.getUint8(early ? 2 : 1);
  if (kind !== CONTIGUOUS && kind !== CHUNKED) return null;
  const plain = { plainAtEdges: false, single: null };
  if (early) return { kind: FIRST_TREE, address: addressAt(message, 8), ...plain };
  if (kind === CONTIGUOUS) return { kind, address: addressAt(message, 2), ...plain };
  if (version === 3) return { kind: FIRST_TREE, address: addressAt(message, 3), ...plain };
  const at = 5 + message.getUint8(3) * message.getUint8(4);
  const index = message.getUint8(at);
  const flags = message.getUint8(2);
  const isFilteredChunk = index === ONE_CHUNK && (flags & FILTERED) !== 0;
  const parameters = isFilteredChunk ? FILTERED_PARAMETERS : PARAMETERS.get(index);
  if (parameters === undefined) throw new DataError(`The chunk index is of kind ${index}, which is not known.`);
  return {
    kind: index,
    address: addressAt(message, at + 1 + parameters),
    plainAtEdges: (flags & PLAIN_AT_EDGES) !== 0,
    single: isFilteredChunk ? { bytes: unsigned(message, at + 1), mask: message.getUint32(at + 9, true) } : null,
  };
}

/** Null where every chunk has a place and no filter. */
function lookup(bytes: OpenBytes, { kind, single }: LayoutMessage, address: number, grid: ChunkGrid): Lookup | null {
  if (single !== null) return () => ({ address, ...single });
  if (kind === FIRST_TREE) return firstTree(bytes, address, grid.chunks.length);
  if (kind === FIXED_ARRAY) return fixedArray(bytes, address, grid);
  if (kind === EXTENSIBLE_ARRAY) return extensibleArray(bytes, address, grid);
  if (kind === SECOND_TREE) return secondTree(bytes, address, grid.chunks);
  return null;
}

/** The first element of a chunk in a box that is not there. */
function firstWithout(find: Lookup, chunks: readonly number[], box: Hyperslab): readonly number[] | null {
  for (const first of chunksIn(chunks, box)) if (find(first) === null) return first;
  return null;
}
