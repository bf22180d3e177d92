/** Reads the extensible array, the chunk index since format 1.10 for data unbounded in one dimension. */
import { DataError } from "../../../shared/errors.js";
import { addressAt, checkedBytes, type ReadBytes, unsigned } from "../bytes.js";
import { CHECKSUM } from "../checksum.js";
import { type ChunkGrid, chunkNumbers, entryAt, entryRanges, kept, type Lookup } from "./lookup.js";

/**
 * The content of the header. The first entries are in the index block, all others in data blocks. These come in levels:
 * level k has 2^floor(k / 2) blocks of `smallest` * 2^ceil(k / 2) entries. The blocks of the lower levels are found in
 * the index block, those of each higher one in a super block. Blocks of more than a page of entries are cut into pages.
 */
interface Header {
  readonly owner: number;
  readonly entryBytes: number;
  readonly direct: number;
  readonly smallest: number;
  /** Levels whose data blocks are found in the index block. */
  readonly lowLevels: number;
  readonly levels: number;
  readonly pageEntries: number;
  /** Bytes before the content of a data or super block; a data block in pages has its checksum after them. */
  readonly prefix: number;
  readonly used: number;
  /** Address of the index block; null if there is none. */
  readonly indexBlock: number | null;
}

const ADDRESS = 8;
const INDEX_PREFIX = 14;

/**
 * Source: HDF5 file format specification 4.0, section VII.D; that the bits of pages run on from one data block to the
 * next, without a byte begun for each, is how the HDF5 library 1.10 to 2.0 writes and reads them.
 * @param address of its header
 * @throws DataError, also from the lookup, when it is cut short or not for such chunks
 */
export function extensibleArray(read: ReadBytes, address: number, grid: ChunkGrid): Lookup {
  if (grid.maxShape.filter((length) => length === Number.POSITIVE_INFINITY).length !== 1)
    throw new DataError("Chunks in an extensible array need one dimension without a bound.");
  const { numberOf } = chunkNumbers(grid);
  const header = readHeader(read, address);
  const { indexBlock, direct, entryBytes } = header;
  if (indexBlock === null) return () => null;
  const { view, firstBlocks, superBlocks } = readIndexBlock(read, indexBlock, header);
  const superBlockAt = kept((start: number, level: number) => readSuperBlock(read, start, level, header));
  const rangeAt = entryRanges(read);
  const dataBlock = { signature: "EADB", owner: address, prefix: header.prefix };
  const wholeBlock = (at: number, count: number, entry: number) =>
    rangeAt(at, { count, entryBytes, block: dataBlock }, entry);
  return (first) => {
    const number = numberOf(first);
    if (number >= header.used) return null;
    if (number < direct) return entryAt(view, INDEX_PREFIX + number * entryBytes, entryBytes);
    const { level, blockEntries, nth, entry } = placeIn(header, number - direct);
    if (level < header.lowLevels) {
      const block = addressAt(view, firstBlocks + ADDRESS * (blocksBelow(level) + nth));
      return block === null ? null : wholeBlock(block, blockEntries, entry);
    }
    const start = addressAt(view, superBlocks + ADDRESS * (level - header.lowLevels));
    if (start === null) return null;
    const superBlock = superBlockAt(start, level);
    const block = addressAt(superBlock.view, superBlock.blocks + ADDRESS * nth);
    if (block === null) return null;
    if (superBlock.pages === 0) return wholeBlock(block, blockEntries, entry);
    const { pageEntries } = header;
    const page = Math.floor(entry / pageEntries);
    const bit = nth * superBlock.pages + page;
    if ((superBlock.view.getUint8(header.prefix + (bit >> 3)) & (0x80 >> (bit & 7))) === 0) return null;
    const pages = block + header.prefix + CHECKSUM;
    const at = pages + page * (pageEntries * entryBytes + CHECKSUM);
    return rangeAt(at, { count: pageEntries, entryBytes, block: null }, entry - page * pageEntries);
  };
}

function readHeader(read: ReadBytes, address: number): Header {
  const header = checkedBytes(read, "EAHD", address, 68);
  const bits = header.getUint8(7);
  const smallest = header.getUint8(9);
  const levels = 1 + bits - Math.log2(smallest);
  const lowLevels = 2 * Math.log2(header.getUint8(10));
  if (!(Number.isInteger(levels) && Number.isInteger(lowLevels) && lowLevels > 0 && lowLevels <= levels))
    throw new DataError(`The array at ${address} has impossible blocks.`);
  return {
    owner: address,
    entryBytes: header.getUint8(6),
    direct: header.getUint8(8),
    smallest,
    lowLevels,
    levels,
    pageEntries: 2 ** header.getUint8(11),
    prefix: INDEX_PREFIX + Math.ceil(bits / 8),
    used: unsigned(header, 44),
    indexBlock: addressAt(header, 60),
  };
}

function readIndexBlock(read: ReadBytes, start: number, { owner, direct, entryBytes, lowLevels, levels }: Header) {
  const firstBlocks = INDEX_PREFIX + direct * entryBytes;
  const superBlocks = firstBlocks + ADDRESS * blocksBelow(lowLevels);
  const view = checkedBytes(read, "EAIB", start, superBlocks + ADDRESS * (levels - lowLevels), owner);
  return { view, firstBlocks, superBlocks };
}

/** A super block, the offset of data block addresses in it, and the pages of each block, 0 for one without pages. */
function readSuperBlock(
  read: ReadBytes,
  start: number,
  level: number,
  { owner, smallest, pageEntries, prefix }: Header,
) {
  const { blocks: count, blockEntries } = levelOf(smallest, level);
  const pages = blockEntries > pageEntries ? blockEntries / pageEntries : 0;
  const blocks = prefix + count * Math.ceil(pages / 8);
  return { view: checkedBytes(read, "EASB", start, blocks + ADDRESS * count, owner), blocks, pages };
}

function placeIn({ smallest }: Header, number: number) {
  const level = Math.floor(Math.log2(Math.floor(number / smallest) + 1));
  const { blockEntries } = levelOf(smallest, level);
  const inLevel = number - smallest * (2 ** level - 1);
  return { level, blockEntries, nth: Math.floor(inLevel / blockEntries), entry: inLevel % blockEntries };
}

function levelOf(smallest: number, level: number) {
  return { blocks: 2 ** Math.floor(level / 2), blockEntries: smallest * 2 ** Math.ceil(level / 2) };
}

function blocksBelow(level: number): number {
  let blocks = 0;
  for (let below = 0; below < level; below++) blocks += 2 ** Math.floor(below / 2);
  return blocks;
}
