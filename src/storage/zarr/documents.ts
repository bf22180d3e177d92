/** `DocumentReader` reads the JSON documents of one store within bounds that are checked before anything is parsed. */
import { DataError } from "../../shared/errors.js";
import { STORE_BOUNDS } from "../../shared/store-settings.js";

/** A metadata document, or an object inside one. */
export type Json = Readonly<Record<string, unknown>>;
/** Metadata documents by their keys, e.g. `u/zarr.json` or `u/.zarray`. */
export type Documents = ReadonlyMap<string, Json>;

const [QUOTE, BACKSLASH, COMMA, OBJECT, OBJECT_END, LIST, LIST_END] = [...Buffer.from('"\\,{}[]')];

/** Reads documents, and adds up what they hold: the bounds are those of all documents of the store together. */
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

  /** Bytes that the next document may have. */
  get bytesLeft(): number {
    return this.#bytes;
  }

  /** Counts the bytes of a document before it is fetched or read. @throws DataError beyond the bound */
  count(place: string, bytes: number): void {
    this.#bytes -= bytes;
    if (this.#bytes < 0)
      throw new DataError(
        `${place}: the metadata of the store have more than ${this.#mostBytes} bytes (FIELDPROBE_STORE_METADATA_BYTES)`,
      );
  }

  /** A document whose bytes have been counted. @throws DataError that names it */
  parse(place: string, bytes: Uint8Array): Json {
    this.countValues(place, bytes);
    return parsed(place, bytes);
  }

  /** Counts the values of a document before it is parsed. @throws DataError beyond the bound */
  countValues(place: string, bytes: Uint8Array): void {
    this.#values -= countValues(place, bytes, this.#mostMembers);
    if (this.#values < 0)
      throw new DataError(`${place}: the metadata of the store hold more than ${this.#mostValues} values`);
  }

  /** Counts and parses a document. @throws DataError */
  read(place: string, bytes: Uint8Array): Json {
    this.count(place, bytes.length);
    return this.parse(place, bytes);
  }
}

/** A document, or a part of one, whose values have been counted. @throws DataError that names it */
export function parsed(place: string, bytes: Uint8Array): Json {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(bytes));
  } catch (cause) {
    throw new DataError(`${place} is not readable as JSON`, cause);
  }
  return statedObject(place, value);
}

/** An object; an empty one if nothing is stated. @throws DataError, naming `what`, for anything else */
export function statedObject(what: string, value: unknown): Json {
  if (value !== undefined && (typeof value !== "object" || value === null || Array.isArray(value)))
    throw new DataError(`${what} is not a JSON object`);
  return (value ?? {}) as Json;
}

/** An object as it is, and an empty one in place of anything else. */
export function objectOf(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

/**
 * Members and elements of a JSON text, roughly: one more than its commas for each list and object.
 *
 * @throws DataError if they lie too deep in each other, or an object has too many members
 */
export function countValues(place: string, bytes: Uint8Array, mostMembers = Number.POSITIVE_INFINITY): number {
  let [values, depth] = [0, 0];
  let inText = false;
  /** Members left to each object that is open; lists have any number. */
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
