/**
 * `TripleScanner` reads items of three numbers fast: it compares the bytes of their tags with those of an earlier item,
 * and scans digits.
 */
import { CUT, DecimalScanner, IN_DOUBT } from "./number-scanner.js";
import { parseFloat32 } from "./parse.js";

export const FULL = 0;
export const SHORT = 1;
export const ODD = 2;
/** Reasons why a scan stopped: no room is left, the bytes end inside an item, or the next item has another form. */
export type ScanEnd = typeof FULL | typeof SHORT | typeof ODD;

/** Length of the longest number, with white space around it, that is read here; longer ones have another form. */
export const LONGEST_NUMBER = 64;

/**
 * The rules for white space and numbers. In XML and JSON, white space may surround tags and numbers; in lines it
 * may not. Numbers have the form of XML Schema, in JSON the narrower form of JSON. In JSON and lines they must be
 * finite.
 */
export type ItemRules = "xml" | "json" | "lines";

/** Reads items that repeat the tags of an earlier item byte for byte, and so mean the same in the same scope. */
export class TripleScanner {
  /** The index in `bytes` after the last item that the last scan has read. */
  position = 0;
  /** The number of items that the last scan has read. */
  count = 0;

  readonly tags: readonly Uint8Array[];
  readonly rules: ItemRules;
  readonly #spaced: boolean;
  readonly #decimals = new DecimalScanner();
  /** The index after the number that was read last, or a negative one as for `#tag`. */
  #next = 0;

  /** @param tags the tags of an item as bytes, which may be empty: item, x, /x, y, /y, z, /z, /item */
  constructor(tags: readonly Uint8Array[], rules: ItemRules = "xml") {
    this.tags = tags;
    this.rules = rules;
    this.#spaced = rules !== "lines";
  }

  /** Whether these tags are the ones of this scanner. */
  knows(tags: readonly Uint8Array[]): boolean {
    return tags.every((tag, i) => Buffer.compare(tag, this.tags[i]) === 0);
  }

  /**
   * Reads items from `bytes[from .. end)` into `out` from triple `at` on, at most `room` of them. Numbers are rounded
   * once. Sets `position` and `count`; returns why it stopped.
   */
  scan(bytes: Uint8Array, from: number, end: number, out: Float32Array, at: number, room: number): ScanEnd {
    let p = from;
    let index = at * 3;
    const last = index + room * 3;
    let why: ScanEnd = FULL;
    for (; index < last; index += 3) {
      let q = this.#tag(bytes, p, end, 0);
      let component = 0;
      for (; q >= 0 && component < 3; component++) {
        q = this.#tag(bytes, q, end, 1 + 2 * component);
        if (q < 0) break;
        const value = this.#number(bytes, q, end);
        q = this.#next;
        if (q < 0) break;
        out[index + component] = value;
        q = this.#tag(bytes, q, end, 2 + 2 * component);
      }
      if (q >= 0) q = this.#tag(bytes, q, end, 7);
      if (q < 0) {
        why = q === -1 ? SHORT : ODD;
        break;
      }
      p = q;
    }
    this.position = p;
    this.count = index / 3 - at;
    return why;
  }

  /** Skips white space and the tag; returns the index after it, -1 if bytes are missing, -2 if it differs. */
  #tag(bytes: Uint8Array, from: number, end: number, which: number): number {
    const tag = this.tags[which];
    let p = from;
    if (this.#spaced) while (p < end && isSpace(bytes[p])) p++;
    const length = tag.length;
    if (p + length > end) {
      for (let i = 0; p < end; i++, p++) if (bytes[p] !== tag[i]) return -2;
      return -1;
    }
    for (let i = 0; i < length; i++) if (bytes[p + i] !== tag[i]) return -2;
    return p + length;
  }

  /** Reads a number with white space around it; `#next` is the index after it, or negative as for `#tag`. */
  #number(bytes: Uint8Array, from: number, end: number): number {
    let p = from;
    if (this.#spaced) while (p < end && isSpace(bytes[p])) p++;
    const start = p;
    let value = this.#decimals.read(bytes, p, end);
    this.#next = this.#decimals.next;
    if (this.#next === IN_DOUBT) value = this.#exact(bytes, p, end);
    p = this.#next;
    if (p >= 0 && this.rules === "json" && !isJsonNumber(bytes, start)) this.#next = IN_DOUBT;
    else if (p >= 0) {
      if (this.#spaced) while (p < end && isSpace(bytes[p])) p++;
      this.#next = p - from > LONGEST_NUMBER ? IN_DOUBT : p;
    }
    return value;
  }

  /** Reads a number that the decimal scanner leaves in doubt, or a word such as INF, by `parseFloat32`. */
  #exact(bytes: Uint8Array, from: number, end: number): number {
    let p = from;
    for (; p < end && p - from <= LONGEST_NUMBER && isWord(bytes[p]); p++);
    const value = p < end ? parseFloat32(String.fromCharCode(...bytes.subarray(from, p))) : undefined;
    const isGood = value !== undefined && (this.rules === "xml" || Number.isFinite(value));
    this.#next = p >= end ? CUT : isGood ? p : IN_DOUBT;
    return value ?? 0;
  }
}

const MARKUP = 0x3c;
const COMMA = 0x2c;
const CLOSE_LIST = 0x5d;

/** Whether a byte may be part of a number or a word for one: neither white space nor what ends a number. */
function isWord(byte: number): boolean {
  const isEnd = byte === MARKUP || byte === COMMA || byte === CLOSE_LIST;
  return !isEnd && !isSpace(byte);
}

/**
 * Whether a decimal that has been read is one of JSON as well: no plus sign, no needless zeros in front, and digits on
 * both sides of its point.
 */
function isJsonNumber(bytes: Uint8Array, from: number): boolean {
  const p = bytes[from] === 0x2d ? from + 1 : from;
  if (!isDigit(bytes[p]) || (bytes[p] === 0x30 && isDigit(bytes[p + 1]))) return false;
  let q = p;
  while (isDigit(bytes[q])) q++;
  return bytes[q] !== 0x2e || isDigit(bytes[q + 1]);
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

/** White space of XML. */
function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
