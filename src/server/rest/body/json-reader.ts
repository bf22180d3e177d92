/**
 * `JsonReader` reads a JSON body as it arrives: coordinates go straight into their writers, the other members are kept
 * as text.
 */

import { parseFloat32 } from "../../../float32/parse.js";
import { LimitError, RequestError } from "../../../shared/errors.js";
import { formOf } from "../../../text/items-ahead.js";
import { readFiniteFloat } from "../../http/read-number.js";
import { refuse } from "../parameters.js";
import type { TripleWriter } from "../triple-writer.js";
import type { BodyItems, BodyReader } from "./body-reader.js";
import { BACKSLASH, CLOSE_LIST, CLOSE_OBJECT, COLON, COMMA, OPEN_LIST, OPEN_OBJECT, QUOTE } from "./json-bytes.js";

/** Events that a reader tells its owner. */
export interface JsonEvents {
  /** The body names an array of triples, which follows; returns where they go. */
  array(member: string): TripleWriter;
  /** The body gave another member; `text` is its value as written. */
  member(name: string, text: string): void;
}

/** Longest member value that is not an array of triples, e.g. a list of times. */
const VALUE_BYTES = 64 * 1024;
/** Longest list with a number for each point. */
const LIST_BYTES = 32 * 1024 * 1024;
/** Longest name of a member and longest coordinate. */
const TOKEN_BYTES = 4 * 1024;

/** JSON's own number grammar, which is narrower than that of XML Schema. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** The next token expected; a number, a name or the text of a value may have begun in an earlier part. */
type Expectation =
  | "object"
  | "first name"
  | "name"
  | "inside name"
  | "colon"
  | "value"
  | "inside text"
  | "after value"
  | "first row"
  | "row"
  | "number"
  | "after number"
  | "after row"
  | "end";

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** Whether a byte can be part of a number; letters count, so that a refusal of `NaN` names it in full. */
function isWordByte(byte: number): boolean {
  const letter = byte | 0x20;
  const digit = byte >= 0x30 && byte <= 0x39;
  return digit || byte === 0x2d || byte === 0x2b || byte === 0x2e || (letter >= 0x61 && letter <= 0x7a);
}

/** Rows of three numbers with commas behind them. */
const ROWS = formOf(
  ["[", "", ",", "", ",", "", "]", ","].map((tag) => Buffer.from(tag)),
  "json",
  2,
);

/** The error of a body that breaks the grammar of JSON. */
export class MalformedJson extends RequestError {}

/** Reads one JSON object: `write` every part, then `end`. Throws RequestError at the first error. */
export class JsonReader implements BodyReader {
  readonly #arrays: readonly string[];
  readonly #events: JsonEvents;
  readonly #seen = new Set<string>();
  #state: Expectation = "object";
  /** Bytes of the parts before this one. */
  #before = 0;
  /** The beginning of a token that earlier parts held. */
  #held: Buffer[] = [];
  #heldBytes = 0;
  #name = "";
  #depth = 0;
  #inString = false;
  #escaped = false;
  #writer: TripleWriter | null = null;
  #component = 0;
  readonly #triple: [number, number, number] = [0, 0, 0];

  constructor(arrays: readonly string[], events: JsonEvents) {
    this.#arrays = arrays;
    this.#events = events;
  }

  /** Rows of an array that others read; the last row of an array, which has no comma behind it, is read here. */
  get items(): BodyItems {
    return {
      form: ROWS,
      isNext: this.#state === "row",
      add: (triples, count, bytes) => {
        (this.#writer as TripleWriter).addAll(triples, count);
        this.#before += bytes;
      },
    };
  }

  write(part: Buffer): void {
    for (let at = 0; at < part.length; ) at = this.#step(part, at);
    this.#before += part.length;
  }

  end(): void {
    if (this.#state !== "end") throw this.#fault(0, "the end of the body");
  }

  /** Reads from `at` to the end of a token or of the part; returns where. */
  #step(part: Buffer, at: number): number {
    const byte = part[at];
    if (this.#state === "inside text") return this.#readText(part, at);
    if (this.#state === "inside name") return this.#readName(part, at);
    if (isSpace(byte) && this.#heldBytes === 0) return at + 1;
    switch (this.#state) {
      case "number":
        return this.#readNumber(part, at);
      case "after number":
        if (byte === COMMA && this.#component < 3) return this.#go("number", at);
        if (byte === CLOSE_LIST && this.#component === 3) return this.#endRow(at);
        throw this.#refuse(this.#row(), "must be a list of three numbers", at);
      case "after row":
        if (byte === COMMA) return this.#go("row", at);
        if (byte === CLOSE_LIST) return this.#endArray(at);
        break;
      case "first row":
        if (byte === CLOSE_LIST) return this.#endArray(at);
        if (byte === OPEN_LIST) return this.#go("number", at);
        throw this.#refuse(this.#row(), "must be a list of three numbers", at);
      case "row":
        if (byte === OPEN_LIST) return this.#go("number", at);
        throw this.#refuse(this.#row(), "must be a list of three numbers", at);
      case "object":
        if (byte === OPEN_OBJECT) return this.#go("first name", at);
        break;
      case "first name":
        if (byte === CLOSE_OBJECT) return this.#go("end", at);
        if (byte === QUOTE) return this.#go("inside name", at);
        break;
      case "name":
        if (byte === QUOTE) return this.#go("inside name", at);
        break;
      case "colon":
        if (byte === COLON) return this.#go("value", at);
        break;
      case "value":
        return this.#beginValue(byte, at);
      case "after value":
        if (byte === COMMA) return this.#go("name", at);
        if (byte === CLOSE_OBJECT) return this.#go("end", at);
        break;
      default:
        break;
    }
    throw this.#fault(at, `"${String.fromCharCode(byte)}"`);
  }

  #go(state: Expectation, at: number): number {
    this.#state = state;
    return at + 1;
  }

  #readName(part: Buffer, at: number): number {
    let end = at;
    for (; end < part.length; end++) {
      if (this.#escaped) this.#escaped = false;
      else if (part[end] === BACKSLASH) this.#escaped = true;
      else if (part[end] === QUOTE) break;
    }
    if (end === part.length) return this.#hold(part, at, end, TOKEN_BYTES);
    this.#name = this.#parse(`"${this.#token(part, at, end, "utf8")}"`, at) as string;
    if (this.#seen.has(this.#name)) {
      throw refuse(this.#name.slice(0, 64), "A member is given twice.");
    }
    this.#seen.add(this.#name);
    return this.#go("colon", end);
  }

  #beginValue(byte: number, at: number): number {
    if (!this.#arrays.includes(this.#name)) {
      this.#state = "inside text";
      this.#depth = 0;
      return at;
    }
    if (byte !== OPEN_LIST) throw refuse(this.#name, `${this.#name} must be a list of [x, y, z].`);
    this.#writer = this.#events.array(this.#name);
    return this.#go("first row", at);
  }

  /** Reads the text of a value up to the comma or brace that ends it. */
  #readText(part: Buffer, at: number): number {
    let end = at;
    for (; end < part.length; end++) {
      const byte = part[end];
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false;
        else if (byte === BACKSLASH) this.#escaped = true;
        else if (byte === QUOTE) this.#inString = false;
      } else if (byte === QUOTE) this.#inString = true;
      else if (byte === OPEN_LIST || byte === OPEN_OBJECT) this.#depth++;
      else if (this.#depth > 0 && (byte === CLOSE_LIST || byte === CLOSE_OBJECT)) this.#depth--;
      else if (this.#depth === 0 && (byte === COMMA || byte === CLOSE_OBJECT)) break;
    }
    const most = this.#name === "times" || this.#name === "startTimes" ? LIST_BYTES : VALUE_BYTES;
    if (this.#heldBytes + end - at > most) {
      throw new LimitError("json.valueBytes", `A member has more than ${most} bytes.`);
    }
    if (end === part.length) return this.#hold(part, at, end, most);
    const text = this.#token(part, at, end, "utf8").trim();
    this.#parse(text, end);
    this.#events.member(this.#name, text);
    this.#state = "after value";
    return end;
  }

  #readNumber(part: Buffer, at: number): number {
    let end = at;
    while (end < part.length && isWordByte(part[end])) end++;
    if (end === part.length) return this.#hold(part, at, end, TOKEN_BYTES);
    const text = this.#token(part, at, end, "latin1");
    if (text === "") throw this.#refuse(this.#coordinate(), "must be a number", at);
    if (!NUMBER.test(text)) {
      throw this.#refuse(this.#coordinate(), `must be a number, not ${text.slice(0, 64)}`, end - text.length);
    }
    const quick = Number(text);
    const isExact = Math.fround(quick) === quick && Number.isFinite(quick);
    this.#triple[this.#component] = isExact ? quick : this.#round(text);
    this.#component++;
    this.#state = "after number";
    return end;
  }

  #endRow(at: number): number {
    const [x, y, z] = this.#triple;
    (this.#writer as TripleWriter).add(x, y, z);
    this.#component = 0;
    return this.#go("after row", at);
  }

  #endArray(at: number): number {
    (this.#writer as TripleWriter).flush();
    this.#writer = null;
    return this.#go("after value", at);
  }

  #round(text: string): number {
    const value = parseFloat32(text) as number;
    return Number.isFinite(value) ? value : readFiniteFloat(text, this.#coordinate());
  }

  /** Keeps the beginning of a token that the part cuts off; every byte is kept and scanned once. */
  #hold(part: Buffer, from: number, to: number, most: number): number {
    this.#heldBytes += to - from;
    if (this.#heldBytes > most)
      throw new RequestError("InvalidRequest", this.#unexpected(to, "a name or number of this length"));
    this.#held.push(Buffer.from(part.subarray(from, to)));
    return to;
  }

  /** The token that ends before `to`, with what was kept of it. */
  #token(part: Buffer, from: number, to: number, encoding: "latin1" | "utf8"): string {
    if (this.#heldBytes === 0) return part.toString(encoding, from, to);
    const whole = Buffer.concat([...this.#held, part.subarray(from, to)]);
    this.#held = [];
    this.#heldBytes = 0;
    return whole.toString(encoding);
  }

  #coordinate(): string {
    return `${this.#row()}.${"xyz"[this.#component]}`;
  }

  #row(): string {
    return `${this.#name}[${this.#writer?.count ?? 0}]`;
  }

  #parse(text: string, at: number): unknown {
    try {
      return JSON.parse(text);
    } catch {
      throw this.#fault(at, "a malformed value");
    }
  }

  #refuse(member: string, what: string, at: number): RequestError {
    return refuse(member, `${member} ${what} (byte ${this.#before + at} of the body).`);
  }

  #fault(at: number, what: string): RequestError {
    return new MalformedJson("InvalidRequest", this.#unexpected(at, what));
  }

  #unexpected(at: number, what: string): string {
    return `The body is not the JSON expected: ${what} at byte ${this.#before + at}.`;
  }
}
