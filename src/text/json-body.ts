/** Reads a JSON body, with long lists of points as numbers; worker threads read long bodies. */
import { RequestError } from "../shared/errors.js";

const [QUOTE, BACKSLASH, COLON] = [0x22, 0x5c, 0x3a];

/** Rows from which on points are numbers in a row: thousands of lists are slow to pass between threads. */
const MANY_ROWS = 1000;

/** Rows of numbers. */
export interface Rows {
  readonly rows: Float64Array;
  readonly width: number;
}

/** Parses a body; a long list of points in it becomes `Rows`. @throws RequestError in one line, also if a member is there twice */
export function readJsonBody(body: Buffer): unknown {
  let [value, isDoubled] = [undefined as unknown, false];
  try {
    value = JSON.parse(body.toString("utf8"));
    isDoubled = hasDoubledMember(value, body);
  } catch (error) {
    // A list in a list in a list, thousands of times, overflows the stack.
    const text = error instanceof RangeError ? "The body is nested too deeply." : "The body is not JSON.";
    throw new RequestError("InvalidRequest", text, { member: "body" });
  }
  if (isDoubled) throw new RequestError("InvalidRequest", "The body gives a member twice.", { member: "body" });
  if (typeof value === "object" && value !== null && "points" in value) {
    const rows = rowsOf(value.points);
    if (rows !== null) value.points = rows;
  }
  return value;
}

/** Points as numbers in a row; null if they are few, or no rows of as many finite numbers each. */
function rowsOf(points: unknown): Rows | null {
  if (!Array.isArray(points) || points.length <= MANY_ROWS || !Array.isArray(points[0])) return null;
  const width = points[0].length;
  if (width < 3 || width > 7) return null;
  const rows = new Float64Array(width * points.length);
  for (const [r, row] of points.entries()) {
    if (!Array.isArray(row) || row.length !== width) return null;
    for (let c = 0; c < width; c++) {
      if (!Number.isFinite(row[c])) return null;
      rows[width * r + c] = row[c];
    }
  }
  return { rows, width };
}

/** Whether an object of a JSON text has two members of one name, of which the value has one. */
export function hasDoubledMember(value: unknown, bytes: Uint8Array): boolean {
  return countNames(value) < countColons(bytes);
}

function countNames(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const members = Object.values(value);
  return members.reduce<number>((sum, member) => sum + countNames(member), Array.isArray(value) ? 0 : members.length);
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
