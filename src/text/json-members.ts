/** Members of the text of a JSON object, with arrays of points read in bounded memory. */
import { excerpt, LimitError, RequestError } from "../shared/errors.js";

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Longest name of a member, and longest value that is neither points nor a flat list. */
const NAME_BYTES = 4 * 1024;
const VALUE_BYTES = 64 * 1024;
/** Text of points that is parsed at a time: `JSON.parse` takes up to thirty times the memory of its text. */
const ROWS_BYTES = 64 * 1024;
const SHORTEST_ROW = 8;

const MALFORMED = "The body is not JSON: ";

/** A member of an object: points as x, y, z, x, y, z, ..., or any other value as its text. */
export type JsonMember =
  | { readonly name: string; readonly text: string }
  | { readonly name: string; readonly triples: Float32Array };

export interface TextRange {
  readonly from: number;
  readonly to: number;
}

/** Whether an error, also of another thread, says that a text is not JSON. */
export function isMalformed(error: unknown): boolean {
  return error instanceof RequestError && error.message.startsWith(MALFORMED);
}

function malformed(what: string): RequestError {
  return new RequestError("InvalidRequest", `${MALFORMED}${what}.`);
}

function refuse(member: string, message: string): RequestError {
  return new RequestError("InvalidRequest", message, { member });
}

/**
 * Reads an object. @param arrays members that are arrays of points @throws RequestError naming the first wrong member
 */
export function readMembers(bytes: Buffer, arrays: readonly string[]): JsonMember[] {
  const members: JsonMember[] = [];
  for (const { name, from, to } of rangesOfMembers(bytes)) {
    if (arrays.includes(name)) members.push({ name, triples: readRows(bytes, name, from, to) });
    else members.push({ name, text: readValue(bytes, name, from, to) });
  }
  return members;
}

/** Members of an object, their values unchecked. @throws RequestError if a name is given twice */
export function* rangesOfMembers(bytes: Buffer): Generator<TextRange & { readonly name: string }> {
  const seen = new Set<string>();
  let at = skipSpace(bytes, 0);
  if (bytes[at] !== OPEN_OBJECT) throw malformed("it must be an object");
  const first = skipSpace(bytes, at + 1);
  for (let more = bytes[first] !== CLOSE_OBJECT; more; more = bytes[at] === COMMA) {
    const colon = endOf(bytes, at + 1);
    if (bytes[colon] !== COLON || colon - at > NAME_BYTES) throw malformed("a name and a colon are expected");
    const name = parseJson(bytes, { from: at + 1, to: colon }, "a name");
    if (typeof name !== "string") throw malformed("a name is no string");
    if (seen.has(name)) throw refuse(name.slice(0, 64), "A member is given twice.");
    seen.add(name);
    at = endOf(bytes, colon + 1);
    yield { name, from: skipSpace(bytes, colon + 1), to: at };
  }
  if (seen.size === 0) at = first;
  if (bytes[at] !== CLOSE_OBJECT || skipSpace(bytes, at + 1) < bytes.length) throw malformed("the object does not end");
}

/** Items of a list, unchecked. */
export function* rangesOfItems(bytes: Buffer, { from, to }: TextRange): Generator<TextRange> {
  let at = skipSpace(bytes, from);
  if (bytes[at] !== OPEN_LIST) throw malformed("it must be a list");
  const first = skipSpace(bytes, at + 1);
  if (bytes[first] === CLOSE_LIST) at = first;
  else
    do {
      const begin = at + 1;
      at = endOf(bytes, begin);
      yield { from: skipSpace(bytes, begin), to: at };
    } while (bytes[at] === COMMA);
  if (bytes[at] !== CLOSE_LIST || skipSpace(bytes, at + 1) < to) throw malformed("a list does not end");
}

function skipSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09) at++;
  return at;
}

/** Index of the comma, colon or bracket after a value, or of the end. */
function endOf(bytes: Buffer, from: number): number {
  let depth = 0;
  let inString = false;
  let at = from;
  for (; at < bytes.length; at++) {
    const byte = bytes[at];
    if (inString) {
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) inString = true;
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) depth++;
    else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      if (depth-- === 0) break;
    } else if (depth === 0 && (byte === COMMA || byte === COLON)) break;
  }
  return Math.min(at, bytes.length);
}

export function parseJson(bytes: Buffer, { from, to }: TextRange, what: string): unknown {
  try {
    return JSON.parse(bytes.toString("utf8", from, to));
  } catch {
    throw malformed(`${what} is malformed`);
  }
}

/** Text of a value. A long one must be a list without lists, objects or strings. */
function readValue(bytes: Buffer, name: string, from: number, to: number): string {
  const begin = skipSpace(bytes, from);
  if (to - begin > VALUE_BYTES) {
    const inner = bytes.subarray(begin + 1, to);
    const isFlat = bytes[begin] === OPEN_LIST && [OPEN_LIST, OPEN_OBJECT, QUOTE].every((byte) => !inner.includes(byte));
    if (!isFlat) throw new LimitError("json.valueBytes", `A member has more than ${VALUE_BYTES} bytes.`);
  }
  parseJson(bytes, { from: begin, to }, `the value of ${excerpt(name)}`);
  return bytes.toString("utf8", begin, to).trimEnd();
}

/** Reads rows of three numbers, each rounded to float32 after it has been rounded to float64. */
function readRows(bytes: Buffer, name: string, from: number, to: number): Float32Array {
  const begin = skipSpace(bytes, from) + 1;
  const end = bytes.lastIndexOf(CLOSE_LIST, to - 1);
  if (bytes[begin - 1] !== OPEN_LIST) throw refuse(name, `${name} must be a list of [x, y, z].`);
  if (end < begin || skipSpace(bytes, end + 1) < to) throw malformed(`the list of ${name} does not end`);
  const triples = new Float32Array(3 * Math.ceil((end - begin + 1) / SHORTEST_ROW));
  if (skipSpace(bytes, begin) === end) return triples.subarray(0, 0);
  let count = 0;
  for (let at = begin; ; ) {
    let cut = end;
    if (end - at > ROWS_BYTES) {
      cut = bytes.lastIndexOf(CLOSE_LIST, at + ROWS_BYTES) + 1;
      if (cut <= at) throw refuse(`${name}[${count}]`, `${name}[${count}] must be a list of three numbers.`);
    }
    count = addRows(bytes.toString("latin1", at, cut), name, triples, count);
    at = skipSpace(bytes, cut);
    if (at === end) return triples.slice(0, 3 * count);
    if (bytes[at++] !== COMMA) throw malformed(`a comma is expected after ${name}[${count - 1}]`);
  }
}

function addRows(text: string, name: string, triples: Float32Array, count: number): number {
  let rows: unknown[];
  try {
    rows = JSON.parse(`[${text}]`) as unknown[];
  } catch {
    throw wrongRow(text, name, count);
  }
  if (rows.length === 0) throw wrongRow(text, name, count);
  let at = 3 * count;
  for (const row of rows) {
    if (!Array.isArray(row) || row.length !== 3) throw wrongRow(text, name, count);
    for (const value of row as unknown[]) {
      const single = typeof value === "number" ? Math.fround(value) : Number.NaN;
      if (!Number.isFinite(single)) throw wrongRow(text, name, count);
      triples[at++] = single;
    }
  }
  return at / 3;
}

const ROW = /^\s*\[([^,[\]]*),([^,[\]]*),([^,[\]]*)$/;
const NUMBER = /^\s*-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?\s*$/;

function wrongRow(text: string, name: string, count: number): RequestError {
  const parts = text.trimEnd().split(/\](?:\s*,)?/);
  if (text.trimEnd().endsWith("]")) parts.pop();
  for (const [i, part] of parts.entries()) {
    const row = `${name}[${count + i}]`;
    const cells = ROW.exec(part)?.slice(1);
    if (cells === undefined) return refuse(row, `${row} must be a list of three numbers.`);
    for (const [c, cell] of cells.entries()) {
      const member = `${row}.${"xyz".charAt(c)}`;
      if (!NUMBER.test(cell)) return refuse(member, `${member} must be a number, not ${excerpt(cell.trim())}.`);
      if (!Number.isFinite(Math.fround(Number(cell))))
        return new RequestError("OutOfRange", `${member} is not a finite float32.`, { member });
    }
  }
  return malformed(`${name} has a malformed row`);
}
