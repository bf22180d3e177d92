/** Reads the JSON documents of a store, within bounds that are checked before parsing. */
import { DataError } from "../../shared/errors.js";
import { STORE_BOUNDS } from "../../shared/store-settings.js";
import { hasDoubledMember } from "../../text/json-body.js";

export type Json = Readonly<Record<string, unknown>>;
/** Metadata documents by their keys, e.g. `u/zarr.json` or `u/.zarray`. */
export type Documents = ReadonlyMap<string, Json>;

const [QUOTE, BACKSLASH, COMMA, , OBJECT, OBJECT_END, LIST, LIST_END] = [...Buffer.from('"\\,:{}[]')];

/** Reads documents and adds up their sizes: the bounds apply to all documents of the store together. */
export class DocumentReader {
  #bytes: number;
  #values: number;
  readonly #mostBytes: number;
  readonly #mostValues: number;
  readonly #mostMembers: number;

  constructor(mostBytes: number, mostValues: number = STORE_BOUNDS.values, mostMembers: number = STORE_BOUNDS.members) {
    [this.#mostBytes, this.#mostValues, this.#mostMembers] = [mostBytes, mostValues, mostMembers];
    [this.#bytes, this.#values] = [mostBytes, mostValues];
  }

  get bytesLeft(): number {
    return this.#bytes;
  }

  /** Counts the bytes of a document before it is fetched or read. Throws DataError beyond the bound. */
  count(place: string, bytes: number): void {
    this.#bytes -= bytes;
    if (this.#bytes < 0)
      throw new DataError(
        `${place}: the metadata of the store have more than ${this.#mostBytes} bytes (FIELDPROBE_STORE_METADATA_BYTES)`,
      );
  }

  /** A document whose bytes have been counted. Throws DataError that names it. */
  parse(place: string, bytes: Uint8Array): Json {
    this.countValues(place, bytes);
    return parsed(place, bytes);
  }

  /** Counts the values of a document before it is parsed. Throws DataError beyond the bound. */
  countValues(place: string, bytes: Uint8Array): void {
    this.#values -= countValues(place, bytes, this.#mostMembers);
    if (this.#values < 0)
      throw new DataError(`${place}: the metadata of the store hold more than ${this.#mostValues} values`);
  }

  read(place: string, bytes: Uint8Array): Json {
    this.count(place, bytes.length);
    return this.parse(place, bytes);
  }
}

/**
 * A document whose values have been counted. Limits of values written as floats, such as 1.0, become a Float64Array:
 * integers limit stored numbers.
 * @throws DataError that names it, also if a member is stated twice
 */
export function parsed(place: string, bytes: Uint8Array): Json {
  let value: unknown;
  const text = new TextDecoder().decode(bytes);
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new DataError(`${place} is not readable as JSON`, cause);
  }
  if (text.includes('"valid_') || hasDoubledMember(value, bytes)) walkMembers(place, text, value);
  return statedObject(place, value);
}

const TOKENS = /"(?:[^"\\]|\\.)*"|[[\]{},]|[^\s"[\]{},:]+/g;
const FLOAT = /^-?\d+[.eE]/;
const LIMIT = /^valid_(range|min|max)$/;

/** An open list or object, the names in it so far, and the name or index of its next value. */
interface OpenNode {
  readonly node: Record<string | number, unknown>;
  readonly names: Set<string> | null;
  at: string | number;
}

/** Walks the tokens of a JSON text along with its value. Throws DataError for a repeated member. */
function walkMembers(place: string, text: string, value: unknown): void {
  const open: OpenNode[] = [];
  let isName = false;
  for (const [token] of text.matchAll(TOKENS)) {
    const parent = open.at(-1);
    if (token === "{" || token === "[") {
      const node = (parent === undefined ? value : parent.node[parent.at]) as OpenNode["node"];
      open.push({ node, names: token === "{" ? new Set() : null, at: 0 });
      isName = token === "{";
    } else if (token === "}" || token === "]") {
      open.pop();
      isName = false;
    } else if (parent === undefined) continue;
    else if (token === ",") {
      if (parent.names === null) parent.at = (parent.at as number) + 1;
      isName = parent.names !== null;
    } else if (isName) {
      const name = JSON.parse(token) as string;
      if (parent.names?.has(name)) throw new DataError(`${place}: the member ${name} is stated twice`);
      parent.names?.add(name);
      [parent.at, isName] = [name, false];
    } else if (FLOAT.test(token)) keepFloats(parent.names === null ? open.at(-2) : parent);
  }
}

function keepFloats(open: OpenNode | undefined): void {
  if (open?.names == null || !LIMIT.test(String(open.at))) return;
  const limits = [open.node[open.at]].flat();
  if (limits.every((limit) => typeof limit === "number")) open.node[open.at] = Float64Array.from(limits);
}

/** An object, empty if nothing is stated. Throws DataError, naming `what`, for any other value. */
export function statedObject(what: string, value: unknown): Json {
  if (value !== undefined && (typeof value !== "object" || value === null || Array.isArray(value)))
    throw new DataError(`${what} is not a JSON object`);
  return (value ?? {}) as Json;
}

export function objectOf(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

/**
 * Rough number of members and elements of a JSON text: one more than its commas for each list and object.
 * @throws DataError if it is nested too deeply, or an object has too many members
 */
export function countValues(place: string, bytes: Uint8Array, mostMembers = Number.POSITIVE_INFINITY): number {
  let [values, depth] = [0, 0];
  let inText = false;
  /** Members left to each open object; lists have no limit. */
  const left = new Float64Array(STORE_BOUNDS.depth + 1).fill(Number.POSITIVE_INFINITY);
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) inText = !inText;
    else if (inText) at += byte === BACKSLASH ? 1 : 0;
    else if (byte === COMMA) {
      values++;
      if (--left[Math.max(0, depth)] < 1)
        throw new DataError(`${place} has an object of more than ${mostMembers} members`);
    } else if (byte === OBJECT || byte === LIST) {
      values++;
      if (++depth > STORE_BOUNDS.depth) throw new DataError(`${place} is more than ${STORE_BOUNDS.depth} levels deep`);
      left[Math.max(0, depth)] = byte === OBJECT ? mostMembers : Number.POSITIVE_INFINITY;
    } else if (byte === OBJECT_END || byte === LIST_END) depth--;
  }
  return values;
}
