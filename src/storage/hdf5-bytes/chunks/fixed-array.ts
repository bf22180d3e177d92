/** Reads the fixed array, the chunk index since format 1.10 for bounded data. */
import { DataError } from "../../../shared/errors.js";
import { addressAt, checkedBytes, type ReadBytes, unsigned } from "../bytes.js";
import { CHECKSUM } from "../checksum.js";
import { type ChunkGrid, chunkNumbers, entryRanges, type Lookup } from "./lookup.js";

const PREFIX = 14;

/**
 * Source: HDF5 file format specification 4.0, section VII.C. @throws DataError when it is cut short or not for such
 * chunks
 */
export function fixedArray(read: ReadBytes, address: number, grid: ChunkGrid): Lookup {
  const { numberOf, total } = chunkNumbers(grid);
  const header = checkedBytes(read, "FAHD", address, 24);
  const entryBytes = header.getUint8(6);
  const pageEntries = 2 ** header.getUint8(7);
  if (unsigned(header, 8) !== total) throw new DataError(`The array at ${address} is not one of ${total} chunks.`);
  const block = addressAt(header, 16);
  if (block === null) return () => null;
  const rangeAt = entryRanges(read);
  if (total <= pageEntries) {
    const range = { count: total, entryBytes, block: { signature: "FADB", owner: address, prefix: PREFIX } };
    return (first) => rangeAt(block, range, numberOf(first));
  }
  const mapBytes = Math.ceil(Math.ceil(total / pageEntries) / 8);
  const map = checkedBytes(read, "FADB", block, PREFIX + mapBytes, address);
  const pages = block + PREFIX + mapBytes + CHECKSUM;
  return (first) => {
    const number = numberOf(first);
    const page = Math.floor(number / pageEntries);
    // A page whose bit is not set was never written; its space is reserved.
    if ((map.getUint8(PREFIX + (page >> 3)) & (0x80 >> (page & 7))) === 0) return null;
    const count = Math.min(pageEntries, total - page * pageEntries);
    const start = pages + page * (pageEntries * entryBytes + CHECKSUM);
    return rangeAt(start, { count, entryBytes, block: null }, number - page * pageEntries);
  };
}
