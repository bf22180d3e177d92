/** Reads the B-tree of version 1, the chunk index of all formats before 1.10. */
import { DataError } from "../../../shared/errors.js";
import type { StoredChunk } from "../../dataset/stored.js";
import { addressAt, type ReadBytes, signedBytes, unsigned } from "../bytes.js";
import { kept, type Lookup } from "./lookup.js";

const CHUNKS = 1;
const HEAD = 24;

/**
 * Source: HDF5 file format specification 4.0, section III.A.1.
 *
 * @returns a lookup that throws a DataError when the tree is damaged
 */
export function firstTree(read: ReadBytes, root: number, rank: number): Lookup {
  const keyBytes = 8 + 8 * (rank + 1);
  const nodeAt = kept((address: number, _: null) => readNode(read, address, keyBytes));
  return (first) => {
    let address = root;
    for (let level = Number.POSITIVE_INFINITY; ; ) {
      const node = nodeAt(address, null);
      if (node.getUint8(5) >= level) throw new DataError(`The node at ${address} is not below the one that names it.`);
      level = node.getUint8(5);
      const key = findKey(node, keyBytes, first);
      if (key === null) return null;
      if (level === 0) return compareKey(node, key, first) === 0 ? chunkAt(node, key, keyBytes) : null;
      address = unsigned(node, key + keyBytes);
    }
  };
}

/** The chunk of a key, which begins with its size and its mask; the address follows. */
function chunkAt(node: DataView, key: number, keyBytes: number): StoredChunk | null {
  const address = addressAt(node, key + keyBytes);
  return address === null ? null : { address, bytes: node.getUint32(key, true), mask: node.getUint32(key + 4, true) };
}

function readNode(read: ReadBytes, address: number, keyBytes: number): DataView {
  const head = signedBytes(read, "TREE", address, HEAD);
  if (head.getUint8(4) !== CHUNKS) throw new DataError(`The node at ${address} is not one of chunks.`);
  return read(address, HEAD + head.getUint16(6, true) * (keyBytes + 8) + keyBytes);
}

/** The offset of the last key in a node that is not above `first`; null when all are above it. */
function findKey(node: DataView, keyBytes: number, first: readonly number[]): number | null {
  const place = (entry: number) => HEAD + entry * (keyBytes + 8);
  let low = -1;
  let high = node.getUint16(6, true);
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (compareKey(node, place(middle), first) <= 0) low = middle;
    else high = middle;
  }
  return low < 0 ? null : place(low);
}

/** Compares a key, which has one more dimension, the bytes of an element, always 0. */
function compareKey(node: DataView, key: number, first: readonly number[]): number {
  for (let d = 0; d <= first.length; d++) {
    const difference = unsigned(node, key + 8 + 8 * d) - (first[d] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
