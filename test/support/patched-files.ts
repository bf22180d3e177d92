/** Byte-level changes that the HDF5 library here cannot make itself: external raw storage, and a filter it lacks. */
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
 *
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

/** Renames the only gzip filter of a file in the earliest format to filter 32000, which nobody here has. */
export function useForeignFilter(path: string): void {
  const file = readFileSync(path);
  file.writeUInt16LE(32000, file.indexOf("deflate") - 8);
  writeFileSync(path, file);
}
