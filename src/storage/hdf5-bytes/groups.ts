/**
 * Members of groups: from symbol tables, link messages, and links in a heap. Source: HDF5 file format specification
 * 4.0, sections III.A.1, III.B, III.C and IV.A.2.g.
 */
import { DataError } from "../../shared/errors.js";
import { addressAt, bufferOf, type ReadBytes, signedBytes, unsigned } from "./bytes.js";
import { fractalHeap, localNames } from "./heaps.js";
import { type HeaderMessage, MESSAGE, type ObjectHeader } from "./object-header.js";
import { recordsOf } from "./second-tree-nodes.js";

/** A member of a group: the address of its header, the path of a soft link, or another link. */
export type GroupMember = number | string | OtherLink;

/** A link that is not followed: to a file, or of a user-defined kind. */
export interface OtherLink {
  readonly refused: string;
}

export const MAX_MEMBERS = 65_536;
const MAX_LEVELS = 16;
/** Cache type of a symbol table entry that is a soft link, and the offset of its path in the entry. */
const SOFT_ENTRY = 2;
const SOFT_PATH_AT = 24;
const ENTRY_BYTES = 40;
const [HARD, SOFT, EXTERNAL] = [0, 1, 64];
/** Type of the tree of links by name, and bytes of an identifier in their heap. */
const LINK_TYPES = [5];
const [LINK_ID_AT, LINK_ID] = [4, 7];
const ORDERED = 0x02;

/**
 * The members of a group in stored order. @param most largest number of members
 * @throws DataError for more members, repeated names, or damage
 */
export function membersOf(read: ReadBytes, { messages }: ObjectHeader, most: number): ReadonlyMap<string, GroupMember> {
  const table = messages.find(({ type }) => type === MESSAGE.symbolTable);
  if (table !== undefined) return tableMembers(read, read(table.start, table.bytes), most);
  const about = messages.find(({ type }) => type === MESSAGE.linkInfo);
  if (about === undefined) throw new DataError("it is not a group");
  const info = read(about.start, about.bytes);
  const compact = messages.filter(({ type }) => type === MESSAGE.link);
  if (compact.length > most) throw tooMany();
  const links = compact
    .map(({ start, bytes }: HeaderMessage) => linkOf(read(start, bytes)))
    .concat(denseLinks(read, info, most));
  const isOrdered = (info.getUint8(1) & ORDERED) !== 0;
  links.sort((a, b) => (isOrdered ? a.order - b.order : Buffer.compare(a.name, b.name)));
  const found = new Map<string, GroupMember>();
  for (const { name, member } of links) addMember(found, nameOf(name), member);
  return found;
}

/** Adds a member. Throws DataError if there is one of this name. */
function addMember(found: Map<string, GroupMember>, name: string, member: GroupMember): void {
  if (found.has(name)) throw new DataError(`two members have the name ${name}`);
  found.set(name, member);
}

const tooMany = (): DataError => new DataError(`the groups of the file have more than ${MAX_MEMBERS} members`);

function denseLinks(read: ReadBytes, info: DataView, most: number): Link[] {
  const at = 2 + ((info.getUint8(1) & 1) === 0 ? 0 : 8);
  const heap = addressAt(info, at);
  if (heap === null) return [];
  const object = fractalHeap(read, heap);
  return recordsOf(read, unsigned(info, at + 8), LINK_TYPES, most, tooMany).map((record) =>
    linkOf(object(new DataView(record.buffer, record.byteOffset + LINK_ID_AT, LINK_ID))),
  );
}

interface Link {
  readonly name: Buffer;
  readonly order: number;
  readonly member: GroupMember;
}

function linkOf(link: DataView): Link {
  const flags = link.getUint8(1);
  const kind = (flags & 0x08) === 0 ? HARD : link.getUint8(2);
  let at = 2 + ((flags & 0x08) === 0 ? 0 : 1);
  const order = (flags & 0x04) === 0 ? 0 : unsigned(link, at);
  at += ((flags & 0x04) === 0 ? 0 : 8) + ((flags & 0x10) === 0 ? 0 : 1);
  const width = 1 << (flags & 0x03);
  const length = unsigned(link, at, width);
  const text = bufferOf(link);
  const name = text.subarray(at + width, at + width + length);
  at += width + length;
  if (link.getUint8(0) !== 1 || name.length < length) throw new DataError("a link is damaged");
  if (kind === HARD) return { name, order, member: unsigned(link, at) };
  const value = text.subarray(at + 2, at + 2 + link.getUint16(at, true));
  if (kind === SOFT) return { name, order, member: value.toString("utf8") };
  // An external link has a byte of flags before the name of its file.
  const file = value.toString("utf8", 1, Math.max(1, value.indexOf(0, 1)));
  const refused = kind === EXTERNAL ? `an external link to ${file}` : `a link of kind ${kind}`;
  return { name, order, member: { refused } };
}

function tableMembers(read: ReadBytes, table: DataView, most: number): Map<string, GroupMember> {
  const found = new Map<string, GroupMember>();
  const nameAt = localNames(read, unsigned(table, 8));
  const visited = new Set<number>();
  const visit = (address: number, above: number): void => {
    const node = signedBytes(read, "TREE", address, 24);
    const [type, level, entries] = [node.getUint8(4), node.getUint8(5), node.getUint16(6, true)];
    const isAgain = visited.size === visited.add(address).size;
    if (type !== 0 || level >= above || isAgain) throw new DataError(`The tree of names at ${address} is damaged.`);
    const keys = read(address + 24, 16 * entries + 8);
    for (let at = 0; at < entries; at++) {
      const child = unsigned(keys, 16 * at + 8);
      if (level > 0) visit(child, level);
      else if (visited.size === visited.add(child).size) throw new DataError(`There are names twice at ${child}.`);
      else tableEntries(read, child, nameAt, found, most);
    }
  };
  visit(unsigned(table, 0), MAX_LEVELS);
  return found;
}

function tableEntries(
  read: ReadBytes,
  address: number,
  nameAt: (offset: number) => Buffer,
  found: Map<string, GroupMember>,
  most: number,
): void {
  const count = signedBytes(read, "SNOD", address, 8).getUint16(6, true);
  if (found.size + count > most) throw tooMany();
  const entries = read(address + 8, ENTRY_BYTES * count);
  for (let at = 0; at < entries.byteLength; at += ENTRY_BYTES) {
    const isSoft = entries.getUint32(at + 16, true) === SOFT_ENTRY;
    const name = nameOf(nameAt(unsigned(entries, at)));
    const softPath = () => nameAt(entries.getUint32(at + SOFT_PATH_AT, true)).toString("utf8");
    addMember(found, name, isSoft ? softPath() : unsigned(entries, at + 8));
  }
}

function nameOf(bytes: Buffer): string {
  if (bytes.length === 0) throw new DataError("a member has no name");
  return bytes.toString("utf8");
}
