/**
 * Objects of an HDF5 file by path, and the messages of their headers, including shared ones.
 *
 * Source: HDF5 file format specification 4.0, sections III.A to III.C (groups), IV.A.2 and IV.B (shared messages).
 */
import { DataError } from "../../shared/errors.js";
import { addressAt, type FilePlace, type ReadBytes, signedBytes, unsigned } from "./bytes.js";
import { CHECKSUM, checkSum } from "./checksum.js";
import { type GroupMember, MAX_MEMBERS, membersOf } from "./groups.js";
import { attributeParts } from "./header-messages.js";
import { fractalHeap, type ReadObject } from "./heaps.js";
import { type HeaderMessage, MESSAGE, type ObjectHeader, readHeader, SHARED } from "./object-header.js";
import { ONE_OF_SEVERAL, OpenBytes } from "./open-bytes.js";
import { recordsOf } from "./second-tree-nodes.js";

export const MAX_ATTRIBUTES = 1024;
const ATTRIBUTE_TYPES = [8];
/** Bytes of an identifier in the heap of attributes and of shared messages. */
const HEAP_ID = 8;
const ORDER_AT = 9;
/** Kinds of a shared message of version 3: in a heap of the file, or in the header of another object. */
const IN_HEAP = 1;
const MAX_OBJECTS = 4_096;

export interface Hdf5Object {
  readonly address: number;
  readonly header: ObjectHeader;
  readonly kind: "group" | "dataset" | "other";
}

export class Structure {
  readonly bytes: OpenBytes;
  readonly read: ReadBytes;
  readonly #objects = new Map<number, Hdf5Object>();
  readonly #addresses = new Map<string, number>();
  readonly #members = new Map<number, ReadonlyMap<string, GroupMember>>();
  #membersLeft = MAX_MEMBERS;
  /** The heaps of shared messages by type, once one was requested. */
  #shared: Map<number, ReadObject> | null = null;

  constructor(place: FilePlace, room?: Buffer) {
    this.bytes = new OpenBytes(place, room);
    this.read = this.bytes.read;
    try {
      this.#checkExtension();
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Reads the extension of the superblock. Throws DataError if it changes how the file must be read. */
  #checkExtension(): void {
    const { extension } = this.bytes;
    if (extension === null) return;
    const types = this.at(extension).header.messages.map(({ type }) => type);
    if (types.includes(MESSAGE.driver)) throw new DataError(ONE_OF_SEVERAL);
    if (types.includes(MESSAGE.cacheImage))
      throw new DataError("it has a metadata cache image, which is not read: h5repack IN OUT writes it without");
  }

  at(address: number): Hdf5Object {
    let object = this.#objects.get(address);
    if (object === undefined) {
      const header = readHeader(this.read, address);
      const has = (wanted: number) => header.messages.some(({ type }) => type === wanted);
      const isGroup = has(MESSAGE.symbolTable) || has(MESSAGE.linkInfo);
      object = { address, header, kind: has(MESSAGE.layout) ? "dataset" : isGroup ? "group" : "other" };
      if (this.#objects.size === MAX_OBJECTS) this.#objects.clear();
      this.#objects.set(address, object);
    }
    return object;
  }

  /** The object at a path that only hard links lead along. Throws DataError when there is none. */
  object(path: string): Hdf5Object {
    let address = this.#addresses.get(path);
    if (address === undefined) {
      address = this.#addressOf(path);
      if (this.#addresses.size === MAX_OBJECTS) this.#addresses.clear();
      this.#addresses.set(path, address);
    }
    return this.at(address);
  }

  #addressOf(path: string): number {
    let address = this.bytes.root;
    for (const name of path.split("/").filter((part) => part !== "")) {
      const group = this.at(address);
      const member = group.kind === "group" ? this.members(group).get(name) : undefined;
      if (typeof member !== "number") throw new DataError(`there is no ${path}`);
      address = member;
    }
    return address;
  }

  /** The members of a group in stored order: addresses of headers, or targets of soft links. */
  members({ address, header }: Hdf5Object): ReadonlyMap<string, GroupMember> {
    let members = this.#members.get(address);
    if (members === undefined) {
      if (this.#members.size === MAX_OBJECTS) {
        this.#members.clear();
        this.#membersLeft = MAX_MEMBERS;
      }
      members = membersOf(this.read, header, this.#membersLeft);
      this.#membersLeft -= members.size;
      this.#members.set(address, members);
    }
    return members;
  }

  /** The body of the message of a type; null if the object has none. */
  body({ header }: Hdf5Object, wanted: number): DataView | null {
    const message = header.messages.find(({ type }) => type === wanted);
    return message === undefined ? null : this.bodyOf(message);
  }

  bodyOf({ type, flags, start, bytes }: HeaderMessage): DataView {
    const body = this.read(start, bytes);
    return (flags & SHARED) === 0 ? body : this.shared(body, type);
  }

  attributes({ header }: Hdf5Object): DataView[] {
    const info = header.messages.find(({ type }) => type === MESSAGE.attributeInfo);
    const compact = header.messages.filter(({ type }) => type === MESSAGE.attribute);
    if (compact.length > MAX_ATTRIBUTES) throw tooManyAttributes(MAX_ATTRIBUTES);
    const dense = info === undefined ? [] : this.#denseAttributes(this.read(info.start, info.bytes));
    const found = compact.map((message) => ({ body: this.bodyOf(message), order: message.order ?? 0 })).concat(dense);
    if (header.isOrdered) return found.sort((a, b) => a.order - b.order).map(({ body }) => body);
    const names = found.map(({ body }) => ({ body, name: Buffer.from(attributeParts(body, this.shared).name) }));
    return names.sort((a, b) => Buffer.compare(a.name, b.name)).map(({ body }) => body);
  }

  #denseAttributes(info: DataView): { readonly body: DataView; readonly order: number }[] {
    const at = 2 + ((info.getUint8(1) & 1) === 0 ? 0 : 2);
    const heap = addressAt(info, at);
    if (heap === null) return [];
    const object = fractalHeap(this.read, heap);
    const tree = unsigned(info, at + 8);
    return recordsOf(this.read, tree, ATTRIBUTE_TYPES, MAX_ATTRIBUTES, tooManyAttributes).map((record) => {
      const isShared = (record.getUint8(HEAP_ID) & SHARED) !== 0;
      const read = isShared ? this.#sharedHeaps().get(MESSAGE.attribute) : object;
      if (read === undefined) throw new DataError("a shared attribute is not there");
      const body = read(new DataView(record.buffer, record.byteOffset, HEAP_ID));
      return { body, order: record.getUint32(ORDER_AT, true) };
    });
  }

  readonly shared = (body: DataView, type: number): DataView => {
    const [version, kind] = [body.getUint8(0), body.getUint8(1)];
    if (version === 3 && kind === IN_HEAP) {
      const read = this.#sharedHeaps().get(type);
      if (read === undefined) throw new DataError("a shared message is not there");
      return read(new DataView(body.buffer, body.byteOffset + 2, HEAP_ID));
    }
    const address = unsigned(body, version === 1 ? 8 : 2);
    const found = this.at(address).header.messages.find((message) => message.type === type);
    if (found === undefined || (found.flags & SHARED) !== 0) throw new DataError(`there is no type at ${address}`);
    return this.read(found.start, found.bytes);
  };

  #sharedHeaps(): Map<number, ReadObject> {
    if (this.#shared !== null) return this.#shared;
    const heaps = new Map<number, ReadObject>();
    const { extension } = this.bytes;
    const about = extension === null ? null : this.body(this.at(extension), MESSAGE.sharedTable);
    if (about !== null) {
      const count = about.getUint8(9);
      const table = signedBytes(this.read, "SMTB", unsigned(about, 1), SHARED_HEAD + count * SHARED_ENTRY + CHECKSUM);
      checkSum(table);
      for (let i = 0; i < count; i++) {
        const at = SHARED_HEAD + i * SHARED_ENTRY;
        const heap = addressAt(table, at + 22);
        const types = table.getUint16(at + 2, true);
        if (heap === null) continue;
        const object = fractalHeap(this.read, heap);
        for (let type = 0; type < 16; type++) if ((types >> type) & 1) heaps.set(type, object);
      }
    }
    this.#shared = heaps;
    return heaps;
  }

  close(): void {
    this.bytes.close();
  }
}

const SHARED_HEAD = 4;
const SHARED_ENTRY = 30;

const tooManyAttributes = (most: number): DataError => new DataError(`it has more than ${most} attributes`);
