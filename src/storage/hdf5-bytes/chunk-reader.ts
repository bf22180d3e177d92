/** Reads boxes of elements from the chunks of a dataset, and detects chunks that decode to a wrong length. */
import { DataError, readOr } from "../../shared/errors.js";
import type { ChunkIndex, Hyperslab, Stored, StoredChunk } from "../dataset/stored.js";
import { swapped } from "./bytes.js";
import { reachesBeyond } from "./chunk-index.js";
import { chunksIn } from "./chunks/lookup.js";
import { decode, type EncodedChunk, ForeignFilter, type StoredFilter, type UndoFilter } from "./filters.js";
import type { OpenBytes } from "./open-bytes.js";
import { readRows } from "./stored-ranges.js";

export interface ChunkedDataset {
  readonly where: string;
  readonly stored: Stored & { readonly chunks: readonly number[] };
  readonly index: ChunkIndex;
  readonly bytes: OpenBytes;
  readonly filters: readonly StoredFilter[];
  readonly undo: UndoFilter;
}

type RoomFor = (bytes: number) => Buffer;

/** Bytes by which a compressor may fail to make a chunk smaller. */
const MAX_OVERHEAD = 65_536;

/** @throws DataError when the index says that a chunk takes more bytes than any compressor makes of it */
function checkedLength(length: number, chunkBytes: number): number {
  if (length > 2 * chunkBytes + MAX_OVERHEAD) throw new DataError(`${length} bytes are stored for ${chunkBytes}`);
  return length;
}

/**
 * Reads a box and decodes its chunks here.
 * @param out  receives the elements in stored order, little-endian
 * @param fill the value of elements in unwritten chunks, little-endian; null if all are written
 * @param roomFor lends memory for one stored chunk at a time
 * @throws DataError when a chunk is damaged
 */
export function readChunks(
  dataset: ChunkedDataset,
  box: Hyperslab,
  out: Uint8Array,
  fill: Uint8Array | null,
  roomFor: RoomFor,
): void {
  const { stored } = dataset;
  let unwritten: Uint8Array | null = null;
  for (const first of chunksIn(stored.chunks, box)) {
    const found = dataset.index.chunk(first);
    if (found === null) unwritten ??= repeated(fill, chunkBytesOf(stored));
    else if (stored.filters.length === 0) {
      readPlainPart(dataset, first, found, box, out, roomFor);
      continue;
    }
    const values = found === null ? (unwritten as Uint8Array) : decodeChunk(dataset, first, found, roomFor);
    copyPart(values, { offset: first, count: stored.chunks }, stored, box, out);
  }
}

function readPlainPart(
  { stored, where, bytes }: ChunkedDataset,
  first: readonly number[],
  { address, bytes: length }: StoredChunk,
  { offset, count }: Hyperslab,
  out: Uint8Array,
  roomFor: RoomFor,
): void {
  const { chunks, size } = stored;
  const from = chunks.map((_, d) => Math.max(first[d], offset[d]));
  const lengths = chunks.map((edge, d) => Math.min(first[d] + edge, offset[d] + count[d]) - from[d]);
  const inChunk = { offset: from.map((at, d) => at - first[d]), count: lengths };
  const part = Buffer.allocUnsafe(lengths.reduce((product, edge) => product * edge, size));
  named(where, first, () => {
    if (length !== null && length !== chunkBytesOf(stored))
      throw new DataError(`it has ${length} bytes, not ${chunkBytesOf(stored)}`);
    readRows(bytes, address, { ...stored, shape: chunks }, inChunk, part, roomFor);
  });
  copyPart(part, { offset: from, count: lengths }, stored, { offset, count }, out);
}

export function isWholeChunk({ stored: { chunks } }: ChunkedDataset, { offset, count }: Hyperslab): boolean {
  return chunks.every((edge, d) => count[d] === edge && offset[d] % edge === 0);
}

/**
 * Reads a box for which `isWholeChunk` holds directly into `out`; unfiltered elements are copied once.
 * @param out receives the elements in stored order, little-endian
 * @param roomFor lends memory for the stored chunk if it has to be decoded
 * @returns false if the chunk was never written; `out` is then unchanged
 * @throws DataError when the chunk is damaged
 */
export function readWholeChunk(
  dataset: ChunkedDataset,
  { offset }: Hyperslab,
  out: Uint8Array,
  roomFor: RoomFor,
): boolean {
  const { filters } = dataset.stored;
  const found = dataset.index.chunk(offset);
  if (found === null) return false;
  const room = (bytes: number): Buffer =>
    filters.length === 0 && bytes === out.length ? Buffer.from(out.buffer, out.byteOffset, bytes) : roomFor(bytes);
  const values = decodeChunk(dataset, offset, found, room);
  if (values.buffer !== out.buffer) out.set(values);
  return true;
}

function chunkBytesOf({ chunks, size }: ChunkedDataset["stored"]): number {
  return chunks.reduce((product, edge) => product * edge, size);
}

function named<T>(where: string, first: readonly number[], read: () => T): T {
  return readOr(read, (error) => {
    if (error instanceof ForeignFilter) throw new DataError(`${where} ${error.message}.`, error);
    throw new DataError(`${where}: the chunk at ${first.join(", ")} is damaged: ${error.message}.`, error);
  });
}

function codingOf(
  { stored, index, filters, undo }: ChunkedDataset,
  first: readonly number[],
  { mask }: StoredChunk,
): Omit<EncodedChunk, "bytes"> {
  const isPlain = index.plainAtEdges && reachesBeyond(stored.shape, stored.chunks, first);
  const about = { elementBytes: stored.size, chunkBytes: chunkBytesOf(stored), undo };
  return isPlain ? { ...about, filters: [], mask: 0 } : { ...about, filters, mask };
}

function decodeChunk(
  dataset: ChunkedDataset,
  first: readonly number[],
  found: StoredChunk,
  roomFor: RoomFor,
): Uint8Array {
  const { stored, where, bytes } = dataset;
  return named(where, first, () => {
    const coding = codingOf(dataset, first, found);
    const length = checkedLength(found.bytes ?? coding.chunkBytes, coding.chunkBytes);
    const view = bytes.read(found.address, length, roomFor(length));
    const values = decode({ bytes: new Uint8Array(view.buffer, view.byteOffset, view.byteLength), ...coding });
    return stored.littleEndian ? values : swapped(values, stored.size);
  });
}

/** Memory filled with one element; with zeros for null. */
export function repeated(element: Uint8Array | null, length: number): Uint8Array {
  const out = new Uint8Array(length);
  if (element !== null) for (let at = 0; at < length; at += element.length) out.set(element, at);
  return out;
}

/** Copies the elements that two boxes of a dataset share from the values of one into those of the other. */
export function copyPart(
  values: Uint8Array,
  source: Hyperslab,
  { size }: Pick<Stored, "size">,
  { offset, count }: Hyperslab,
  out: Uint8Array,
): void {
  const from = offset.map((start, d) => Math.max(source.offset[d], start));
  const lengths = offset.map((start, d) => Math.min(source.offset[d] + source.count[d], start + count[d]) - from[d]);
  // Dimensions that are complete in both join the run of the dimension before.
  let outer = count.length - 1;
  let run = size * (lengths[outer] ?? 1);
  while (outer > 0 && lengths[outer] === source.count[outer] && lengths[outer] === count[outer])
    run *= lengths[--outer];
  const place = (of: readonly number[], lengthsOf: readonly number[]) =>
    of.reduce((at, start, d) => at * lengthsOf[d] + from[d] - start, 0) * size;
  const steps = (lengthsOf: readonly number[]) =>
    lengthsOf.map((_, d) => lengthsOf.slice(d + 1).reduce((product, length) => product * length, size));
  const [inSource, inBox] = [steps(source.count), steps(count)];
  const [sourceStart, boxStart] = [place(source.offset, source.count), place(offset, count)];
  const at = new Array<number>(Math.max(outer, 0)).fill(0);
  for (;;) {
    let start = sourceStart;
    let target = boxStart;
    for (let d = 0; d < outer; d++) {
      start += at[d] * inSource[d];
      target += at[d] * inBox[d];
    }
    out.set(values.subarray(start, start + run), target);
    let d = outer - 1;
    while (d >= 0 && ++at[d] === lengths[d]) at[d--] = 0;
    if (d < 0) return;
  }
}
