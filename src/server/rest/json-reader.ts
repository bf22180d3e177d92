/** JSON request bodies, read as they arrive: coordinates go straight into sinks, all else is kept as text. */
import { LimitError, RequestError } from "../../errors.js";
import { parseFloat32 } from "../../float32/parse.js";
import { readFiniteFloat } from "../http/read-number.js";
import { refuse } from "./parameters.js";
import type { TripleWriter } from "./triple-writer.js";

/** What a reader tells its owner. */
export interface JsonEvents {
  /** The body names an array of triples, which follows; returns where they go. */
  array(member: string): TripleWriter;
  /** The body gave another member; `text` is its value as written. */
  member(name: string, text: string): void;
}

/** Longest member value that is not an array of triples, e.g. a list of times. */
const VALUE_BYTES = 64 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;

/** JSON's own number grammar, which is narrower than that of XML Schema. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

type State =
  | "object"
  | "firstKey"
  | "key"
  | "inKey"
  | "colon"
  | "value"
  | "text"
  | "afterValue"
  | "firstRow"
  | "row"
  | "number"
  | "afterNumber"
  | "afterRow"
  | "end";

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** Whether a byte can be part of a number; letters are taken along so that `NaN` is named in full when it is refused. */
function isWordByte(byte: number): boolean {
  return (
    (byte >= 0x30 && byte <= 0x39) ||
    byte === 0x2d ||
    byte === 0x2b ||
    byte === 0x2e ||
    (byte >= 0x41 && byte <= 0x5a) ||
    (byte >= 0x61 && byte <= 0x7a)
  );
}

/** A pull-free reader of one JSON object: `write` every piece, then `end`. Throws RequestError at the first fault. */
export class JsonReader {
  readonly #arrays: readonly string[];
  readonly #events: JsonEvents;
  readonly #seen = new Set<string>();
  #state: State = "object";
  #bytesBefore = 0;
  /** Bytes of a token that the last piece cut off. */
  #carry: Buffer = Buffer.alloc(0);
  #key = "";
  #depth = 0;
  #inString = false;
  #escaped = false;
  #value: Buffer[] = [];
  #valueBytes = 0;
  #writer: TripleWriter | null = null;
  #component = 0;
  readonly #triple: [number, number, number] = [0, 0, 0];

  constructor(arrays: readonly string[], events: JsonEvents) {
    this.#arrays = arrays;
    this.#events = events;
  }

  write(piece: Buffer): void {
    const bytes = this.#carry.length > 0 ? Buffer.concat([this.#carry, piece]) : piece;
    let at = 0;
    while (at < bytes.length) {
      const next = this.#step(bytes, at);
      if (next < 0) break;
      at = next;
    }
    this.#carry = at < bytes.length ? Buffer.from(bytes.subarray(at)) : Buffer.alloc(0);
    if (this.#carry.length > VALUE_BYTES) throw this.#fault(at, "a name or number of this length");
    this.#bytesBefore += at;
  }

  end(): void {
    if (this.#state !== "end") throw this.#fault(0, "the end of the body");
  }

  /** Reads one token from `at`; returns where it ended, or -1 when it goes on in the next piece. */
  #step(bytes: Buffer, at: number): number {
    const byte = bytes[at] as number;
    if (this.#state === "text") return this.#takeText(bytes, at);
    if (this.#state === "inKey") return this.#takeKey(bytes, at);
    if (isSpace(byte)) return at + 1;
    switch (this.#state) {
      case "number":
        return this.#takeNumber(bytes, at);
      case "afterNumber":
        if (byte === COMMA && this.#component < 3) return this.#go("number", at);
        if (byte === CLOSE_LIST && this.#component === 3) return this.#endRow(at);
        throw this.#refuse(this.#row(), "must be a list of three numbers", at);
      case "afterRow":
        if (byte === COMMA) return this.#go("row", at);
        if (byte === CLOSE_LIST) return this.#endArray(at);
        break;
      case "firstRow":
        if (byte === CLOSE_LIST) return this.#endArray(at);
        if (byte === OPEN_LIST) return this.#go("number", at);
        throw this.#refuse(this.#row(), "must be a list of three numbers", at);
      case "row":
        if (byte === OPEN_LIST) return this.#go("number", at);
        throw this.#refuse(this.#row(), "must be a list of three numbers", at);
      case "object":
        if (byte === OPEN_OBJECT) return this.#go("firstKey", at);
        break;
      case "firstKey":
        if (byte === CLOSE_OBJECT) return this.#go("end", at);
        if (byte === QUOTE) return this.#go("inKey", at);
        break;
      case "key":
        if (byte === QUOTE) return this.#go("inKey", at);
        break;
      case "colon":
        if (byte === COLON) return this.#go("value", at);
        break;
      case "value":
        return this.#openValue(byte, at);
      case "afterValue":
        if (byte === COMMA) return this.#go("key", at);
        if (byte === CLOSE_OBJECT) return this.#go("end", at);
        break;
      default:
        break;
    }
    throw this.#fault(at, `"${String.fromCharCode(byte)}"`);
  }

  #go(state: State, at: number): number {
    this.#state = state;
    return at + 1;
  }

  #takeKey(bytes: Buffer, at: number): number {
    let end = at;
    while (end < bytes.length && bytes[end] !== QUOTE) end += bytes[end] === BACKSLASH ? 2 : 1;
    if (end >= bytes.length) return -1;
    this.#key = this.#parse(`"${bytes.toString("utf8", at, end)}"`, at) as string;
    if (this.#seen.has(this.#key)) {
      throw new RequestError("InvalidRequest", "A member is given twice.", { member: this.#key.slice(0, 64) });
    }
    this.#seen.add(this.#key);
    return this.#go("colon", end);
  }

  #openValue(byte: number, at: number): number {
    if (this.#arrays.includes(this.#key)) {
      if (byte !== OPEN_LIST) {
        throw new RequestError("InvalidRequest", `${this.#key} must be a list of [x, y, z].`, { member: this.#key });
      }
      this.#writer = this.#events.array(this.#key);
      return this.#go("firstRow", at);
    }
    this.#state = "text";
    this.#depth = 0;
    this.#value = [];
    this.#valueBytes = 0;
    return at;
  }

  /** Takes the bytes of a value up to the comma or brace that ends it. */
  #takeText(bytes: Buffer, at: number): number {
    let end = at;
    let done = false;
    for (; end < bytes.length; end++) {
      const byte = bytes[end] as number;
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false;
        else if (byte === BACKSLASH) this.#escaped = true;
        else if (byte === QUOTE) this.#inString = false;
      } else if (byte === QUOTE) this.#inString = true;
      else if (byte === OPEN_LIST || byte === OPEN_OBJECT) this.#depth++;
      else if (this.#depth > 0 && (byte === CLOSE_LIST || byte === CLOSE_OBJECT)) this.#depth--;
      else if (this.#depth === 0 && (byte === COMMA || byte === CLOSE_OBJECT)) {
        done = true;
        break;
      }
    }
    this.#valueBytes += end - at;
    if (this.#valueBytes > VALUE_BYTES) {
      throw new LimitError("json.valueBytes", `A member has more than ${VALUE_BYTES} bytes.`);
    }
    this.#value.push(Buffer.from(bytes.subarray(at, end)));
    if (!done) return end;
    const text = Buffer.concat(this.#value).toString("utf8").trim();
    this.#parse(text, end);
    this.#events.member(this.#key, text);
    this.#state = "afterValue";
    return end;
  }

  #takeNumber(bytes: Buffer, at: number): number {
    let end = at;
    while (end < bytes.length && isWordByte(bytes[end] as number)) end++;
    if (end === bytes.length) return -1;
    if (end === at) throw this.#refuse(this.#coordinate(), "must be a number", at);
    const text = bytes.toString("latin1", at, end);
    if (!NUMBER.test(text)) {
      throw this.#refuse(this.#coordinate(), `must be a number, not ${text.slice(0, 64)}`, at);
    }
    const quick = Number(text);
    this.#triple[this.#component] = Math.fround(quick) === quick ? quick : this.#round(text);
    this.#component++;
    this.#state = "afterNumber";
    return end;
  }

  #endRow(at: number): number {
    const [x, y, z] = this.#triple;
    (this.#writer as TripleWriter).add(x, y, z);
    this.#component = 0;
    return this.#go("afterRow", at);
  }

  #endArray(at: number): number {
    (this.#writer as TripleWriter).flush();
    this.#writer = null;
    return this.#go("afterValue", at);
  }

  #round(text: string): number {
    const value = parseFloat32(text) as number;
    return Number.isFinite(value) ? value : readFiniteFloat(text, this.#coordinate());
  }

  #coordinate(): string {
    return `${this.#row()}.${"xyz"[this.#component]}`;
  }

  #row(): string {
    return `${this.#key}[${this.#writer?.count ?? 0}]`;
  }

  #parse(text: string, at: number): unknown {
    try {
      return JSON.parse(text);
    } catch {
      throw this.#fault(at, "a malformed value");
    }
  }

  #refuse(member: string, what: string, at: number): RequestError {
    return refuse(member, `${member} ${what} (byte ${this.#bytesBefore + at} of the body).`);
  }

  #fault(at: number, what: string): RequestError {
    return new RequestError(
      "InvalidRequest",
      `The body is not the JSON expected: ${what} at byte ${this.#bytesBefore + at}.`,
    );
  }
}
