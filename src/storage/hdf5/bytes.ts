/** Reads HDF5 files as bytes, for the facts that the library does not show. */
import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import { DataError } from "../../errors.js";
import { reasonOf } from "../../system-error.js";

const UNDEFINED = 2 ** 64;
const SIGNATURE = Buffer.from("\x89HDF\r\n\x1a\n", "latin1");

/**
 * Reads bytes at an address, which counts from the start of the HDF5 data; into the start of `room`, or new memory.
 *
 * @throws DataError beyond the end of the file
 */
export type ReadBytes = (address: number, length: number, room?: Buffer) => DataView;

/** Opens a file for as long as `use` takes. */
export type OpenBytes = <T>(use: (read: ReadBytes) => T) => T;

/** Gives access to the bytes of an HDF5 file. @throws DataError when it is none */
export function hdf5Bytes(path: string): OpenBytes {
  const base = withFile(path, (file) => checkedStart(file, path));
  return (use) =>
    withFile(path, (file) => use((address, length, room) => bytesAt(file, path, base + address, length, room)));
}

function withFile<T>(path: string, use: (file: number) => T): T {
  const file = openSync(path, "r");
  try {
    return use(file);
  } finally {
    closeSync(file);
  }
}

/** Start of the HDF5 data: 0, or after a user block of 512, 1024, ... bytes; null when it is nowhere. */
function dataStart(file: number): number | null {
  const head = Buffer.alloc(SIGNATURE.length);
  for (
    let start = 0;
    readSync(file, head, 0, head.length, start) === head.length;
    start = start === 0 ? 512 : 2 * start
  )
    if (head.equals(SIGNATURE)) return start;
  return null;
}

/** Where the HDF5 data of a file begin, behind its user block. @throws DataError when it is no HDF5 file */
export function startOf(path: string): number {
  return withFile(path, (file) => checkedStart(file, path));
}

/** Whether a file can be read and is an HDF5 file, perhaps after a user block. */
export function isHdf5(path: string): boolean {
  try {
    return withFile(path, dataStart) !== null;
  } catch {
    return false;
  }
}

/** Says why the library did not open a file. */
export function whyNotHdf5(path: string): string {
  try {
    if (statSync(path).size === 0) return "it is empty";
    return isHdf5(path) ? "it is damaged or cut short" : "it does not begin like one";
  } catch (error) {
    return reasonOf(error);
  }
}

/** @throws DataError when the file is no HDF5 file, or has addresses of another size than 8 bytes */
function checkedStart(file: number, path: string): number {
  const start = dataStart(file);
  if (start === null) throw new DataError(`${path} is not an HDF5 file.`);
  const head = bytesAt(file, path, start, 16);
  const at = head.getUint8(8) < 2 ? 13 : 9;
  const [addresses, lengths] = [head.getUint8(at), head.getUint8(at + 1)];
  if (addresses !== 8 || lengths !== 8) throw new DataError(`${path} has addresses of ${addresses} bytes, not 8.`);
  return start;
}

/** @throws DataError when the file is shorter, as it is where a place or length has been damaged */
function bytesAt(file: number, path: string, start: number, length: number, room?: Buffer): DataView {
  if (!(start >= 0 && length >= 0 && start + length <= fstatSync(file).size))
    throw new DataError(`${path} ends inside its description of a dataset.`);
  const bytes = room ?? Buffer.allocUnsafeSlow(length);
  if (readSync(file, bytes, 0, length, start) < length)
    throw new DataError(`${path} ends inside its description of a dataset.`);
  return new DataView(bytes.buffer, bytes.byteOffset, length);
}

/** Bytes that begin with four letters. @throws DataError when they begin otherwise */
export function signedBytes(read: ReadBytes, signature: string, address: number, length: number): DataView {
  const bytes = read(address, length);
  for (let i = 0; i < signature.length; i++)
    if (bytes.getUint8(i) !== signature.charCodeAt(i)) throw new DataError(`There is no ${signature} at ${address}.`);
  return bytes;
}

/** A number of up to 8 bytes, to the precision of a float64. */
export function unsigned(view: DataView, at: number, bytes = 8): number {
  if (bytes === 8) return view.getUint32(at, true) + 2 ** 32 * view.getUint32(at + 4, true);
  let value = 0;
  for (let i = bytes - 1; i >= 0; i--) value = 256 * value + view.getUint8(at + i);
  return value;
}

/** Null where nothing has been stored. */
export function addressAt(view: DataView, at: number): number | null {
  const address = unsigned(view, at);
  return address === UNDEFINED ? null : address;
}
