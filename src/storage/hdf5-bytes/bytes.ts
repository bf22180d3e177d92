/** Opens HDF5 files as bytes, locally or at an address, and reads the numbers and signed structures in them. */
import { closeSync, constants, fstatSync, openSync, readSync, statSync } from "node:fs";
import { BusyError, DataError, orElse } from "../../shared/errors.js";
import { isOutOfFiles, reasonOf } from "../../shared/system.js";
import type { FileStamp } from "../dataset/dataset.js";
import { CHECKSUM, checkSum } from "./checksum.js";

const UNDEFINED = 2 ** 64;
const VERSION_AT = 4;
const OWNER_AT = 6;
export const SIGNATURE = Buffer.from("\x89HDF\r\n\x1a\n", "latin1");

export interface ByteRange {
  /** Position of the first byte, from the start of the file. */
  readonly position: number;
  readonly length: number;
}

export interface RangedFile {
  readonly path: string;
  readonly size: number;
  /** Time of its version, by the clock of its host. */
  readonly newestMs: number;
  readonly version: string;
  /** Fills `bytes` from a position on. Returns how many bytes there are. Throws DataError, BusyError. */
  read(bytes: Uint8Array, position: number): number;
  /** Runs `use` with all of these ranges fetched together. */
  withRanges<T>(ranges: readonly ByteRange[], use: () => T): T;
  /**
   * Starts to fetch ranges, and waits for a moment if none is there.
   * @param find each finds some ranges, reading the file itself
   * @returns for each, whether its ranges are there or known to fail
   */
  prefetch(find: readonly (() => readonly ByteRange[])[]): readonly boolean[];
}

export type FilePlace = string | RangedFile;

export function pathOf(place: FilePlace): string {
  return typeof place === "string" ? place : place.path;
}

export interface OpenPlace {
  readonly path: string;
  readonly size: number;
  /** The stamp of the file when it was opened; null for a remote one. */
  readonly stamp: FileStamp | null;
  /** Fills `bytes` from a position on. Returns how many bytes there are. */
  read(bytes: Uint8Array, position: number): number;
  close(): void;
}

/** Opens a file. Throws DataError when it is not a file, BusyError if too many are open, or the error of the system. */
export function openPlace(place: FilePlace): OpenPlace {
  if (typeof place !== "string") {
    const { path, size } = place;
    return { path, size, stamp: null, read: (bytes, position) => place.read(bytes, position), close: () => undefined };
  }
  // Without O_NONBLOCK, opening a pipe may wait for ever.
  const descriptor = opened(place, constants.O_RDONLY | constants.O_NONBLOCK);
  const status = fstatSync(descriptor);
  const { size, mtimeMs, ino, ctimeMs } = status;
  const close = () => closeSync(descriptor);
  if (!status.isFile()) {
    close();
    throw new DataError(`${place} is not a file.`);
  }
  const stamp = { path: place, bytes: size, modifiedMs: mtimeMs, inode: ino, changedMs: ctimeMs };
  const read = (bytes: Uint8Array, position: number) => readSync(descriptor, bytes, 0, bytes.length, position);
  return { path: place, size, stamp, read, close };
}

function opened(path: string, flags: number): number {
  try {
    return openSync(path, flags);
  } catch (error) {
    throw isOutOfFiles(error) ? new BusyError(`${path} cannot be opened: too many files are open.`, 1, error) : error;
  }
}

function withPlace<T>(place: FilePlace, use: (file: OpenPlace) => T): T {
  const file = openPlace(place);
  try {
    return use(file);
  } finally {
    file.close();
  }
}

/**
 * Reads bytes at an address, from the start of the HDF5 data, into `room` or memory that must not be written to.
 * @throws DataError beyond the end of the file
 */
export type ReadBytes = (address: number, length: number, room?: Buffer) => DataView;

/** Start of the HDF5 data: 0, or after a user block of 512, 1024, ... bytes; null if there is none. */
export function dataStart(file: OpenPlace): number | null {
  const head = Buffer.alloc(SIGNATURE.length);
  for (let start = 0; file.read(head, start) === head.length; start = start === 0 ? 512 : 2 * start)
    if (head.equals(SIGNATURE)) return start;
  return null;
}

/** Whether a file is readable and is an HDF5 file, possibly after a user block. */
export const isHdf5 = (place: FilePlace): boolean => orElse(() => withPlace(place, dataStart) !== null, false);

/** Other data files, by their first bytes, and how to make them readable. */
const OTHER_FILES: readonly (readonly [beginning: string, words: string])[] = [
  ["PK\x03\x04", "it is a ZIP archive: a store of Zarr in it is read as a folder, once it is unpacked"],
  ["CDF", "it is a netCDF file of version 3: nccopy -k nc4 IN.nc OUT.nc makes it one"],
  ["PAR1", "it is a Parquet file: references are read as JSON (NAME.refs.json)"],
];

/** The reason why a file was not opened. `reason`: error of the reader, used if it is an HDF5 file. */
export function whyNotHdf5(place: FilePlace, { message }: Error): string {
  try {
    if ((typeof place === "string" ? statSync(place) : place).size === 0) return "it is empty";
    if (isHdf5(place)) return /^its? /.test(message) ? message : `it is damaged: ${message.replace(/\.$/, "")}`;
    const head = Buffer.alloc(4);
    withPlace(place, (file) => file.read(head, 0));
    const other = OTHER_FILES.find(([beginning]) => head.toString("latin1").startsWith(beginning));
    const later = /(\d|-r)\.\w+$/.test(pathOf(place)) ? ", nor do later members of a family: h5repart joins those" : "";
    return other?.[1] ?? `it does not begin like one${later}`;
  } catch (error) {
    return reasonOf(error);
  }
}

/**
 * Reads a structure with a four-letter signature and a checksum, which is removed.
 * @param owner address that follows its first OWNER_AT bytes: of the structure that it belongs to
 * @throws DataError for another signature or owner, or a wrong checksum
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

/** Reads bytes that begin with a four-letter signature. Throws DataError for another signature. */
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

export function bufferOf({ buffer, byteOffset, byteLength }: DataView): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** An address; null if nothing has been stored. */
export function addressAt(view: DataView, at: number): number | null {
  const address = unsigned(view, at);
  return address === UNDEFINED ? null : address;
}

/** Elements of `size` bytes in the other byte order, in place. */
export function swapped(values: Uint8Array, size: number): Uint8Array {
  const buffer = Buffer.from(values.buffer, values.byteOffset, values.length);
  if (size === 2) buffer.swap16();
  else if (size === 4) buffer.swap32();
  else if (size === 8) buffer.swap64();
  else if (size > 8) for (let at = 0; at < buffer.length; at += size) buffer.subarray(at, at + size).reverse();
  return buffer;
}
