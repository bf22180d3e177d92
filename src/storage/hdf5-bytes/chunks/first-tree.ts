/** Reads the B-tree of version 1, the chunk index of all formats before 1.10. */
import { DataError } from "../../../shared/errors.js";
import type { StoredChunk } from "../../dataset/stored.js";
import { addressAt, type ReadBytes, signedBytes, unsigned } from "../bytes.js";
import { comparePlace, kept, type Lookup, lastNotAbove } from "./lookup.js";

const CHUNKS = 1;
const HEAD = 24;

/**
 * Source: HDF5 file format specification 4.0, section III.A.1.
 * @returns a lookup that throws a DataError when the tree is damaged
 */
export function firstTree(read: ReadBytes, root: number, rank: number): Lookup {
  const keyBytes = 8 + 8 * (rank + 1);
  const nodeAt = kept((address: number, _: null) => readNode(read, address, keyBytes));
  return (first) => {
    // A key has one more dimension, the bytes of an element, always 0.
    const place = [...first, 0];
    let address = root;
    for (let level = Number.POSITIVE_INFINITY; ; ) {
      const node = nodeAt(address, null);
      if (node.getUint8(5) >= level) throw new DataError(`The node at ${address} is not below the one that names it.`);
      level = node.getUint8(5);
      const keyAt = (entry: number) => HEAD + entry * (keyBytes + 8);
      const order = (entry: number) => comparePlace(node, keyAt(entry) + 8, place);
      const entry = lastNotAbove(node.getUint16(6, true), order);
      if (entry < 0) return null;
      const key = keyAt(entry);
      if (level === 0) return order(entry) === 0 ? chunkAt(node, key, keyBytes) : null;
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
