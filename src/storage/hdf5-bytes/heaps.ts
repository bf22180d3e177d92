/**
 * Objects in heaps: texts and lists in the global heap, names in local heaps, and attributes, links and messages in
 * fractal heaps.
 *
 * Source: HDF5 file format specification 4.0, sections III.D (local), III.E (global) and III.G (fractal).
 */
import { DataError } from "../../shared/errors.js";
import { addressAt, bufferOf, checkedBytes, type ReadBytes, signedBytes, unsigned } from "./bytes.js";
import { checkInnerSum } from "./checksum.js";
import { bytesFor, recordsOf } from "./second-tree-nodes.js";

const OBJECT_HEAD = 16;
/** Most bytes of a global collection or of one object: of texts and references that describe data. */
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_HUGE = 65_536;
/** Bytes of a name in a local heap, at most. */
const MAX_NAME = 65_536;
const NAME_STEP = 256;
const BLOCKS_KEPT = 64;

/** An object of the global heap. Throws DataError when it is missing, or its collection is damaged. */
export function globalObject(read: ReadBytes, address: number, index: number): Buffer {
  const size = unsigned(signedBytes(read, "GCOL", address, OBJECT_HEAD), 8);
  if (size > MAX_BYTES) throw new DataError(`The collection at ${address} has ${size} bytes.`);
  const end = address + size;
  // A collection that reaches beyond the file is damaged.
  read(end, 0);
  for (let at = address + OBJECT_HEAD; at + OBJECT_HEAD <= end; ) {
    const object = read(at, OBJECT_HEAD);
    const [number, bytes] = [object.getUint16(0, true), unsigned(object, 8)];
    if (number === 0 || at + OBJECT_HEAD + bytes > end) break;
    if (number === index) return bufferOf(read(at + OBJECT_HEAD, bytes));
    at += OBJECT_HEAD + 8 * Math.ceil(bytes / 8);
  }
  throw new DataError(`There is no object ${index} in the collection at ${address}.`);
}

export function localNames(read: ReadBytes, address: number): (offset: number) => Buffer {
  const heap = signedBytes(read, "HEAP", address, 32);
  const [size, segment] = [unsigned(heap, 8), unsigned(heap, 24)];
  return (offset) => {
    for (let step = NAME_STEP; ; step *= 4) {
      const length = Math.min(step, MAX_NAME, size - offset);
      const bytes = bufferOf(read(segment + offset, length));
      const end = bytes.indexOf(0);
      if (end >= 0) return bytes.subarray(0, end);
      if (length < step) throw new DataError(`A name in the heap at ${address} has no end.`);
    }
  };
}

export type ReadObject = (id: DataView) => DataView;

interface Heap {
  readonly address: number;
  readonly idBytes: number;
  /** Bytes of an offset and of a length in an identifier. */
  readonly offsetBytes: number;
  readonly lengthBytes: number;
  readonly hugeTree: number | null;
  /** Blocks in a row, bytes of the smallest block, and rows of direct blocks. */
  readonly width: number;
  readonly smallest: number;
  readonly directRows: number;
  readonly root: number | null;
  /** Rows of the root; 0 if it is a direct block. */
  readonly rootRows: number;
  readonly hasSums: boolean;
  readonly blocks: Map<number, DataView>;
}

export function fractalHeap(read: ReadBytes, address: number): ReadObject {
  const heap = readHeap(read, address);
  return (id) => {
    const [kind, first] = [(id.getUint8(0) >> 4) & 3, id.getUint8(0)];
    if (first >> 6 !== 0 || id.byteLength < heap.idBytes)
      throw new DataError(`An object of the heap at ${address} has no place.`);
    if (kind === 0)
      return managed(
        read,
        heap,
        unsigned(id, 1, heap.offsetBytes),
        unsigned(id, 1 + heap.offsetBytes, heap.lengthBytes),
      );
    if (kind === 1) return huge(read, heap, id);
    // The identifier of a tiny object contains the object, after its length less 1.
    const isLong = heap.idBytes > 17;
    const length = 1 + (isLong ? ((first & 0x0f) << 8) | id.getUint8(1) : first & 0x0f);
    return new DataView(id.buffer, id.byteOffset + (isLong ? 2 : 1), length);
  };
}

function readHeap(read: ReadBytes, address: number): Heap {
  const head = checkedHeap(read, address);
  if (head.getUint16(7, true) !== 0) throw new DataError(`The heap at ${address} has filters, which are not read.`);
  const [smallest, mostDirect] = [unsigned(head, 112), unsigned(head, 120)];
  const mostManaged = head.getUint32(10, true);
  const width = head.getUint16(110, true);
  const directRows = Math.log2(mostDirect / smallest) + 2;
  if (!(width > 0 && Number.isInteger(directRows) && directRows >= 2 && mostDirect <= MAX_BYTES && mostManaged > 0))
    throw new DataError(`The heap at ${address} has impossible blocks.`);
  return {
    address,
    idBytes: head.getUint16(5, true),
    offsetBytes: Math.ceil(head.getUint16(128, true) / 8),
    lengthBytes: Math.min(Math.ceil(Math.log2(mostDirect) / 8), bytesFor(mostManaged)),
    hugeTree: addressAt(head, 22),
    width,
    smallest,
    directRows,
    root: addressAt(head, 132),
    rootRows: head.getUint16(140, true),
    hasSums: (head.getUint8(9) & 2) !== 0,
    blocks: new Map(),
  };
}

const checkedHeap = (read: ReadBytes, address: number): DataView => checkedBytes(read, "FRHP", address, 142);

function managed(read: ReadBytes, heap: Heap, offset: number, length: number): DataView {
  const { width, smallest, directRows } = heap;
  let [block, rows, inside] = [heap.root, heap.rootRows, offset];
  while (block !== null && rows > 0) {
    const view = indirectBlock(read, heap, block, rows);
    let [row, size] = [0, smallest];
    for (; row < rows && inside >= width * size; row++) {
      inside -= width * size;
      size = row === 0 ? smallest : 2 * size;
    }
    if (row === rows) break;
    const at = INDIRECT_HEAD + heap.offsetBytes + 8 * (row * width + Math.floor(inside / size));
    block = addressAt(view, at);
    inside %= size;
    // Rows below an indirect block hold as many bytes as it does.
    rows = row < directRows ? 0 : Math.log2(size / smallest) - Math.log2(width) + 1;
    if (rows === 0 && inside + length > size) break;
    if (rows === 0 && block !== null) return directBytes(read, heap, block, size, inside, length);
  }
  if (heap.rootRows === 0 && heap.root !== null && offset + length <= smallest)
    return directBytes(read, heap, heap.root, smallest, offset, length);
  throw new DataError(`The heap at ${heap.address} has no ${length} bytes at ${offset}.`);
}

const INDIRECT_HEAD = 13;

function indirectBlock(read: ReadBytes, heap: Heap, address: number, rows: number): DataView {
  if (!(rows < 64)) throw new DataError(`The heap at ${heap.address} has impossible blocks.`);
  const bytes = INDIRECT_HEAD + heap.offsetBytes + 8 * rows * heap.width;
  const view = checkedBytes(read, "FHIB", address, bytes);
  if (unsigned(view, 5) !== heap.address) throw new DataError(`The block at ${address} is not one of its heap.`);
  return view;
}

function directBytes(
  read: ReadBytes,
  heap: Heap,
  block: number,
  size: number,
  inside: number,
  length: number,
): DataView {
  let view = heap.blocks.get(block);
  if (view === undefined) {
    view = signedBytes(read, "FHDB", block, size);
    if (unsigned(view, 5) !== heap.address) throw new DataError(`The block at ${block} is not one of its heap.`);
    if (heap.hasSums) checkInnerSum(view, INDIRECT_HEAD + heap.offsetBytes);
    if (heap.blocks.size === BLOCKS_KEPT) heap.blocks.clear();
    heap.blocks.set(block, view);
  }
  if (inside + length > size) throw new DataError(`The block at ${block} has no ${length} bytes at ${inside}.`);
  return new DataView(view.buffer, view.byteOffset + inside, length);
}

/** Types of the tree of huge objects without filters that are found by number. */
const HUGE_TYPES = [1];

const tooManyHuge = (most: number): DataError => new DataError(`a heap has more than ${most} huge objects`);

/** A huge object outside the blocks: its identifier holds its position, or its number in a tree. */
function huge(read: ReadBytes, heap: Heap, id: DataView): DataView {
  let place: DataView | undefined;
  if (heap.idBytes >= 17) place = new DataView(id.buffer, id.byteOffset + 1, 16);
  else {
    const number = unsigned(id, 1, Math.min(8, heap.idBytes - 1));
    const records = heap.hugeTree === null ? [] : recordsOf(read, heap.hugeTree, HUGE_TYPES, MAX_HUGE, tooManyHuge);
    place = records.find((record) => unsigned(record, 16) === number);
  }
  const length = place === undefined ? Number.POSITIVE_INFINITY : unsigned(place, 8);
  if (place === undefined || length > MAX_BYTES)
    throw new DataError(`The heap at ${heap.address} lacks a huge object.`);
  return read(unsigned(place, 0), length);
}
