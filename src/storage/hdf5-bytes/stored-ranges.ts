/** Locates and reads the ranges of a file that hold a box of a dataset: chunks, or rows of contiguous values. */
import type { Hyperslab, Stored } from "../dataset/stored.js";
import { type ByteRange, swapped } from "./bytes.js";
import type { Placement } from "./chunk-index.js";
import { chunksIn } from "./chunks/lookup.js";
import type { OpenBytes } from "./open-bytes.js";

/** Largest gap between rows that are read together. */
const GAP_BYTES = 16 * 1024;
const RANGE_BYTES = 1024 * 1024;

/** The ranges of a box; none if nothing was written. Throws DataError when the chunk index is damaged. */
export function storedRanges(stored: Stored, placement: Placement, box: Hyperslab): ByteRange[] {
  const { chunks } = stored;
  if (chunks === null) return placement.contiguous === null ? [] : rowRanges(placement.contiguous, stored, box);
  const ranges: ByteRange[] = [];
  for (const first of chunksIn(chunks, box)) {
    const found = placement.chunk(first);
    if (found !== null) ranges.push({ position: found.address, length: found.bytes });
  }
  return ranges;
}

function rowRanges(start: number, stored: RowShape, box: Hyperslab): ByteRange[] {
  const ranges: { position: number; length: number }[] = [];
  const { bytes, places } = rowsOf(stored, box);
  for (const place of places()) {
    const position = start + place;
    const last = ranges.at(-1);
    const length = last === undefined ? 0 : position + bytes - last.position;
    if (last !== undefined && position - last.position - last.length <= GAP_BYTES && length <= RANGE_BYTES)
      last.length = length;
    else ranges.push({ position, length: bytes });
  }
  return ranges;
}

/**
 * Reads a box of contiguous values; rows near each other are read together.
 * @param out receives the elements in stored order, little-endian
 * @param roomFor lends memory for rows and the gaps between them
 * @throws DataError when the file is too short
 */
export function readRows(
  file: OpenBytes,
  address: number,
  stored: RowShape,
  box: Hyperslab,
  out: Uint8Array,
  roomFor: (bytes: number) => Buffer,
): void {
  const { bytes, places } = rowsOf(stored, box);
  const read: { start: number; bytes: Buffer } = { start: 0, bytes: Buffer.alloc(0) };
  let at = 0;
  const ranges = rowRanges(0, stored, box)[Symbol.iterator]();
  for (const place of places()) {
    if (place >= read.start + read.bytes.length) {
      const { position, length } = ranges.next().value as ByteRange;
      read.start = position;
      // One row is read into place; several are copied out of a range with gaps.
      read.bytes =
        length === bytes ? Buffer.from(out.buffer, out.byteOffset + at, bytes) : roomFor(length).subarray(0, length);
      file.readValues(read.bytes, address + position);
    }
    if (read.bytes.buffer !== out.buffer)
      out.set(read.bytes.subarray(place - read.start, place - read.start + bytes), at);
    at += bytes;
  }
  if (!stored.littleEndian) swapped(out, stored.size);
}

type RowShape = Pick<Stored, "shape" | "size" | "littleEndian">;

/** Bytes of a row of a contiguous box, and the positions of all rows in stored order. */
function rowsOf({ shape, size }: RowShape, { offset, count }: Hyperslab) {
  // Complete dimensions join the row of the dimension before.
  let outer = Math.max(0, shape.length - 1);
  let bytes = size * (count[outer] ?? 1);
  while (outer > 0 && count[outer] === shape[outer]) bytes *= count[--outer];
  const steps = shape.map((_, d) => shape.slice(d + 1).reduce((product, length) => product * length, size));
  return {
    bytes,
    *places(): Generator<number> {
      const at = offset.slice(0, outer);
      const first = offset.reduce((sum, index, d) => (d < outer ? sum : sum + index * steps[d]), 0);
      for (;;) {
        yield at.reduce((sum, index, d) => sum + index * steps[d], first);
        let d = outer - 1;
        while (d >= 0 && ++at[d] === offset[d] + count[d]) at[d] = offset[d--];
        if (d < 0) return;
      }
    },
  };
}
