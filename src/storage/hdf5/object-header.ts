/**
 * Reads object headers of HDF5 files as bytes: the library shows neither external raw storage nor addresses of values.
 */
import { DataError } from "../../errors.js";
import { type FilePlace, hdf5Bytes, pathOf, type ReadBytes, unsigned } from "./bytes.js";

/** A message of an object header: its type and the place of its body, from the start of the HDF5 data. */
export interface HeaderMessage {
  readonly type: number;
  readonly flags: number;
  readonly start: number;
  readonly bytes: number;
}

/** Types of messages, section IV.A.2. */
export const MESSAGE = {
  space: 0x01,
  linkInfo: 0x02,
  type: 0x03,
  link: 0x06,
  externalFiles: 0x07,
  layout: 0x08,
  filters: 0x0b,
  attribute: 0x0c,
  continuation: 0x10,
  symbolTable: 0x11,
  attributeInfo: 0x15,
} as const;
/** Flag of a message that is kept elsewhere, shared by several objects; its body says where. */
export const SHARED = 0x02;
/** Classes of layouts: values in one range of bytes, or in chunks. */
export const CONTIGUOUS = 1;
export const CHUNKED = 2;
/** Kind of a shared message: the header of a named type. */
const NAMED = 2;
/** A dataset refers to the header of its named type, and that to none. */
const MAX_SHARED = 2;
/** A header split further than this is not one that any writer makes. */
const MAX_BLOCKS = 64;

/**
 * The messages of an object header, version 1 or 2, continuation blocks included.
 * Source: HDF5 file format specification 3.0, section IV.A.1. Addresses and lengths are of 8 bytes, as every current
 * writer makes them; a file with others is refused.
 *
 * @param address address of the header from the start of the HDF5 data
 */
export function headerMessages(place: FilePlace, address: number): HeaderMessage[] {
  return hdf5Bytes(place)((read) => walkHeader(read, pathOf(place), address));
}

/**
 * The datatype message of a dataset, also where it is that of a named type.
 *
 * @returns null where the file keeps it in a table of shared messages
 */
export function typeMessage(place: FilePlace, address: number): DataView | null {
  return hdf5Bytes(place)((read) => {
    let at = address;
    for (let hops = 0; hops < MAX_SHARED; hops++) {
      const found = walkHeader(read, pathOf(place), at).find(({ type }) => type === MESSAGE.type);
      if (found === undefined) break;
      const body = read(found.start, found.bytes);
      if ((found.flags & SHARED) === 0) return body;
      const [version, kind] = [body.getUint8(0), body.getUint8(1)];
      if (version === 3 && kind !== NAMED) return null;
      at = unsigned(body, version === 1 ? 8 : 2);
    }
    throw new DataError(`${pathOf(place)} has no datatype at ${address}.`);
  });
}

/** Whether the dataset with this object header keeps its values in files outside the HDF5 file. */
export function hasExternalStorage(place: FilePlace, address: number): boolean {
  return headerMessages(place, address).some(({ type }) => type === MESSAGE.externalFiles);
}

/** The messages of an object header that is read through `read`. @param path of the file, for messages */
export function walkHeader(read: ReadBytes, path: string, start: number): HeaderMessage[] {
  const prefix = read(start, 16);
  const second = prefix.getUint32(0) === 0x4f484452; // "OHDR"
  const flags = prefix.getUint8(5);
  const ordered = second && (flags & 0x04) !== 0;
  const blocks: { start: number; bytes: number }[] = [];
  if (second) {
    const sizeAt = 6 + (flags & 0x20 ? 16 : 0) + (flags & 0x10 ? 4 : 0);
    const width = 1 << (flags & 0x03);
    blocks.push({ start: start + sizeAt + width, bytes: unsigned(read(start + sizeAt, width), 0, width) });
  } else {
    if (prefix.getUint8(0) !== 1) throw new DataError(`${path} has no object header at ${start}.`);
    blocks.push({ start: start + 16, bytes: prefix.getUint32(8, true) });
  }
  const messages: HeaderMessage[] = [];
  for (let at = 0; at < blocks.length; at++) {
    if (at > MAX_BLOCKS) throw new DataError(`${path} has an object header of too many blocks.`);
    const block = blocks[at] as { start: number; bytes: number };
    for (const message of blockMessages(read(block.start, block.bytes), block.start, second, ordered)) {
      messages.push(message);
      if (message.type !== MESSAGE.continuation) continue;
      const body = read(message.start, 16);
      const [next, bytes] = [unsigned(body, 0), unsigned(body, 8)];
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
    const flags = block.getUint8(at + (second ? 3 : 4));
    messages.push({ type, flags, start: start + at + head, bytes });
    at += head + bytes;
  }
  return messages;
}
