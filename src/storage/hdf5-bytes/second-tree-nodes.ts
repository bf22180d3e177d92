/**
 * Nodes of the B-tree of version 2, which indexes chunks and the objects of a heap.
 *
 * Source: HDF5 file format specification 4.0, section III.A.2.
 */
import { DataError } from "../../shared/errors.js";
import { addressAt, checkedBytes, type ReadBytes, unsigned } from "./bytes.js";
import { CHECKSUM } from "./checksum.js";

/** Bytes before the records of a node. */
export const PREFIX = 6;

export interface Tree {
  readonly recordBytes: number;
  /** Depth of the root; leaves have 0. */
  readonly depth: number;
  /** Address of the root, null if there is no record, and its number of records. */
  readonly root: number | null;
  readonly records: number;
  readonly total: number;
  /** Bytes of the number of records in a node. */
  readonly countBytes: number;
  /** Bytes of a reference to a node, by the level of the referring node. */
  readonly pointerBytes: readonly number[];
}

export type TreeNode = Readonly<Record<"level" | "records", number>>;

/** Reads the header of a tree. Throws DataError when it is damaged, or has another type. */
export function readTree(read: ReadBytes, address: number, types: readonly number[]): Tree {
  const header = checkedBytes(read, "BTHD", address, 34);
  const nodeBytes = header.getUint32(6, true);
  const recordBytes = header.getUint16(10, true);
  const depth = header.getUint16(12, true);
  if (!types.includes(header.getUint8(5)) || recordBytes === 0)
    throw new DataError(`The tree at ${address} is not one of type ${types.join(" or ")}.`);
  const room = nodeBytes - PREFIX - CHECKSUM;
  let most = Math.floor(room / recordBytes);
  const countBytes = bytesFor(most);
  const pointerBytes = [0];
  // The number of records below a node takes more bytes the more there can be.
  let below = most;
  for (let level = 1; level <= depth; level++) {
    const bytes = 8 + countBytes + (level === 1 ? 0 : bytesFor(below));
    most = Math.floor((room - bytes) / (recordBytes + bytes));
    below = (most + 1) * below + most;
    pointerBytes.push(bytes);
    if (!(most > 0 && below < 2 ** 53)) throw new DataError(`The tree at ${address} has impossible nodes.`);
  }
  const root = addressAt(header, 16);
  const records = header.getUint16(24, true);
  return { recordBytes, depth, root, records, total: unsigned(header, 26), countBytes, pointerBytes };
}

/** Bytes of a number up to `most`. */
export const bytesFor = (most: number): number => Math.floor(Math.log2(most) / 8) + 1;

export function readNode(read: ReadBytes, start: number, { level, records }: TreeNode, tree: Tree): DataView {
  const pointers = level === 0 ? 0 : (records + 1) * tree.pointerBytes[level];
  return checkedBytes(read, level === 0 ? "BTLF" : "BTIN", start, PREFIX + records * tree.recordBytes + pointers);
}

/**
 * The records in order; records of inner nodes lie between their children.
 * @param most largest number of records
 * @param tooMany the error if there are more
 * @throws DataError when the tree is damaged, or states another number of records
 */
export function recordsOf(
  read: ReadBytes,
  address: number,
  types: readonly number[],
  most: number,
  tooMany: (most: number) => DataError,
): DataView[] {
  const tree = readTree(read, address, types);
  if (tree.total > most) throw tooMany(most);
  const found: DataView[] = [];
  const visit = (start: number, level: number, records: number): void => {
    const node = readNode(read, start, { level, records }, tree);
    for (let i = 0; i <= records; i++) {
      if (level > 0) {
        const pointer = PREFIX + records * tree.recordBytes + i * tree.pointerBytes[level];
        visit(unsigned(node, pointer), level - 1, unsigned(node, pointer + 8, tree.countBytes));
      }
      if (i < records)
        found.push(new DataView(node.buffer, node.byteOffset + PREFIX + i * tree.recordBytes, tree.recordBytes));
      if (found.length > tree.total) break;
    }
  };
  if (tree.root !== null) visit(tree.root, tree.depth, tree.records);
  if (found.length !== tree.total) throw new DataError(`The tree at ${address} has not ${tree.total} records.`);
  return found;
}
