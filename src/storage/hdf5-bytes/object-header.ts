/**
 * Reads object headers of HDF5 files as bytes: the library shows neither external raw storage nor addresses of values.
 */
import { DataError } from "../../errors.js";
import {
  addressAt,
  checkedBytes,
  type FilePlace,
  hdf5Bytes,
  type OpenBytes,
  pathOf,
  type ReadBytes,
  unsigned,
} from "./bytes.js";
import { CHECKSUM, checkSum } from "./checksum.js";

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
/** The letters OHDR and OCHK, with which the blocks of a header of version 2 begin. */
const HEADER_SIGN = 0x4f484452;
const CONTINUATION_SIGN = 0x4f43484b;
const SIGN_BYTES = 4;
/** Bytes of the header of a B-tree of version 2 before its checksum, and the place of its number of records. */
const TREE_HEAD = 34;
const TREE_TOTAL_AT = 26;
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

/** The numbers of members that an object has by its header. */
interface StatedCounts {
  readonly attributes: number;
  /** Null for a group that has its links in a symbol table. */
  readonly links: number | null;
}

/**
 * The numbers of attributes and links that an object must have: the library lists fewer, without an error, where what
 * keeps many of them is damaged.
 *
 * @param path of the file, for messages
 * @throws DataError when the header is damaged, or what keeps many attributes or links
 */
export function statedCounts(bytes: OpenBytes, path: string, address: number): StatedCounts {
  return bytes((read) => {
    const messages = walkHeader(read, path, address);
    const countOf = (wanted: number) => messages.filter(({ type }) => type === wanted).length;
    const stated = (info: number, one: number, orderBytes: number): number | null => {
      const message = messages.find(({ type }) => type === info);
      if (message === undefined) return null;
      const body = read(message.start, message.bytes);
      const heapAt = 2 + ((body.getUint8(1) & 1) === 0 ? 0 : orderBytes);
      if (addressAt(body, heapAt) === null) return countOf(one);
      return unsigned(checkedBytes(read, "BTHD", unsigned(body, heapAt + 8), TREE_HEAD), TREE_TOTAL_AT);
    };
    const attributes = stated(MESSAGE.attributeInfo, MESSAGE.attribute, 2) ?? countOf(MESSAGE.attribute);
    return { attributes, links: stated(MESSAGE.linkInfo, MESSAGE.link, 8) };
  });
}

/**
 * The messages of an object header that is read through `read`; the checksums of its blocks are compared.
 *
 * @param path of the file, for messages
 */
export function walkHeader(read: ReadBytes, path: string, start: number): HeaderMessage[] {
  const prefix = read(start, 16);
  const second = prefix.getUint32(0) === HEADER_SIGN;
  const flags = prefix.getUint8(5);
  const ordered = second && (flags & 0x04) !== 0;
  const blocks: HeaderBlock[] = [];
  if (second) {
    const sizeAt = 6 + (flags & 0x20 ? 16 : 0) + (flags & 0x10 ? 4 : 0);
    const width = 1 << (flags & 0x03);
    const bytes = unsigned(read(start + sizeAt, width), 0, width);
    blocks.push({ start, before: sizeAt + width, bytes });
  } else {
    if (prefix.getUint8(0) !== 1) throw new DataError(`${path} has no object header at ${start}.`);
    blocks.push({ start: start + 16, before: 0, bytes: prefix.getUint32(8, true) });
  }
  const messages: HeaderMessage[] = [];
  for (let at = 0; at < blocks.length; at++) {
    if (at > MAX_BLOCKS) throw new DataError(`${path} has an object header of too many blocks.`);
    const block = blocks[at] as HeaderBlock;
    for (const message of blockMessages(blockBytes(read, block, second), block.start + block.before, second, ordered)) {
      messages.push(message);
      if (message.type !== MESSAGE.continuation) continue;
      const body = read(message.start, 16);
      const [next, bytes] = [unsigned(body, 0), unsigned(body, 8)];
      // A continuation of version 2 begins with a signature and ends with a checksum.
      const before = second ? SIGN_BYTES : 0;
      blocks.push({ start: next, before, bytes: second ? bytes - before - CHECKSUM : bytes });
    }
  }
  if (!second && messages.length !== prefix.getUint16(2, true))
    throw new DataError(`${path} has an object header of ${messages.length} messages at ${start}, which it denies.`);
  return messages;
}

/** A part of an object header. */
interface HeaderBlock {
  readonly start: number;
  /** Bytes before its messages, and of them. */
  readonly before: number;
  readonly bytes: number;
}

/** The bytes of the messages of a block. @throws DataError when it is damaged */
function blockBytes(read: ReadBytes, { start, before, bytes }: HeaderBlock, second: boolean): DataView {
  if (!second) return read(start, bytes);
  const block = read(start, before + bytes + CHECKSUM);
  const sign = block.getUint32(0);
  if (sign !== HEADER_SIGN && sign !== CONTINUATION_SIGN) throw new DataError(`There is no OCHK at ${start}.`);
  checkSum(block);
  return new DataView(block.buffer, block.byteOffset + before, bytes);
}

function blockMessages(block: DataView, start: number, second: boolean, ordered: boolean): HeaderMessage[] {
  const head = second ? (ordered ? 6 : 4) : 8;
  const messages: HeaderMessage[] = [];
  for (let at = 0; at + head <= block.byteLength; ) {
    const type = second ? block.getUint8(at) : block.getUint16(at, true);
    const bytes = block.getUint16(at + (second ? 1 : 2), true);
    const flags = block.getUint8(at + (second ? 3 : 4));
    if (at + head + bytes > block.byteLength)
      throw new DataError(`A message at ${start + at} reaches beyond its block.`);
    messages.push({ type, flags, start: start + at + head, bytes });
    at += head + bytes;
  }
  return messages;
}
