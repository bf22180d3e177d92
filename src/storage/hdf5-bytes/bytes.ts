/** Reads HDF5 files as bytes, in folders or elsewhere, for the facts that the library does not show. */
import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import { DataError } from "../../errors.js";
import { reasonOf } from "../../system-error.js";
import { CHECKSUM, checkSum } from "./checksum.js";

const UNDEFINED = 2 ** 64;
const VERSION_AT = 4;
const OWNER_AT = 6;
/** Bytes of the shortest superblock, and the places in those of each version where the end of the data stands. */
const SUPERBLOCK_BYTES = 48;
const END_AT = [40, 44, 28, 28];
/** The first bytes of an HDF5 file. */
export const SIGNATURE = Buffer.from("\x89HDF\r\n\x1a\n", "latin1");

/** A stretch of bytes of a file. */
export interface ByteRange {
  /** Of the first byte, from the start of the file. */
  readonly position: number;
  readonly length: number;
}

/** A file that lies elsewhere and is read by ranges. */
export interface RangedFile {
  readonly path: string;
  readonly size: number;
  /** Time of its version, by the clock of its host. */
  readonly newestMs: number;
  /** Digest of its version. */
  readonly version: string;
  /** Fills `bytes` from a position on. @returns how many bytes there are @throws DataError, BusyError */
  read(bytes: Uint8Array, position: number): number;
  /** Runs `use`, for which all of these ranges are fetched together. */
  with<T>(ranges: readonly ByteRange[], use: () => T): T;
  /**
   * Starts to fetch ranges, and waits for a moment where none is there.
   *
   * @param find each finds some ranges, reading the file itself for that
   * @returns for each of them, whether its ranges are there or are known to fail
   */
  fetched(find: readonly (() => readonly ByteRange[])[]): readonly boolean[];
}

/** An HDF5 file by its path, or one that lies elsewhere. */
export type FilePlace = string | RangedFile;

/** The path or address of a file, for messages. */
export function pathOf(place: FilePlace): string {
  return typeof place === "string" ? place : place.path;
}

/** A file while it is open. */
interface OpenedFile {
  readonly path: string;
  readonly size: number;
  read(bytes: Uint8Array, position: number): number;
}

/**
 * Reads bytes at an address, which counts from the start of the HDF5 data; into the start of `room`, or new memory.
 *
 * @throws DataError beyond the end of the file
 */
export type ReadBytes = (address: number, length: number, room?: Buffer) => DataView;

/** Opens a file for as long as `use` takes. */
export type OpenBytes = <T>(use: (read: ReadBytes) => T) => T;

/** Gives access to the bytes of an HDF5 file. @throws DataError when it is none */
export function hdf5Bytes(place: FilePlace): OpenBytes {
  const { start, end } = withFile(place, checkedExtent);
  return (use) =>
    withFile(place, (file) => {
      try {
        return use((address, length, room) => bytesAt(file, start + address, length, end, room));
      } catch (error) {
        // A length that a damaged file states leads beyond what is read, or beyond what there can be.
        if (error instanceof RangeError) throw new DataError(`${file.path} is damaged: ${error.message}.`, error);
        throw error;
      }
    });
}

function withFile<T>(place: FilePlace, use: (file: OpenedFile) => T): T {
  if (typeof place !== "string") return use(place);
  const descriptor = openSync(place, "r");
  try {
    return use({
      path: place,
      get size() {
        return fstatSync(descriptor).size;
      },
      read: (bytes, position) => readSync(descriptor, bytes, 0, bytes.length, position),
    });
  } finally {
    closeSync(descriptor);
  }
}

/** Start of the HDF5 data: 0, or after a user block of 512, 1024, ... bytes; null when it is nowhere. */
function dataStart(file: OpenedFile): number | null {
  const head = Buffer.alloc(SIGNATURE.length);
  for (let start = 0; file.read(head, start) === head.length; start = start === 0 ? 512 : 2 * start)
    if (head.equals(SIGNATURE)) return start;
  return null;
}

/** The offset of the HDF5 data of a file, behind its user block. @throws DataError when it is no HDF5 file */
export function startOf(place: FilePlace): number {
  return withFile(place, checkedExtent).start;
}

/** Whether a file can be read and is an HDF5 file, perhaps after a user block. */
export function isHdf5(place: FilePlace): boolean {
  try {
    return withFile(place, dataStart) !== null;
  } catch {
    return false;
  }
}

/** Says why the library did not open a file. */
export function whyNotHdf5(place: FilePlace): string {
  try {
    if ((typeof place === "string" ? statSync(place) : place).size === 0) return "it is empty";
    return isHdf5(place) ? "it is damaged or cut short" : "it does not begin like one";
  } catch (error) {
    return reasonOf(error);
  }
}

/**
 * The offset of the HDF5 data of a file, and its end as the data state it: the library reads nothing behind that.
 *
 * @throws DataError when the file is no HDF5 file, or has addresses of another size than 8 bytes
 */
function checkedExtent(file: OpenedFile): { readonly start: number; readonly end: number } {
  const start = dataStart(file);
  if (start === null) throw new DataError(`${file.path} is not an HDF5 file.`);
  const head = bytesAt(file, start, SUPERBLOCK_BYTES);
  const version = head.getUint8(8);
  const at = version < 2 ? 13 : 9;
  const [addresses, lengths] = [head.getUint8(at), head.getUint8(at + 1)];
  if (addresses !== 8 || lengths !== 8) throw new DataError(`${file.path} has addresses of ${addresses} bytes, not 8.`);
  return { start, end: unsigned(head, END_AT[version] ?? END_AT[END_AT.length - 1]) };
}

/** @throws DataError when the file is shorter, as it is where a place or length has been damaged */
function bytesAt(
  file: OpenedFile,
  start: number,
  length: number,
  end = Number.POSITIVE_INFINITY,
  room?: Buffer,
): DataView {
  const ends = () => new DataError(`${file.path} ends inside its description of a dataset.`);
  if (!(start >= 0 && length >= 0 && start + length <= Math.min(end, file.size))) throw ends();
  const bytes = (room ?? Buffer.allocUnsafeSlow(length)).subarray(0, length);
  if (file.read(bytes, start) < length) throw ends();
  return new DataView(bytes.buffer, bytes.byteOffset, length);
}

/**
 * A structure that begins with four letters and ends with its checksum, without that.
 *
 * @param owner address of the structure that it belongs to, which stands behind its first OWNER_AT bytes
 * @throws DataError when it begins otherwise, belongs to another one, or its checksum does not match
 */
export function checkedBytes(
  read: ReadBytes,
  signature: string,
  address: number,
  length: number,
  owner: number | null = null,
): DataView {
  const bytes = signedBytes(read, signature, address, length + CHECKSUM);
  checkSum(bytes);
  if (bytes.getUint8(VERSION_AT) !== 0) throw new DataError(`The ${signature} at ${address} is of a later version.`);
  if (owner !== null && unsigned(bytes, OWNER_AT) !== owner)
    throw new DataError(`The ${signature} at ${address} is not one of that at ${owner}.`);
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
