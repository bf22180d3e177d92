/** Reads a list of references in parts: parsed as a whole, a million entries would take ten times its size. */
import { DataError } from "../../shared/errors.js";
import { type DocumentReader, type Json, objectOf, parsed } from "../dataset/documents.js";

const TOGETHER = 1024;

const [QUOTE, BACKSLASH, COMMA, COLON, OPEN, CLOSE, LIST, END] = [...Buffer.from('"\\,:{}[]')];

/** An entry of a list: a text, or a target with an offset and a length. */
export type ReferenceValue = readonly [key: string, value: unknown];

export interface ListDocument {
  readonly rest: Json;
  /** The members of `refs`, or of the document of a list without a version. Throws DataError if they are not JSON. */
  readonly entries: Iterable<ReferenceValue>;
}

/** An object in a text: its start, the starts of its entries or groups of entries, and its end. */
interface Span {
  readonly from: number;
  readonly ends: readonly number[];
}

export function readList(place: string, bytes: Uint8Array, reader: DocumentReader): ListDocument {
  reader.count(place, bytes.length);
  reader.countValues(place, bytes);
  const { whole, refs, isVersioned } = spansOf(bytes);
  const span = isVersioned ? refs : whole;
  if (span === null) {
    const rest = parsed(place, bytes);
    return { rest, entries: Object.entries(objectOf(rest.refs)) };
  }
  const cut = Buffer.concat([bytes.subarray(0, span.from), bytes.subarray(span.ends.at(-1))]);
  return { rest: parsed(place, cut), entries: entriesOf(place, bytes, span) };
}

function* entriesOf(place: string, bytes: Uint8Array, { from, ends }: Span): Generator<ReferenceValue> {
  let at = from;
  for (const end of ends) {
    const entries = Object.entries(parsed(place, braced(bytes.subarray(at, end))));
    if (entries.length === 0 && ends.length > 1) throw new DataError(`${place} is not readable as JSON`);
    yield* entries;
    at = end + 1;
  }
}

const braced = (bytes: Uint8Array): Buffer => Buffer.concat([Buffer.from("{"), bytes, Buffer.from("}")]);

function spansOf(bytes: Uint8Array): { whole: Span | null; refs: Span | null; isVersioned: boolean } {
  const open: { from: number; ends: number[]; count: number }[] = [];
  let [depth, start, name, isVersioned] = [0, -1, "", false];
  let [whole, refs] = [null as Span | null, null as Span | null];
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      start = at + 1;
      for (at++; at < bytes.length && bytes[at] !== QUOTE; at++) if (bytes[at] === BACKSLASH) at++;
      if (depth === 1) name = Buffer.from(bytes.subarray(start, Math.min(at, start + 16))).toString("latin1");
    } else if (byte === COLON) {
      if (depth === 1 && name === "version") isVersioned = true;
    } else if (byte === OPEN || byte === LIST) {
      depth++;
      if (byte === OPEN && (depth === 1 || (depth === 2 && name === "refs")))
        open[depth] = { from: at + 1, ends: [], count: 0 };
    } else if (byte === COMMA) {
      const span = open[depth];
      if (span !== undefined && ++span.count % TOGETHER === 0) span.ends.push(at);
    } else if (byte === CLOSE || byte === END) {
      const span = open[depth];
      if (span !== undefined) {
        span.ends.push(at);
        if (depth === 1) whole = span;
        else refs = span;
        delete open[depth];
      }
      depth--;
    }
  }
  return { whole, refs, isVersioned };
}
