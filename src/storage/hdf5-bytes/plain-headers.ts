/**
 * `PlainHeaders` reads the headers of groups and datasets from the bytes of a file, without the library. A file whose
 * headers equal those of one that the library has opened need not be opened itself. It reads the *plain* kind of file
 * that most writers make, and leaves all others to the library (`OtherKind`).
 *
 * Source: HDF5 file format specification 3.0, sections II.A (superblock), III.A.1, III.B to III.D (groups) and IV.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { DataError } from "../../errors.js";
import type { FileStamp } from "../file/dataset.js";
import { isPackingName } from "../file/packing.js";
import { addressAt, type ReadBytes, SIGNATURE, unsigned } from "./bytes.js";
import { checkSum } from "./checksum.js";
import { OtherKind } from "./header-messages.js";
import { CHUNKED, CONTIGUOUS, type HeaderMessage, MESSAGE, SHARED, walkHeader } from "./object-header.js";

/** Bytes at the start of a file that are read at once, and of a block at another place. */
const HEAD_BYTES = 8_192;
const BLOCK_BYTES = 8_192;
/**
 * Bytes of the memory that a file is read into, head and some blocks: it is used for one file after the other, because
 * new pages cost more than what is read into them.
 */
export const ROOM_BYTES = HEAD_BYTES + 4 * BLOCK_BYTES;
/** Most levels of a tree of names. */
const MAX_LEVELS = 16;
/** Bytes of a name, at most. */
const MAX_NAME = 256;

/** Messages that say nothing of values: free space, comment, times of changes, continuation, number of links. */
const IGNORED: ReadonlySet<number> = new Set([0x00, 0x0d, 0x0e, 0x10, 0x12, 0x16]);
/** Cache type of a symbol table entry that is a soft link. */
const SOFT_LINK = 2;
/** Sizes of addresses and of lengths, in one word: 8 bytes each. */
const SIZES_OF_8 = 0x0808;
/** Bytes of a superblock of version 2 or 3, with its checksum. */
const LATER_SUPERBLOCK = 48;
/** Address of values for which there is no room in the file yet. */
const UNDEFINED_ADDRESS = 0xffff_ffff_ffff_ffffn;

/** An object of a file: its messages, and what they refer to. */
export interface PlainObject {
  /** Address of its header. */
  readonly address: number;
  readonly messages: readonly HeaderMessage[];
  readonly read: ReadBytes;
  body(message: HeaderMessage): DataView;
  /**
   * The members of a group: addresses of their object headers by name; null for a link that is left to the library.
   * @throws OtherKind where they are kept in another way
   */
  members(): ReadonlyMap<string, number | null>;
}

/** A file that is open for its headers. */
export class PlainHeaders {
  /** The file as it was opened. */
  readonly record: FileStamp;
  readonly #descriptor: number;
  readonly #head: Buffer;
  /** What is left of the room. */
  #left: Buffer;
  /** Blocks that were read behind the head, by their start. */
  readonly #blocks = new Map<number, Buffer>();
  /** Length of the file as its superblock states it. */
  #end: number;
  /** Address of the root group. */
  readonly root: number;
  /** Addresses of object headers by path. */
  readonly #found = new Map<string, number>();

  /**
   * @param path absolute, symbolic links resolved
   * @param room of ROOM_BYTES, used until the file is closed
   * @returns null where the file is none of the plain kind, or cannot be read
   */
  static open(path: string, room: Buffer): PlainHeaders | null {
    try {
      return new PlainHeaders(path, room);
    } catch (error) {
      if (isRefusal(error)) return null;
      throw error;
    }
  }

  private constructor(path: string, room: Buffer) {
    // Without O_NONBLOCK to open a pipe may wait for ever.
    this.#descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const status = fstatSync(this.#descriptor);
      if (!status.isFile()) throw new OtherKind();
      const { size, mtimeMs, ino, ctimeMs } = status;
      this.record = { path, bytes: size, modifiedMs: mtimeMs, inode: ino, changedMs: ctimeMs };
      this.#head = room.subarray(0, readSync(this.#descriptor, room, 0, HEAD_BYTES, 0));
      this.#left = room.subarray(HEAD_BYTES);
      this.#end = size;
      const [end, root] = this.#superblock();
      this.#end = end;
      this.root = root;
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /**
   * Writes as text all that the header of a dataset says of how its values are read: two datasets with the same text
   * are read alike.
   *
   * @returns null where that cannot be told from plain headers, or there is no such dataset
   */
  textOf(path: string): string | null {
    try {
      const names = path.split("/").filter((name) => name !== "");
      const texts = this.#messages(this.#find(names)).map((message) => this.#text(message));
      return texts.join("");
    } catch (error) {
      if (isRefusal(error)) return null;
      throw error;
    }
  }

  /** The object with a header at an address. */
  object(address: number): PlainObject {
    const messages = this.#messages(address);
    let members: ReadonlyMap<string, number | null> | null = null;
    return {
      address,
      messages,
      read: this.#read,
      body: ({ start, bytes }) => this.#read(start, bytes),
      members: () => {
        members ??= this.#members(messages);
        return members;
      },
    };
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  /** The members of a group, in the order of their names: those of a symbol table or of link messages. */
  #members(group: readonly HeaderMessage[]): ReadonlyMap<string, number | null> {
    const found = new Map<string, number | null>();
    const message = group.find(({ type }) => type === MESSAGE.symbolTable);
    if (message === undefined) return this.#links(group);
    const table = this.#read(message.start, 16);
    const segment = unsigned(this.#signed(unsigned(table, 8), "HEAP", 32), 24);
    const walk = (address: number, depth: number): void => {
      const start = this.#signed(address, "TREE", 24);
      const [type, level, entries] = [start.getUint8(4), start.getUint8(5), start.getUint16(6, true)];
      if (type !== 0 || depth > MAX_LEVELS) throw new OtherKind();
      const keys = this.#read(address + 24, 16 * entries + 8);
      for (let at = 0; at < entries; at++) {
        const child = unsigned(keys, 16 * at + 8);
        if (level > 0) walk(child, depth + 1);
        else this.#symbols(child, segment, found);
      }
    };
    walk(unsigned(table, 0), 0);
    return found;
  }

  /** The members of a group that has them in its header and does not keep the order in which they were made. */
  #links(group: readonly HeaderMessage[]): ReadonlyMap<string, number | null> {
    const about = group.find(({ type }) => type === MESSAGE.linkInfo);
    if (about === undefined) throw new OtherKind();
    const info = this.#read(about.start, about.bytes);
    const isOrdered = (info.getUint8(1) & 1) !== 0;
    if (isOrdered || addressAt(info, 2) !== null) throw new OtherKind();
    const found: [string, number | null][] = group
      .filter(({ type }) => type === MESSAGE.link)
      .map(({ start, bytes }) => {
        const { name, target } = linkOf(this.#read(start, bytes));
        if (!isPlainName(name)) throw new OtherKind();
        return [name.toString("latin1"), target];
      });
    return new Map(found.sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** Collects the names of a leaf, whose bytes lie in the data segment of a heap. */
  #symbols(address: number, segment: number, found: Map<string, number | null>): void {
    const count = this.#signed(address, "SNOD", 8).getUint16(6, true);
    const entries = this.#read(address + 8, 40 * count);
    for (let at = 0; at < entries.byteLength; at += 40) {
      const isSoft = entries.getUint32(at + 16, true) === SOFT_LINK;
      found.set(this.#nameAt(segment + unsigned(entries, at)), isSoft ? null : unsigned(entries, at + 8));
    }
  }

  /** A name in a heap; one of other letters than ASCII is left to the library. */
  #nameAt(address: number): string {
    const bytes = bufferOf(this.#read(address, Math.min(MAX_NAME, this.#end - address)));
    const end = bytes.indexOf(0);
    const name = bytes.subarray(0, end);
    if (end < 0 || !isPlainName(name)) throw new OtherKind();
    return name.toString("latin1");
  }

  readonly #read: ReadBytes = (address, length) => {
    const { bytes } = this.record;
    if (!(address >= 0 && length >= 0 && address + length <= this.#end)) throw new OtherKind();
    const head = this.#head;
    if (address + length <= head.length) return new DataView(head.buffer, head.byteOffset + address, length);
    const start = address - (address % BLOCK_BYTES);
    let block = this.#blocks.get(start);
    if (block === undefined || address + length > start + block.length) {
      block = this.#take(Math.min(bytes - start, Math.max(address + length - start, BLOCK_BYTES)));
      if (readSync(this.#descriptor, block, 0, block.length, start) < block.length) throw new OtherKind();
      this.#blocks.set(start, block);
    }
    return new DataView(block.buffer, block.byteOffset + address - start, length);
  };

  /** Takes memory for a block: from the room while it lasts, else anew. */
  #take(bytes: number): Buffer {
    if (bytes > this.#left.length) return Buffer.allocUnsafeSlow(bytes);
    const taken = this.#left.subarray(0, bytes);
    this.#left = this.#left.subarray(bytes);
    return taken;
  }

  /** Reads the superblock: the length that the file must have, and the address of the root group. */
  #superblock(): [number, number] {
    const block = this.#read(0, 96);
    const isSigned = SIGNATURE.every((byte, at) => block.getUint8(at) === byte);
    const version = block.getUint8(8);
    if (!isSigned || version === 1 || version > 3) throw new OtherKind();
    // Offsets of the words that are read: sizes of addresses and lengths, base address, driver, end of file, root.
    const [sizes, base, driver, end, root] = version === 0 ? [13, 24, 48, 40, 64] : [9, 12, 20, 28, 36];
    // Later versions mark files that are being written.
    const isPlain =
      block.getUint16(sizes, true) === SIZES_OF_8 &&
      unsigned(block, base) === 0 &&
      addressAt(block, driver) === null &&
      (version === 0 || block.getUint8(11) === 0);
    if (version >= 2) checkSum(this.#read(0, LATER_SUPERBLOCK));
    const bytes = unsigned(block, end);
    // The library opens no file that has lost its end.
    if (!isPlain || bytes > this.record.bytes) throw new OtherKind();
    return [bytes, unsigned(block, root)];
  }

  /** Messages of an object header. */
  #messages(address: number): HeaderMessage[] {
    return walkHeader(this.#read, this.record.path, address);
  }

  /** The address of the object with these names. */
  #find(names: readonly string[]): number {
    const path = names.join("/");
    const known = names.length === 0 ? this.root : this.#found.get(path);
    if (known !== undefined) return known;
    const group = this.#messages(this.#find(names.slice(0, -1)));
    const name = Buffer.from(names.at(-1) as string);
    const table = group.find(({ type }) => type === MESSAGE.symbolTable);
    const found = table === undefined ? this.#linkIn(group, name) : this.#symbolIn(this.#read(table.start, 16), name);
    this.#found.set(path, found);
    return found;
  }

  /** Finds a name among the links in the header of a group; a group of many keeps them elsewhere. */
  #linkIn(group: readonly HeaderMessage[], wanted: Buffer): number {
    for (const { type, start, bytes } of group) {
      if (type !== MESSAGE.link) continue;
      const { name, target } = linkOf(this.#read(start, bytes));
      if (target !== null && name.equals(wanted)) return target;
    }
    throw new OtherKind();
  }

  /** Finds a name in the symbol table of a group. */
  #symbolIn(table: DataView, name: Buffer): number {
    return this.#lookUp(unsigned(table, 0), unsigned(table, 8), name);
  }

  /** Finds a name in the tree of a group, whose keys are names in its heap. */
  #lookUp(tree: number, heap: number, name: Buffer): number {
    const segment = unsigned(this.#signed(heap, "HEAP", 32), 24);
    /** Order of the wanted name and one in the heap. */
    const compare = (offset: number): number => {
      const at = segment + offset;
      const bytes = this.#read(at, Math.min(name.length + 1, this.#end - at));
      const text = bufferOf(bytes);
      const end = text.indexOf(0);
      return Buffer.compare(name, end < 0 ? text : text.subarray(0, end));
    };
    let address = tree;
    for (let depth = 0; depth < MAX_LEVELS; depth++) {
      const { level, child } = this.#child(address, compare);
      if (level === 0) return this.#symbol(child, compare);
      address = child;
    }
    throw new OtherKind();
  }

  /** The child of a node of a tree that a name is in: the first whose last key is not below it. */
  #child(address: number, compare: (offset: number) => number): { level: number; child: number } {
    const start = this.#signed(address, "TREE", 24);
    const [type, level, entries] = [start.getUint8(4), start.getUint8(5), start.getUint16(6, true)];
    if (type !== 0) throw new OtherKind();
    const keys = this.#read(address + 24, 16 * entries + 8);
    for (let at = 0; at < entries; at++)
      if (compare(unsigned(keys, 16 * at + 16)) <= 0) return { level, child: unsigned(keys, 16 * at + 8) };
    throw new OtherKind();
  }

  /** The object of a name in a leaf; a soft link is left to the library. */
  #symbol(address: number, compare: (offset: number) => number): number {
    const count = this.#signed(address, "SNOD", 8).getUint16(6, true);
    const entries = this.#read(address + 8, 40 * count);
    for (let at = 0; at < entries.byteLength; at += 40) {
      if (compare(unsigned(entries, at)) !== 0) continue;
      if (entries.getUint32(at + 16, true) === SOFT_LINK) break;
      return unsigned(entries, at + 8);
    }
    throw new OtherKind();
  }

  /** Reads a structure that begins with a signature. @throws OtherKind where another one stands there */
  #signed(address: number, signature: string, length: number): DataView {
    const bytes = this.#read(address, length);
    for (let i = 0; i < 4; i++) if (bytes.getUint8(i) !== signature.charCodeAt(i)) throw new OtherKind();
    return bytes;
  }

  /**
   * A message as text, without what differs between datasets that are read alike: addresses, times, attributes of no
   * effect.
   */
  #text({ type, flags, start, bytes }: HeaderMessage): string {
    if (IGNORED.has(type)) return "";
    const body = bufferOf(this.#read(start, bytes));
    const isElsewhere = type === MESSAGE.attributeInfo && areElsewhere(this.#read(start, bytes));
    if (type === MESSAGE.externalFiles || isElsewhere || (flags & SHARED) !== 0) throw new OtherKind();
    if (type === MESSAGE.attributeInfo) return "";
    if (type === MESSAGE.attribute && !isPackingName(attributeName(body))) return "";
    const head = `${type} ${flags} ${bytes} `;
    return head + (type === MESSAGE.layout ? this.#layoutText(body) : body.toString("latin1"));
  }

  /** A layout without the address of the values, which must lie in the file; it says whether there are any. */
  #layoutText(body: Buffer): string {
    const [version, kind] = body;
    const at = kind === CONTIGUOUS ? 2 : 3;
    if (version !== 3 || (kind !== CONTIGUOUS && kind !== CHUNKED)) throw new OtherKind();
    const address = body.readBigUInt64LE(at);
    const isWritten = address !== UNDEFINED_ADDRESS;
    const bytes = kind === CONTIGUOUS ? body.readBigUInt64LE(at + 8) : 0n;
    if (isWritten && address + bytes > BigInt(this.#end)) throw new OtherKind();
    return `${isWritten} ${body.toString("latin1", 0, at)}${body.toString("latin1", at + 8)}`;
  }
}

function bufferOf({ buffer, byteOffset, byteLength }: DataView): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** The name of an attribute of version 1, 2 or 3. */
function attributeName(body: Buffer): string {
  const [version = 0, flags = 0] = body;
  if (version < 1 || version > 3 || (version > 1 && flags !== 0)) throw new OtherKind();
  const start = version === 3 ? 9 : 8;
  const name = body.subarray(start, start + body.readUInt16LE(2));
  const end = name.indexOf(0);
  return name.toString("latin1", 0, end < 0 ? name.length : end);
}

/** Reads a link message: its name and the address of its object; null where it is no hard link. */
function linkOf(link: DataView): { readonly name: Buffer; readonly target: number | null } {
  const flags = link.getUint8(1);
  const isHard = link.getUint8(0) === 1 && ((flags & 0x08) === 0 || link.getUint8(2) === 0);
  const width = 1 << (flags & 0x03);
  const at = 2 + (flags & 0x08 ? 1 : 0) + (flags & 0x04 ? 8 : 0) + (flags & 0x10 ? 1 : 0);
  const length = unsigned(link, at, width);
  const name = bufferOf(link).subarray(at + width, at + width + length);
  return { name, target: isHard ? unsigned(link, at + width + length) : null };
}

/** Whether a name is one of ASCII letters; others, and names of no letter, are left to the library. */
function isPlainName(name: Uint8Array): boolean {
  return name.length > 0 && name.every((byte) => byte > 0 && byte <= 0x7f);
}

/** Whether the attributes of an object are not among its messages, by its message about them. */
export function areElsewhere(message: DataView): boolean {
  return addressAt(message, message.getUint8(1) & 1 ? 4 : 2) !== null;
}

/** Whether an error says that the file is not what is read here: it is of another kind, damaged, or cannot be read. */
export function isRefusal(error: unknown): boolean {
  return (
    error instanceof OtherKind ||
    error instanceof DataError ||
    error instanceof RangeError ||
    (error instanceof Error && "syscall" in error)
  );
}
