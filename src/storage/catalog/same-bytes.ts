/**
 * Finds the bytes that all answers about a file rest on: a file that has the same ones gives the same answers, which
 * costs less to see than to ask again.
 */

import { type ByteRange, openPlace, type RangedFile } from "../hdf5-bytes/bytes.js";
import type { FilePart, Hdf5File } from "../hdf5-bytes/hdf5-file.js";
import { isLike, type Observation } from "./observed-file.js";

/** Most bytes that are kept of a file. */
const MOST_BYTES = 1024 * 1024;

/** What the answers about a file rest on. */
export interface BytesBehind {
  /** The offset of the HDF5 data in the file. */
  readonly start: number;
  readonly parts: readonly FilePart[];
  /** Addresses of the headers of which only a part is compared: they must not be damaged. */
  readonly headers: readonly number[];
}

/**
 * Reads what the answers about a file rest on; null if it gives others by now, or if they rest on too many bytes.
 *
 * @param opener an open file, which opens this one
 * @throws the error of the system or DataError when it is not there or not readable any more
 */
export function bytesBehind(path: string, observations: readonly Observation[], opener: Hdf5File): BytesBehind | null {
  const place = openPlace(path);
  const read: ByteRange[] = [];
  const recorded: RangedFile = {
    path,
    size: place.size,
    newestMs: 0,
    version: "",
    read: (bytes, position) => {
      read.push({ position, length: bytes.length });
      return place.read(bytes, position);
    },
    with: (_, use) => use(),
    fetched: (find) => find.map(() => true),
  };
  try {
    const file = opener.another(recorded);
    if (!isLike(file, observations)) return null;
    const { start } = file;
    // By the address of the object, which may have several paths.
    const nameOf = (at: string, attribute: string): string => `${file.address(at)}\n${attribute}`;
    const asked = new Set(
      observations.flatMap(({ question, path: at, name }) => (question === "attribute" ? [nameOf(at, name)] : [])),
    );
    const unread: ByteRange[] = [{ position: 0, length: start }];
    const headers: number[] = [];
    for (const { question, path: at } of observations) {
      if (question !== "kind") continue;
      const found = file.unread(at, (attribute) => asked.has(nameOf(at, attribute)));
      for (const { position, length } of found) unread.push({ position: start + position, length });
      if (found.length > 0) headers.push(file.address(at));
    }
    const ranges = without(joined(read), joined(unread));
    if (ranges.reduce((sum, { length }) => sum + length, 0) > MOST_BYTES) return null;
    const parts = ranges.map(({ position, length }) => {
      const bytes = Buffer.alloc(length);
      place.read(bytes, position);
      return { address: position - start, bytes };
    });
    return { start, parts, headers };
  } finally {
    place.close();
  }
}

/** Ranges in the order of the file, those that overlap or touch as one. */
function joined(ranges: readonly ByteRange[]): ByteRange[] {
  const out: { position: number; length: number }[] = [];
  for (const { position, length } of [...ranges].sort((a, b) => a.position - b.position)) {
    const last = out.at(-1);
    if (last === undefined || position > last.position + last.length) out.push({ position, length });
    else last.length = Math.max(last.length, position + length - last.position);
  }
  return out;
}

/** Ranges without others, both as `joined` gives them. */
function without(ranges: readonly ByteRange[], others: readonly ByteRange[]): ByteRange[] {
  return ranges.flatMap(({ position, length }) => {
    const end = position + length;
    const parts: ByteRange[] = [];
    let at = position;
    for (const other of others) {
      const first = Math.min(Math.max(other.position, at), end);
      if (first > at) parts.push({ position: at, length: first - at });
      at = Math.min(Math.max(at, other.position + other.length), end);
    }
    if (end > at) parts.push({ position: at, length: end - at });
    return parts;
  });
}
