/**
 * An HDF5 file in memory with one chunk and one filter, which the library undoes when it reads the file. Source: HDF5
 * file format specification 4.0, sections II (superblock) and IV.A (object headers and messages).
 */
import { checksumOf } from "../hdf5-bytes/checksum.js";
import type { StoredFilter } from "../hdf5-bytes/filters.js";

export const CHUNK_NAME = "c";
const UNDEFINED = new Array<number>(8).fill(0xff);
const SUPERBLOCK = 48;

function number(value: number, bytes: number): number[] {
  const found: number[] = [];
  for (let rest = value; found.length < bytes; rest = Math.floor(rest / 256)) found.push(rest % 256);
  return found;
}

const letters = (text: string): number[] => [...Buffer.from(text, "latin1")];
const withSum = (bytes: readonly number[]) => [...bytes, ...number(checksumOf(Uint8Array.from(bytes)), 4)];

const message = (type: number, ...body: readonly number[]) => [type, ...number(body.length, 2), 0, ...body];

function header(...messages: readonly (readonly number[])[]): number[] {
  const body = messages.flat();
  return withSum([...letters("OHDR"), 2, 2, ...number(body.length, 4), ...body]);
}

/** The file: superblock, chunk, dataset, root group. `length`: bytes that the chunk has without the filter. */
export function chunkFile({ id, parameters }: StoredFilter, chunk: Uint8Array, length: number): Buffer {
  // Lengths of chunks take as few bytes as the largest needs.
  const width = Math.floor(Math.log2(length) / 8) + 1;
  const chunked = [4, 2, 2, 2, width, ...number(length, width), ...number(1, width)];
  const single = [1, ...number(chunk.length, 8), ...number(0, 4), ...number(SUPERBLOCK, 8)];
  const dataset = header(
    message(0x01, 2, 1, 0, 1, ...number(length, 8)),
    message(0x03, 0x10, 0, 0, 0, ...number(1, 4), ...number(0, 2), ...number(8, 2)),
    message(0x05, 3, 0x0a),
    message(0x08, ...chunked, ...single),
    message(
      0x0b,
      // The length of the name, which the library's own filters lack; no flags.
      ...[2, 1, ...number(id, 2), ...(id < 256 ? [] : [0, 0]), 0, 0, ...number(parameters.length, 2)],
      ...parameters.flatMap((parameter) => number(parameter, 4)),
    ),
  );
  const datasetAt = SUPERBLOCK + chunk.length;
  const root = header(
    message(0x02, 0, 0, ...UNDEFINED, ...UNDEFINED),
    message(0x0a, 0, 0),
    message(0x06, 1, 0, CHUNK_NAME.length, ...letters(CHUNK_NAME), ...number(datasetAt, 8)),
  );
  const rootAt = datasetAt + dataset.length;
  const superblock = withSum([
    ...letters("\x89HDF\r\n\x1a\n"),
    ...[2, 8, 8, 0, ...number(0, 8), ...UNDEFINED, ...number(rootAt + root.length, 8), ...number(rootAt, 8)],
  ]);
  return Buffer.concat([Buffer.from(superblock), chunk, Buffer.from([...dataset, ...root])]);
}
