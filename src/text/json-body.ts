/** Reads a JSON body, with long lists of points as numbers; worker threads read long bodies. */
import { RequestError } from "../shared/errors.js";
import { type Rows, readRows } from "./rows.js";

const [QUOTE, BACKSLASH, COLON] = [0x22, 0x5c, 0x3a];

/** Rows, and characters of text, from which on points are numbers in a row: lists are slow to pass between threads. */
const MANY_ROWS = 1000;
const MANY_CHARACTERS = 16 * 1024;

/** Most values besides rows of points, read on the main thread; characters of text that count as one value. */
const MAX_VALUES = 200_000;
const CHARACTERS = 8;

/** Parses a body; long lists of points in it become `Rows`. @throws RequestError in one line, also if a member is there twice */
export function readJsonBody(body: Buffer): unknown {
  const wrong = (text: string) => new RequestError("InvalidRequest", text, { member: "body" });
  let [value, names, size] = [undefined as unknown, 0, 0];
  try {
    value = JSON.parse(body.toString("utf8"));
    for (const one of Array.isArray(value) ? value : [value]) holdRows(one);
    [names, size] = measure(value);
  } catch (error) {
    if (error instanceof RequestError) throw error;
    // A list in a list in a list, thousands of times, overflows the stack.
    throw wrong(error instanceof RangeError ? "The body is nested too deeply." : "The body is not JSON.");
  }
  if (names < countColons(body)) throw wrong("The body gives a member twice.");
  if (size <= MAX_VALUES) return value;
  throw wrong(`Beside rows of points, a body has at most ${MAX_VALUES} values; ${CHARACTERS} letters count as one.`);
}

function holdRows(question: Record<string, unknown> | null): void {
  const points = question?.points;
  if (isLong(points)) (question as Record<string, unknown>).points = readRows(points, "points");
  if (typeof points !== "object" || points === null || Array.isArray(points)) return;
  const groups = points as Record<string, unknown>;
  for (const name of ["pairs", "tetrads"])
    if (isLong(groups[name])) groups[name] = readRows(groups[name], `points.${name}`);
}

function isLong(points: unknown): points is string | readonly unknown[] {
  if (typeof points === "string") return points.length > MANY_CHARACTERS && !/^\s*[[{]/.test(points);
  return Array.isArray(points) && points.length > MANY_ROWS;
}

export function isRows(value: unknown): value is Rows {
  return typeof value === "object" && value !== null && "rows" in value && value.rows instanceof Float64Array;
}

/** Whether an object of a JSON text has two members of one name, of which the value has one. */
export function hasDoubledMember(value: unknown, bytes: Uint8Array): boolean {
  return measure(value)[0] < countColons(bytes);
}

function measure(value: unknown): [names: number, size: number] {
  let [names, size] = [0, 0];
  const walk = (one: unknown): void => {
    size += typeof one === "string" ? 1 + one.length / CHARACTERS : 1;
    if (Array.isArray(one)) for (const member of one) walk(member);
    else if (typeof one === "object" && one !== null && !isRows(one))
      for (const [name, member] of Object.entries(one)) {
        names++;
        size += name.length / CHARACTERS;
        walk(member);
      }
  };
  walk(value);
  return [names, size];
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
