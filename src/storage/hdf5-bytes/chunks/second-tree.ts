/** Reads the B-tree of version 2, the chunk index since format 1.10 for data unbounded in several dimensions. */
import { DataError } from "../../../shared/errors.js";
import { type ReadBytes, unsigned } from "../bytes.js";
import { PREFIX, readNode, readTree, type TreeNode } from "../second-tree-nodes.js";
import { comparePlace, entryAt, kept, type Lookup, lastNotAbove } from "./lookup.js";

/** Types of a tree of chunks, without and with filters. */
const TYPES = [10, 11];

/**
 * Source: HDF5 file format specification 4.0, section III.A.2. A record is an address, for a filtered chunk its size
 * and a mask, and the place of the chunk in each dimension, counted in chunks. Records are in the nodes of all levels.
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
    const place = first.map((at, d) => at / chunks[d]);
    let node = root;
    let records = tree.records;
    for (let level = tree.depth; ; level--) {
      const view = nodeAt(node, { level, records });
      const order = (k: number) => comparePlace(view, PREFIX + (k + 1) * recordBytes - 8 * chunks.length, place);
      const k = lastNotAbove(records, order);
      if (k >= 0 && order(k) === 0) return entryAt(view, PREFIX + k * recordBytes, recordBytes - 8 * chunks.length);
      if (level === 0) return null;
      const pointer = PREFIX + records * recordBytes + (k + 1) * pointerBytes[level];
      node = unsigned(view, pointer);
      records = unsigned(view, pointer + 8, countBytes);
    }
  };
}
