/** Which chunks of a stored dataset were ever written: the library reads the others as zeros and says nothing. */
import { closeSync, openSync } from "node:fs";
import { DataError } from "../errors.js";
import { bytesAt, dataStart, headerMessages } from "./object-header.js";

/** Tells written chunks from others. */
export interface ChunkIndex {
  /** The first element of an unwritten chunk that a box of elements touches, in stored order; null when there is none. */
  unwritten(offset: readonly number[], count: readonly number[]): readonly number[] | null;
}

/** Shape and chunks of a dataset; no chunks: contiguous or compact. */
interface Shape {
  readonly shape: readonly number[];
  readonly chunks: readonly number[] | null;
}

const LAYOUT = 0x08;
const UNDEFINED = 2 ** 64;
/** Nodes of a B-tree that are kept: about 1 MiB of them. */
const NODES_KEPT = 256;
const CONTIGUOUS = 1;
const CHUNKED = 2;
/** Kinds of index of layout version 4, the bytes of parameters that each has, and the flag of a single chunk that has more. */
const SINGLE_CHUNK = 1;
const FIXED_ARRAY = 3;
const PARAMETERS = [0, 0, 0, 1, 5, 6];
const FILTERED = 0x02;
/** Kind that stands for the B-tree of version 1, which earlier layouts all have. */
const TREE = -1;

/** How a layout message says that values are kept. */
interface Layout {
  readonly kind: number;
  /** Of the values or of the chunk index, from the start of the HDF5 data; null when nothing was ever written. */
  readonly address: number | null;
}

/**
 * The chunk index of the dataset with an object header.
 *
 * Source: HDF5 file format specification 4.0, sections IV.A.2.i, III.A.1 and VII.C. Of the indices, the B-tree of version 1
 * and the fixed array are read; that of data which may grow in a file of the latest format is not.
 *
 * @param address of the object header from the start of the HDF5 data
 * @returns null where everything is written, as far as can be told
 * @throws DataError when the header is cut short or the index damaged
 */
export function readChunkIndex(path: string, address: number, { shape, chunks }: Shape): ChunkIndex | null {
  const layout = withFile(path, (file) => {
    const message = headerMessages(path, address).find(({ type }) => type === LAYOUT);
    if (message === undefined) throw new DataError(`${path} has a dataset without a layout.`);
    return readLayout(bytesAt(file, path, message.start, message.bytes));
  });
  if (layout === null) return null;
  if (layout.address === null) return { unwritten: () => shape.map(() => 0) };
  if (chunks === null) return null;
  const has =
    layout.kind === TREE
      ? treeLookup(path, layout.address, shape.length)
      : layout.kind === FIXED_ARRAY
        ? arrayLookup(path, layout.address, shape, chunks)
        : null;
  return has && { unwritten: (offset, count) => firstWithout(has, chunks, offset, count) };
}

/** Null where the values stand in the header, or elsewhere than in this file. */
function readLayout(message: DataView): Layout | null {
  const version = message.getUint8(0);
  const early = version < 3;
  const kind = message.getUint8(early ? 2 : 1);
  if (kind !== CONTIGUOUS && kind !== CHUNKED) return null;
  if (early) return { kind: TREE, address: addressAt(message, 8) };
  if (kind === CONTIGUOUS) return { kind, address: addressAt(message, 2) };
  if (version === 3) return { kind: TREE, address: addressAt(message, 3) };
  const at = 5 + message.getUint8(3) * message.getUint8(4);
  const index = message.getUint8(at);
  const parameters = index === SINGLE_CHUNK && message.getUint8(2) & FILTERED ? 12 : (PARAMETERS[index] ?? 0);
  return { kind: index, address: addressAt(message, at + 1 + parameters) };
}

function addressAt(view: DataView, at: number): number | null {
  const address = uint64(view, at);
  return address === UNDEFINED ? null : address;
}

type Lookup = (first: readonly number[]) => boolean;

/** The first element of a chunk in a box that is not there. */
function firstWithout(
  has: Lookup,
  chunks: readonly number[],
  offset: readonly number[],
  count: readonly number[],
): readonly number[] | null {
  const low = chunks.map((edge, d) => Math.floor((offset[d] as number) / edge) * edge);
  const at = [...low];
  for (;;) {
    if (!has(at)) return at;
    let d = chunks.length - 1;
    for (; d >= 0; d--) {
      at[d] = (at[d] as number) + (chunks[d] as number);
      if ((at[d] as number) < (offset[d] as number) + (count[d] as number)) break;
      at[d] = low[d] as number;
    }
    if (d < 0) return null;
  }
}

/** Descends the B-tree of version 1, whose nodes are kept. */
function treeLookup(path: string, root: number, rank: number): Lookup {
  const keyBytes = 8 + 8 * (rank + 1);
  const base = withFile(path, (file) => dataStart(file, path));
  const nodes = new Map<number, DataView>();
  const nodeAt = (address: number): DataView => {
    const known = nodes.get(address);
    if (known !== undefined) return known;
    const node = withFile(path, (file) => readNode(file, path, base + address, keyBytes));
    if (nodes.size === NODES_KEPT) nodes.delete(nodes.keys().next().value as number);
    nodes.set(address, node);
    return node;
  };
  return (first) => {
    let address = root;
    for (let level = Number.POSITIVE_INFINITY; ; ) {
      const node = nodeAt(address);
      if (node.getUint8(5) >= level) throw new DataError(`${path} has a damaged chunk index at ${address}.`);
      level = node.getUint8(5);
      const key = findKey(node, keyBytes, first);
      if (key === null) return false;
      if (level === 0) return compareKey(node, key, first) === 0;
      address = uint64(node, key + keyBytes);
    }
  };
}

/** A node of the B-tree, which has as many keys as are used and one more. */
function readNode(file: number, path: string, start: number, keyBytes: number): DataView {
  const head = bytesAt(file, path, start, 24);
  // "TREE", and node type 1: chunks.
  if (head.getUint32(0) !== 0x54524545 || head.getUint8(4) !== 1)
    throw new DataError(`${path} has no chunk index at ${start}.`);
  return bytesAt(file, path, start, 24 + head.getUint16(6, true) * (keyBytes + 8) + keyBytes);
}

/** Where the last key that is not above `first` stands in a node; null when all are. */
function findKey(node: DataView, keyBytes: number, first: readonly number[]): number | null {
  const place = (entry: number) => 24 + entry * (keyBytes + 8);
  let low = -1;
  let high = node.getUint16(6, true);
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (compareKey(node, place(middle), first) <= 0) low = middle;
    else high = middle;
  }
  return low < 0 ? null : place(low);
}

/** The sign of a key against the first element of a chunk: a key has one dimension more, the bytes of an element, always 0. */
function compareKey(node: DataView, key: number, first: readonly number[]): number {
  for (let d = 0; d <= first.length; d++) {
    const difference = uint64(node, key + 8 + 8 * d) - (first[d] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** A 64-bit number, to the precision of a float64. */
function uint64(view: DataView, at: number): number {
  return view.getUint32(at, true) + 2 ** 32 * view.getUint32(at + 4, true);
}

/** Entries of a fixed array, one for each chunk that the dataset may have; null where that is more than it has. */
function arrayLookup(path: string, address: number, shape: readonly number[], chunks: readonly number[]) {
  const grid = shape.map((length, d) => Math.ceil(length / (chunks[d] as number)));
  const total = grid.reduce((product, length) => product * length, 1);
  const present = withFile(path, (file) => readArray(file, path, dataStart(file, path), address, total));
  if (present === null) return null;
  return (first: readonly number[]): boolean => {
    const index = grid.reduce((sum, length, d) => sum * length + (first[d] as number) / (chunks[d] as number), 0);
    return present[index] === 1;
  };
}

/** Which entries of a fixed array have an address; null when it has not `total` entries. */
function readArray(file: number, path: string, base: number, address: number, total: number): Uint8Array | null {
  const head = bytesAt(file, path, base + address, 24);
  if (head.getUint32(0) !== 0x46414844) throw new DataError(`${path} has no chunk index at ${address}.`); // "FAHD"
  const entryBytes = head.getUint8(6);
  const pageEntries = 2 ** head.getUint8(7);
  if (uint64(head, 8) !== total) return null;
  const present = new Uint8Array(total);
  const block = addressAt(head, 16);
  if (block === null) return present;
  const CHECKSUM = 4;
  const pages = total > pageEntries ? Math.ceil(total / pageEntries) : 1;
  const bitmap = pages > 1 ? bytesAt(file, path, base + block + 14, Math.ceil(pages / 8)) : null;
  let next = base + block + 14 + (bitmap === null ? 0 : bitmap.byteLength + CHECKSUM);
  for (let page = 0; page < pages; page++) {
    const first = page * pageEntries;
    const count = Math.min(pageEntries, total - first);
    // A page whose bit is not set has never been written; its place is kept.
    if (bitmap === null || bitmap.getUint8(page >> 3) & (0x80 >> (page & 7))) {
      const entries = bytesAt(file, path, next, count * entryBytes);
      for (let i = 0; i < count; i++) present[first + i] = addressAt(entries, i * entryBytes) === null ? 0 : 1;
    }
    next += count * entryBytes + CHECKSUM;
  }
  return present;
}

/** Opens a file for as long as `use` takes. @throws DataError also for what the operating system refuses */
function withFile<T>(path: string, use: (file: number) => T): T {
  let file: number | null = null;
  try {
    file = openSync(path, "r");
    return use(file);
  } catch (error) {
    throw error instanceof DataError ? error : new DataError(`${path} is not readable.`, error);
  } finally {
    if (file !== null) closeSync(file);
  }
}
