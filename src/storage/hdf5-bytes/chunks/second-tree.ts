/**
 * Reads the B-tree of version 2, the chunk index of data without bounds in two or more dimensions, since the formats of
 * 1.10.
 */
import { DataError } from "../../../errors.js";
import { addressAt, checkedBytes, type OpenBytes, type ReadBytes, unsigned } from "../bytes.js";
import { CHECKSUM } from "../checksum.js";
import { entryAt, kept, type Lookup } from "./lookup.js";

/** The members of the header, and what follows from them. */
interface Tree {
  readonly recordBytes: number;
  /** Of the root; leaves have 0. */
  readonly depth: number;
  /** Address of the root, null where there is no record, and its number of records. */
  readonly root: number | null;
  readonly records: number;
  /** Bytes of the number of records in a node. */
  readonly countBytes: number;
  /**
   * Bytes of what names a node, by the level of the node that names it: its address, its records, all those below it.
   */
  readonly pointerBytes: readonly number[];
}

/** A node that is looked for. */
interface TreeNode {
  readonly level: number;
  readonly records: number;
}

/** Types of a tree of chunks, without and with filters. */
const TYPES = [10, 11];
const PREFIX = 6;

/**
 * Source: HDF5 file format specification 4.0, section III.A.2. A record is an address, for a filtered chunk its size
 * and a mask, and the place of the chunk in each dimension, counted in chunks. Records stand in the nodes of all
 * levels.
 *
 * @param address of its header
 * @throws DataError, also from the lookup, when it is cut short or not one of chunks
 */
export function secondTree(bytes: OpenBytes, address: number, chunks: readonly number[]): Lookup {
  const tree = bytes((read) => readHeader(read, address, chunks.length));
  const { root, recordBytes, countBytes, pointerBytes } = tree;
  if (root === null) return () => null;
  const nodeAt = kept((start: number, place: TreeNode) => bytes((read) => readNode(read, start, place, tree)));
  return (first) => {
    let node = root;
    let records = tree.records;
    for (let level = tree.depth; ; level--) {
      const view = nodeAt(node, { level, records });
      const after = findRecord(view, records, recordBytes, first, chunks);
      if (after < 0) return entryAt(view, PREFIX + ~after * recordBytes, recordBytes - 8 * chunks.length);
      if (level === 0) return null;
      const pointer = PREFIX + records * recordBytes + after * pointerBytes[level];
      node = unsigned(view, pointer);
      records = unsigned(view, pointer + 8, countBytes);
    }
  };
}

function readHeader(read: ReadBytes, address: number, rank: number): Tree {
  const header = checkedBytes(read, "BTHD", address, 34);
  const nodeBytes = header.getUint32(6, true);
  const recordBytes = header.getUint16(10, true);
  const depth = header.getUint16(12, true);
  if (!TYPES.includes(header.getUint8(5)) || recordBytes < 8 + 8 * rank)
    throw new DataError(`The tree at ${address} is not one of chunks.`);
  const room = nodeBytes - PREFIX - CHECKSUM;
  let most = Math.floor(room / recordBytes);
  const countBytes = bytesFor(most);
  const pointerBytes = [0];
  // Each level may hold so many records below a node that their number needs more bytes.
  let below = most;
  for (let level = 1; level <= depth; level++) {
    const bytes = 8 + countBytes + (level === 1 ? 0 : bytesFor(below));
    most = Math.floor((room - bytes) / (recordBytes + bytes));
    below = (most + 1) * below + most;
    pointerBytes.push(bytes);
    if (!(most > 0 && below < 2 ** 53)) throw new DataError(`The tree at ${address} has impossible nodes.`);
  }
  const root = addressAt(header, 16);
  return { recordBytes, depth, root, records: header.getUint16(24, true), countBytes, pointerBytes };
}

/** Bytes that a number up to `most` takes. */
function bytesFor(most: number): number {
  return Math.floor(Math.log2(most) / 8) + 1;
}

function readNode(read: ReadBytes, start: number, { level, records }: TreeNode, tree: Tree): DataView {
  const pointers = level === 0 ? 0 : (records + 1) * tree.pointerBytes[level];
  return checkedBytes(read, level === 0 ? "BTLF" : "BTIN", start, PREFIX + records * tree.recordBytes + pointers);
}

/** ~k for the record k of a chunk; k where it would stand before record k. */
function findRecord(
  node: DataView,
  records: number,
  recordBytes: number,
  first: readonly number[],
  chunks: readonly number[],
): number {
  let low = 0;
  let high = records;
  while (low < high) {
    const middle = (low + high) >> 1;
    const order = compareRecord(node, PREFIX + (middle + 1) * recordBytes - 8 * chunks.length, first, chunks);
    if (order === 0) return ~middle;
    if (order < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The sign of the place of a chunk, which stands at `at`, against that of the one that begins at `first`. */
function compareRecord(node: DataView, at: number, first: readonly number[], chunks: readonly number[]): number {
  for (let d = 0; d < chunks.length; d++) {
    const difference = unsigned(node, at + 8 * d) - first[d] / chunks[d];
    if (difference !== 0) return difference;
  }
  return 0;
}
