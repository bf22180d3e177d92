/**
 * Byte-level changes that the HDF5 library here cannot make itself: external and virtual storage, values that were
 * never written, a filter it lacks.
 */
import { readFileSync, writeFileSync } from "node:fs";

/** Name and size of an attribute whose message gives its place to the list of external files. */
export const SPARE = { name: "spare", bytes: 64 } as const;

const u64 = (value: number) => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
};

/**
 * Makes the values of a contiguous dataset come from an external file: the attribute SPARE becomes the message
 * "external data files" (HDF5 file format 3.0, IV.A.2.h) with one entry, and the dataset loses its own storage. The
 * file is in the earliest format, and its external file is named like the link `name`, whose text the local heap holds.
 * @param bytes size of the values
 */
export function useExternalStorage(path: string, name: string, bytes: number): void {
  const file = readFileSync(path);
  const heap = file.indexOf("HEAP");
  const segment = Number(file.readBigUInt64LE(heap + 24));
  const offset = file.indexOf(`${name}\0`, segment) - segment;
  const body = file.indexOf(`${SPARE.name}\0`) - 8;
  file.writeUInt16LE(0x07, body - 8);
  const list = [Buffer.from([1, 0, 0, 0, 1, 0, 1, 0]), u64(heap), u64(offset), u64(0), u64(bytes)];
  Buffer.concat(list).copy(file, body);
  const address = file.indexOf(u64(bytes)) - 8;
  file.fill(0xff, address, address + 8);
  writeFileSync(path, file);
}

/** Takes the values, `bytes` at `address`, of a contiguous dataset of the earliest format, as if none were written. */
export function takeValues(path: string, address: number, bytes: number): void {
  const file = readFileSync(path);
  const place = file.indexOf(Buffer.concat([u64(address), u64(bytes)]));
  file.fill(0xff, place, place + 8);
  writeFileSync(path, file);
}

/** Renames the only gzip filter of a file in the earliest format to filter 307, which is not read. */
export function useForeignFilter(path: string): void {
  const file = readFileSync(path);
  file.writeUInt16LE(307, file.indexOf("deflate") - 8);
  writeFileSync(path, file);
}

/**
 * One mapping of a virtual dataset: block version 0, one entry, source file "other.h5", dataset "/p", all of it onto
 * all of it, and the checksum of these bytes (Jenkins lookup3, computed apart).
 */
const MAPPING = Buffer.concat([
  Buffer.from([0]),
  u64(1),
  Buffer.from("other.h5\0/p\0", "latin1"),
  Buffer.from("03000000010000000000000000000000".repeat(2), "hex"),
  Buffer.from([0x80, 0x45, 0xab, 0xf3]),
]);
const HEAP_BYTES = 4096;

/**
 * Makes a contiguous dataset of the earliest format a virtual one: its layout message becomes version 4, class virtual
 * (HDF5 file format 3.0, IV.A.2.i), with its mapping in a global heap at the end of the file.
 * @param bytes size of the values, by which the layout message is found
 */
export function makeVirtual(path: string, bytes: number): void {
  const old = readFileSync(path);
  const heap = Buffer.alloc(HEAP_BYTES);
  const item = 16;
  const space = item + 16 + Math.ceil(MAPPING.length / 8) * 8;
  heap.write("GCOL\x01", "latin1");
  u64(HEAP_BYTES).copy(heap, 8);
  heap.writeUInt16LE(1, item);
  heap.writeUInt16LE(1, item + 2);
  u64(MAPPING.length).copy(heap, item + 8);
  MAPPING.copy(heap, item + 16);
  u64(HEAP_BYTES - space).copy(heap, space + 8);
  const layout = old.indexOf(u64(bytes)) - 10;
  Buffer.concat([Buffer.from([4, 3]), u64(old.length), Buffer.from([1, 0, 0, 0])]).copy(old, layout);
  const END_OF_FILE = 40;
  u64(old.length + HEAP_BYTES).copy(old, END_OF_FILE);
  writeFileSync(path, Buffer.concat([old, heap]));
}
