/** Finds the stretches of a file that hold a box of a dataset: its chunks, or rows of values that lie in one range. */
import { DataError } from "../../errors.js";
import type { Hyperslab, Stored } from "../file/stored.js";
import type { ByteRange, RangedFile } from "./bytes.js";
import type { Placement } from "./chunk-index.js";
import { swapped } from "./chunk-reader.js";
import { chunksIn } from "./chunks/lookup.js";

/** Rows that are no further apart are fetched in one range. */
const GAP_BYTES = 16 * 1024;
/** Longest range that rows are put together to. */
const READ_BYTES = 1024 * 1024;

/**
 * The stretches that hold a box.
 *
 * @returns none where nothing was written
 * @throws DataError when the chunk index is damaged
 */
export function storedRanges(stored: Stored, placement: Placement, box: Hyperslab): ByteRange[] {
  const { chunks } = stored;
  if (chunks === null) return placement.contiguous === null ? [] : rowPieces(placement.contiguous, stored, box);
  const ranges: ByteRange[] = [];
  for (const first of chunksIn(chunks, box)) {
    const found = placement.chunk(first);
    if (found !== null) ranges.push({ position: found.address, length: found.bytes });
  }
  return ranges;
}

/** Rows of a box in a dataset of one range; those near each other are put together. */
function rowPieces(start: number, stored: Stored, box: Hyperslab): ByteRange[] {
  const ranges: { position: number; length: number }[] = [];
  const { bytes, places } = rowsOf(stored, box);
  for (const place of places()) {
    const position = start + place;
    const last = ranges.at(-1);
    const length = last === undefined ? 0 : position + bytes - last.position;
    if (last !== undefined && position - last.position - last.length <= GAP_BYTES && length <= READ_BYTES)
      last.length = length;
    else ranges.push({ position, length: bytes });
  }
  return ranges;
}

/**
 * Reads a box of values that lie in one range from `start` on, row by row.
 *
 * @param out receives the elements in stored order, little-endian
 * @throws DataError when the file ends before
 */
export function readRows(file: RangedFile, start: number, stored: Stored, box: Hyperslab, out: Uint8Array): void {
  const { bytes, places } = rowsOf(stored, box);
  let at = 0;
  for (const place of places()) {
    const row = out.subarray(at, at + bytes);
    if (file.read(row, start + place) < bytes) throw new DataError(`${file.path} ends inside its values.`);
    at += bytes;
  }
  if (!stored.littleEndian) swapped(out, stored.size);
}

/** Bytes of a row of a box, which lies in one range, and the places of all rows in stored order. */
function rowsOf({ shape, size }: Stored, { offset, count }: Hyperslab) {
  // Dimensions that are read whole are one row with the dimension before.
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
