/**
 * Object headers: lists of messages, in blocks.
 *
 * Source: HDF5 file format specification 4.0, sections IV.A.1 (headers) and IV.A.2 (messages).
 */
import { DataError } from "../../shared/errors.js";
import { type ReadBytes, unsigned } from "./bytes.js";
import { CHECKSUM, checkSum } from "./checksum.js";

/** A message of an object header: its type and the position of its body, from the start of the HDF5 data. */
export interface HeaderMessage {
  readonly type: number;
  readonly flags: number;
  readonly start: number;
  readonly bytes: number;
  /** The creation order counter of attributes; null if it is not kept. */
  readonly order: number | null;
}

export interface ObjectHeader {
  readonly messages: readonly HeaderMessage[];
  readonly isOrdered: boolean;
}

export const MESSAGE = {
  space: 0x01,
  linkInfo: 0x02,
  type: 0x03,
  oldFill: 0x04,
  fill: 0x05,
  link: 0x06,
  externalFiles: 0x07,
  layout: 0x08,
  filters: 0x0b,
  attribute: 0x0c,
  oldTime: 0x0e,
  sharedTable: 0x0f,
  continuation: 0x10,
  symbolTable: 0x11,
  time: 0x12,
  driver: 0x14,
  attributeInfo: 0x15,
  cacheImage: 0x18,
} as const;
/** The last type that the specification defines, and an earlier one that it omits. */
const [LAST_TYPE, NO_TYPE] = [0x18, 0x09];
/** Flag of a message that makes readers fail if they do not know its type. */
const MUST_BE_KNOWN = 0x80;
/** Flag of a message that is stored elsewhere and shared by several objects; its body says where. */
export const SHARED = 0x02;
/** The letters OHDR and OCHK, with which the blocks of a header of version 2 begin. */
const HEADER_SIGN = 0x4f484452;
const CONTINUATION_SIGN = 0x4f43484b;
const SIGN_BYTES = 4;
/** Most blocks of a header; no writer makes more. */
const MAX_BLOCKS = 4096;
/** Most bytes of all blocks of a header; no writer makes a tenth of this. */
const MAX_BYTES = 64 * 1024 * 1024;
/** Most messages of a header: version 1 cannot state more. */
const MAX_MESSAGES = 65_535;
/** Flags of a header of version 2: attributes have a creation order, and are indexed by it. */
const COUNTED = 0x04;
const ORDERED = 0x08;
/** Flag of a header of version 2 with times of change, and their bytes. */
const TIMED = 0x20;
const [TIMES_AT, TIMES_BYTES] = [6, 16];

/**
 * Reads a header of version 1 or 2 with its continuation blocks; compares their checksums.
 * @param start address of the header
 * @throws DataError when it is damaged
 */
export function readHeader(read: ReadBytes, start: number): ObjectHeader {
  const prefix = read(start, 16);
  const second = prefix.getUint32(0) === HEADER_SIGN;
  const flags = prefix.getUint8(5);
  const counted = second && (flags & COUNTED) !== 0;
  const blocks: HeaderBlock[] = [];
  if (second) {
    const sizeAt = TIMES_AT + (flags & TIMED ? TIMES_BYTES : 0) + (flags & 0x10 ? 4 : 0);
    const width = 1 << (flags & 0x03);
    const bytes = unsigned(read(start + sizeAt, width), 0, width);
    blocks.push({ start, before: sizeAt + width, bytes });
  } else {
    if (prefix.getUint8(0) !== 1) throw new DataError(`There is no object header at ${start}.`);
    blocks.push({ start: start + 16, before: 0, bytes: prefix.getUint32(8, true) });
  }
  const messages: HeaderMessage[] = [];
  let total = 0;
  for (let at = 0; at < blocks.length; at++) {
    const block = blocks[at] as HeaderBlock;
    total += block.bytes;
    if (at > MAX_BLOCKS || total > MAX_BYTES) throw new DataError(`The object header at ${start} is too long.`);
    for (const message of blockMessages(blockBytes(read, block, second), block.start + block.before, second, counted)) {
      if (messages.push(message) > MAX_MESSAGES)
        throw new DataError(`The object header at ${start} has more than ${MAX_MESSAGES} messages.`);
      if (message.type !== MESSAGE.continuation) continue;
      const body = read(message.start, 16);
      const [next, bytes] = [unsigned(body, 0), unsigned(body, 8)];
      // A continuation of version 2 begins with a signature and ends with a checksum.
      const before = second ? SIGN_BYTES : 0;
      blocks.push({ start: next, before, bytes: second ? bytes - before - CHECKSUM : bytes });
    }
  }
  if (!second && messages.length !== prefix.getUint16(2, true))
    throw new DataError(`The object header at ${start} has not as many messages as it states.`);
  return { messages, isOrdered: second && (flags & ORDERED) !== 0 };
}

interface HeaderBlock {
  readonly start: number;
  /** Bytes before the messages, and of the messages. */
  readonly before: number;
  readonly bytes: number;
}

function blockBytes(read: ReadBytes, { start, before, bytes }: HeaderBlock, second: boolean): DataView {
  if (!second) return read(start, bytes);
  const block = read(start, before + bytes + CHECKSUM);
  const sign = block.getUint32(0);
  if (sign !== HEADER_SIGN && sign !== CONTINUATION_SIGN) throw new DataError(`There is no OCHK at ${start}.`);
  checkSum(block);
  return new DataView(block.buffer, block.byteOffset + before, bytes);
}

function blockMessages(block: DataView, start: number, second: boolean, counted: boolean): HeaderMessage[] {
  const head = second ? (counted ? 6 : 4) : 8;
  const messages: HeaderMessage[] = [];
  for (let at = 0; at + head <= block.byteLength; ) {
    const type = second ? block.getUint8(at) : block.getUint16(at, true);
    const bytes = block.getUint16(at + (second ? 1 : 2), true);
    const flags = block.getUint8(at + (second ? 3 : 4));
    if (at + head + bytes > block.byteLength)
      throw new DataError(`A message at ${start + at} reaches beyond its block.`);
    if ((flags & MUST_BE_KNOWN) !== 0 && (type > LAST_TYPE || type === NO_TYPE))
      throw new DataError(`the message at ${start + at} is of type ${type}, which is not known and must be`);
    const order = counted ? block.getUint16(at + 4, true) : null;
    messages.push({ type, flags, start: start + at + head, bytes, order });
    at += head + bytes;
  }
  return messages;
}
