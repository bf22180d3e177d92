/** Reads the B-tree of version 2, the chunk index since format 1.10 for data unbounded in several dimensions. */
import { DataError } from "../../../shared/errors.js";
import { type ReadBytes, unsigned } from "../bytes.js";
import { PREFIX, readNode, readTree, type TreeNode } from "../second-tree-nodes.js";
import { entryAt, kept, type Lookup } from "./lookup.js";

/** Types of a tree of chunks, without and with filters. */
const TYPES = [10, 11];

/**
 * Source: HDF5 file format specification 4.0, section III.A.2. A record is an address, for a filtered chunk its size
 * and a mask, and the place of the chunk in each dimension, counted in chunks. Records are in the nodes of all levels.
 *
 * @param address of its header
 * @throws DataError, also from the lookup, when it is cut short or not one of chunks
 */
export function secondTree(read: ReadBytes, address: number, chunks: readonly number[]): Lookup {
  const tree = readTree(read, address, TYPES);
  if (tree.recordBytes < 8 + 8 * chunks.length) throw new DataError(`The tree at ${address} is not one of chunks.`);
  const { root, recordBytes, countBytes, pointerBytes } = tree;
  if (root === null) return () => null;
  const nodeAt = kept((start: number, place: TreeNode) => readNode(read, start, place, tree));
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

/** `~k` if record k is the chunk's; else k, the record before which it would be. */
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

/** Compares the position of a chunk, read at `at`, with the position of the chunk that begins at `first`. */
function compareRecord(node: DataView, at: number, first: readonly number[], chunks: readonly number[]): number {
  for (let d = 0; d < chunks.length; d++) {
    const difference = unsigned(node, at + 8 * d) - first[d] / chunks[d];
    if (difference !== 0) return difference;
  }
  return 0;
}
