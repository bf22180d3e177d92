/** Computes and compares the checksum of the structures of HDF5 files. */
import { DataError } from "../../shared/errors.js";

export const CHECKSUM = 4;
const STEP = 12;
const START = 0xdeadbeef;

const rotated = (word: number, bits: number): number => (word << bits) | (word >>> (32 - bits));

/** Source: B. Jenkins, lookup3.c (2006), hashlittle from 0; HDF5 file format specification 4.0, section III.A.2. */
function lookup3(bytes: DataView, length: number): number {
  let a = (START + length) | 0;
  let b = a;
  let c = a;
  if (length === 0) return c >>> 0;
  let at = 0;
  for (; length - at > STEP; at += STEP) {
    a = (a + bytes.getInt32(at, true)) | 0;
    b = (b + bytes.getInt32(at + 4, true)) | 0;
    c = (c + bytes.getInt32(at + 8, true)) | 0;
    a = ((a - c) ^ rotated(c, 4)) | 0;
    c = (c + b) | 0;
    b = ((b - a) ^ rotated(a, 6)) | 0;
    a = (a + c) | 0;
    c = ((c - b) ^ rotated(b, 8)) | 0;
    b = (b + a) | 0;
    a = ((a - c) ^ rotated(c, 16)) | 0;
    c = (c + b) | 0;
    b = ((b - a) ^ rotated(a, 19)) | 0;
    a = (a + c) | 0;
    c = ((c - b) ^ rotated(b, 4)) | 0;
    b = (b + a) | 0;
  }
  a = (a + restOf(bytes, at, length)) | 0;
  b = (b + restOf(bytes, at + 4, length)) | 0;
  c = (c + restOf(bytes, at + 8, length)) | 0;
  c = ((c ^ b) - rotated(b, 14)) | 0;
  a = ((a ^ c) - rotated(c, 11)) | 0;
  b = ((b ^ a) - rotated(a, 25)) | 0;
  c = ((c ^ b) - rotated(b, 16)) | 0;
  a = ((a ^ c) - rotated(c, 4)) | 0;
  b = ((b ^ a) - rotated(a, 14)) | 0;
  c = ((c ^ b) - rotated(b, 24)) | 0;
  return c >>> 0;
}

function restOf(bytes: DataView, at: number, length: number): number {
  let word = 0;
  for (let i = Math.min(4, length - at) - 1; i >= 0; i--) word = (word << 8) | bytes.getUint8(at + i);
  return word;
}

export function checksumOf({ buffer, byteOffset, length }: Uint8Array): number {
  return lookup3(new DataView(buffer, byteOffset, length), length);
}

/** Compares the checksum at the end of a structure with its bytes. Throws DataError when they differ. */
export function checkSum(bytes: DataView): void {
  const length = bytes.byteLength - CHECKSUM;
  if (length < 0 || bytes.getUint32(length, true) !== lookup3(bytes, length))
    throw new DataError("a checksum does not match");
}

/** Compares the checksum inside a structure, at `at`, with its bytes, where it counts as zeros. Throws DataError. */
export function checkInnerSum(bytes: DataView, at: number): void {
  const copy = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength).slice();
  copy.fill(0, at, at + CHECKSUM);
  if (bytes.getUint32(at, true) !== lookup3(new DataView(copy.buffer), copy.length))
    throw new DataError("a checksum does not match");
}
