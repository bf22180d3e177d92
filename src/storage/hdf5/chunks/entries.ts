/** Entries of a fixed or extensible array: one for each chunk, which begins with its address. */
import { addressAt, type OpenBytes, type ReadBytes } from "../bytes.js";
import { kept } from "./lookup.js";

/** A run of entries in the file. */
interface Run {
  readonly count: number;
  /** Bytes of one entry: those of filtered chunks have a size and a mask besides the address. */
  readonly entryBytes: number;
}

/** Reads runs of entries by their addresses: 1 for a chunk that has an address, 0 for one that has none. */
export function entryRuns(bytes: OpenBytes) {
  return kept((address: number, run: Run) => bytes((read) => entries(read, address, run)));
}

function entries(read: ReadBytes, address: number, { count, entryBytes }: Run): Uint8Array {
  const stored = read(address, count * entryBytes);
  return Uint8Array.from({ length: count }, (_, i) => (addressAt(stored, i * entryBytes) === null ? 0 : 1));
}
