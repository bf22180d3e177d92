/** Reads a JSON body, with long lists of points as numbers; worker threads read long bodies. */
import { RequestError } from "../shared/errors.js";
import { type Rows, readRows } from "./rows.js";

const [QUOTE, BACKSLASH, COLON] = [0x22, 0x5c, 0x3a];

/** Rows from which on points are numbers in a row: thousands of lists are slow to pass between threads. */
const MANY_ROWS = 1000;

/** Characters of points in text from which on they are read with the body. */
const MANY_CHARACTERS = 16 * 1024;

/** Values that a body may have beside rows of points; text counts by its length. They are read on the main thread. */
const MOST_VALUES = 200_000;
const CHARACTERS_OF_VALUE = 8;

/** Rows that were read with the body, or what is wrong with one of them. */
interface HeldRows extends Rows {
  readonly fault?: { readonly member: string; readonly text: string };
}

/** Parses a body; long lists of points in it become `HeldRows`. @throws RequestError in one line, also if a member is there twice */
export function readJsonBody(body: Buffer): unknown {
  let [value, isDoubled, size] = [undefined as unknown, false, 0];
  try {
    value = JSON.parse(body.toString("utf8"));
    isDoubled = hasDoubledMember(value, body);
    for (const one of Array.isArray(value) ? value : [value])
      if (typeof one === "object" && one !== null && "points" in one) one.points = withRows(one.points);
    size = sizeOf(value);
  } catch (error) {
    // A list in a list in a list, thousands of times, overflows the stack.
    const text = error instanceof RangeError ? "The body is nested too deeply." : "The body is not JSON.";
    throw new RequestError("InvalidRequest", text, { member: "body" });
  }
  if (isDoubled) throw new RequestError("InvalidRequest", "The body gives a member twice.", { member: "body" });
  if (size > MOST_VALUES) {
    const text = `Beside rows of points, a body has at most ${MOST_VALUES} values, and 8 characters of text count as one.`;
    throw new RequestError("InvalidRequest", text, { member: "body" });
  }
  return value;
}

/** Points with long lists of rows as numbers. */
function withRows(points: unknown): unknown {
  if (typeof points === "string" && points.length > MANY_CHARACTERS) {
    if (!/^\s*[[{]/.test(points)) return rowsIn(points, "points");
    const value = JSON.parse(points);
    return hasDoubledMember(value, Buffer.from(points)) ? points : withRows(value);
  }
  if (Array.isArray(points)) return points.length > MANY_ROWS ? rowsIn(points, "points") : points;
  if (typeof points !== "object" || points === null) return points;
  for (const name of ["pairs", "tetrads"]) {
    const list = (points as Record<string, unknown>)[name];
    if (Array.isArray(list) && list.length > MANY_ROWS) return { ...points, [name]: rowsIn(list, `points.${name}`) };
  }
  return points;
}

/** A fault is kept: it is told with the others of its question. */
function rowsIn(given: readonly unknown[] | string, member: string): HeldRows {
  try {
    return readRows(given, member);
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    return {
      rows: new Float64Array(),
      width: 3,
      fault: { member: error.context.member ?? member, text: error.message },
    };
  }
}

export function isRows(value: unknown): value is HeldRows {
  return typeof value === "object" && value !== null && "rows" in value && value.rows instanceof Float64Array;
}

/** @throws RequestError of what was wrong with them */
export function heldRows({ fault, ...rows }: HeldRows): Rows {
  if (fault === undefined) return rows;
  throw new RequestError("InvalidRequest", fault.text, { member: fault.member });
}

function sizeOf(value: unknown): number {
  if (typeof value === "string") return 1 + value.length / CHARACTERS_OF_VALUE;
  if (typeof value !== "object" || value === null || isRows(value)) return 1;
  let size = 1;
  if (Array.isArray(value)) for (const member of value) size += sizeOf(member);
  else for (const [name, member] of Object.entries(value)) size += name.length / CHARACTERS_OF_VALUE + sizeOf(member);
  return size;
}

/** Whether an object of a JSON text has two members of one name, of which the value has one. */
export function hasDoubledMember(value: unknown, bytes: Uint8Array): boolean {
  return countNames(value) < countColons(bytes);
}

function countNames(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const members = Array.isArray(value) ? value : Object.values(value);
  let names = members === value ? 0 : members.length;
  for (const member of members) names += countNames(member);
  return names;
}

function countColons(bytes: Uint8Array): number {
  let [colons, inText] = [0, false];
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) inText = !inText;
    else if (inText && byte === BACKSLASH) at++;
    else if (!inText && byte === COLON) colons++;
  }
  return colons;
}
