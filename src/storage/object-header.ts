/** Object headers of HDF5 files, read as bytes: the library shows neither external raw storage nor where values stand. */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { DataError } from "../errors.js";

/** A message of an object header: its type and where its body stands in the file. */
export interface HeaderMessage {
  readonly type: number;
  readonly start: number;
  readonly bytes: number;
}

const CONTINUATION = 0x10;
const EXTERNAL_FILES = 0x07;
/** A header split further than this is not one that any writer makes. */
const MAX_BLOCKS = 64;
const SIGNATURE = Buffer.from("\x89HDF\r\n\x1a\n", "latin1");

/**
 * The messages of an object header, version 1 or 2, continuation blocks included.
 * Source: HDF5 file format specification 3.0, section IV.A.1. Addresses and lengths are of 8 bytes, as every current
 * writer makes them; a file with others is refused.
 *
 * @param address address of the header from the start of the HDF5 data
 */
export function headerMessages(path: string, address: number): HeaderMessage[] {
  const file = openSync(path, "r");
  try {
    const base = dataStart(file, path);
    return walk(file, path, base + address, base);
  } finally {
    closeSync(file);
  }
}

/** Whether the dataset with this object header keeps its values in files outside the HDF5 file. */
export function hasExternalStorage(path: string, address: number): boolean {
  return headerMessages(path, address).some(({ type }) => type === EXTERNAL_FILES);
}

/** Bytes of a file. @throws DataError when it is shorter, as it is where a place or length has been damaged */
export function bytesAt(file: number, path: string, start: number, length: number): DataView {
  if (!(length >= 0 && start + length <= fstatSync(file).size))
    throw new DataError(`${path} ends inside its description of a dataset.`);
  const bytes = Buffer.alloc(length);
  if (readSync(file, bytes, 0, length, start) < length)
    throw new DataError(`${path} ends inside its description of a dataset.`);
  return new DataView(bytes.buffer, bytes.byteOffset, length);
}

/** Start of the HDF5 data: 0, or after a user block of 512, 1024, ... bytes. @throws DataError when it is nowhere */
export function dataStart(file: number, path: string): number {
  const head = Buffer.alloc(16);
  for (let start = 0; readSync(file, head, 0, 16, start) === 16; start = start === 0 ? 512 : 2 * start) {
    if (!head.subarray(0, 8).equals(SIGNATURE)) continue;
    const sizes = (head[8] as number) < 2 ? head.subarray(13, 15) : head.subarray(9, 11);
    if (sizes[0] !== 8 || sizes[1] !== 8) throw new DataError(`${path} has addresses of ${sizes[0]} bytes, not 8.`);
    return start;
  }
  throw new DataError(`${path} is not an HDF5 file.`);
}

function walk(file: number, path: string, start: number, base: number): HeaderMessage[] {
  const prefix = bytesAt(file, path, start, 16);
  const second = prefix.getUint32(0) === 0x4f484452; // "OHDR"
  const flags = prefix.getUint8(5);
  const ordered = second && (flags & 0x04) !== 0;
  const blocks: { start: number; bytes: number }[] = [];
  if (second) {
    const sizeAt = 6 + (flags & 0x20 ? 16 : 0) + (flags & 0x10 ? 4 : 0);
    const width = 1 << (flags & 0x03);
    const size = bytesAt(file, path, start + sizeAt, 8);
    const bytes = [
      size.getUint8(0),
      size.getUint16(0, true),
      size.getUint32(0, true),
      Number(size.getBigUint64(0, true)),
    ];
    blocks.push({ start: start + sizeAt + width, bytes: bytes[flags & 0x03] as number });
  } else {
    if (prefix.getUint8(0) !== 1) throw new DataError(`${path} has no object header at ${start}.`);
    blocks.push({ start: start + 16, bytes: prefix.getUint32(8, true) });
  }
  const messages: HeaderMessage[] = [];
  for (let at = 0; at < blocks.length; at++) {
    if (at > MAX_BLOCKS) throw new DataError(`${path} has an object header of too many blocks.`);
    const block = blocks[at] as { start: number; bytes: number };
    for (const message of blockMessages(bytesAt(file, path, block.start, block.bytes), block.start, second, ordered)) {
      messages.push(message);
      if (message.type !== CONTINUATION) continue;
      const body = bytesAt(file, path, message.start, 16);
      const next = base + Number(body.getBigUint64(0, true));
      const bytes = Number(body.getBigUint64(8, true));
      // A version 2 continuation is framed by the signature "OCHK" and a checksum.
      blocks.push(second ? { start: next + 4, bytes: bytes - 8 } : { start: next, bytes });
    }
  }
  return messages;
}

function blockMessages(block: DataView, start: number, second: boolean, ordered: boolean): HeaderMessage[] {
  const head = second ? (ordered ? 6 : 4) : 8;
  const messages: HeaderMessage[] = [];
  for (let at = 0; at + head <= block.byteLength; ) {
    const type = second ? block.getUint8(at) : block.getUint16(at, true);
    const bytes = block.getUint16(at + (second ? 1 : 2), true);
    messages.push({ type, start: start + at + head, bytes });
    at += head + bytes;
  }
  return messages;
}
