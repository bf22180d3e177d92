/** The tokens inside tags: names, attributes and their values, read from the bytes at hand. */
import { type FieldprobeError, LimitError } from "../../../errors.js";
import {
  AMPERSAND,
  APOSTROPHE,
  CR,
  countChars,
  EQUALS,
  GREATER,
  isSpace,
  LESS,
  LF,
  QUESTION,
  QUOTE,
  referenced,
  SEMICOLON,
  SLASH,
  SPACE,
  TAB,
} from "./chars.js";
import { type ByteSource, XmlInput } from "./input.js";
import { Interned } from "./interned.js";
import { malformed, type Name, type Pair, splitName } from "./names.js";

/** Bounds that concern single tokens of markup. */
export interface XmlLimits {
  readonly "xml.depth": number;
  readonly "xml.attributes": number;
  readonly "xml.nameChars": number;
  readonly "xml.textChars": number;
}

/** Requests repeat a few dozen names and namespaces: each is decoded and judged once. */
const NAMES = new Interned(splitName);
const VALUES = new Interned(plainValue);

/** Scans tokens; `undefined` says that bytes are missing, and the token is scanned anew when they are there. */
export class XmlScanner extends XmlInput {
  protected readonly limits: XmlLimits;
  /** Where the scan of the current tag stands. */
  protected at = 0;

  protected constructor(source: ByteSource, limits: XmlLimits) {
    super(source);
    this.limits = limits;
  }

  /** Whether the bytes at hand start so; undefined where too few are there to say. */
  protected startsWith(pattern: readonly number[]): boolean | undefined {
    for (let i = 0; i < pattern.length; i++) {
      if (this.position + i >= this.end) return undefined;
      if (this.buffer[this.position + i] !== pattern[i]) return false;
    }
    return true;
  }

  protected skipSpace(): boolean {
    const from = this.at;
    while (this.at < this.end && isSpace(this.buffer[this.at])) this.at++;
    return this.at > from;
  }

  /** The name at `at`, or undefined where it may go on. */
  protected scanName(): Name | undefined {
    const { buffer, end } = this;
    const from = this.at;
    let p = from;
    for (; p < end; p++) {
      const byte = buffer[p] as number;
      if (byte <= SPACE || byte === SLASH || byte === GREATER || byte === EQUALS || byte === LESS) break;
      if (byte === QUOTE || byte === APOSTROPHE || byte === QUESTION) break;
    }
    if (p - from > this.limits["xml.nameChars"]) {
      const chars = countChars(buffer.toString("utf8", from, p));
      if (chars > this.limits["xml.nameChars"]) throw new LimitError("xml.nameChars", "A name is too long.");
    }
    if (p >= end) return undefined;
    if (p === from) throw malformed("a name is missing");
    this.at = p;
    return NAMES.take(buffer, from, p);
  }

  /** The attribute at `at` as name and value, or undefined where bytes are missing. */
  protected scanAttribute(): Pair | undefined {
    const name = this.scanName();
    if (name === undefined) return undefined;
    this.skipSpace();
    if (this.at >= this.end) return undefined;
    if (this.buffer[this.at++] !== EQUALS) throw malformed("an attribute has no value");
    this.skipSpace();
    if (this.at >= this.end) return undefined;
    const quote = this.buffer[this.at++];
    if (quote !== QUOTE && quote !== APOSTROPHE) throw malformed("an attribute is not quoted");
    const value = this.#value(quote);
    return value === undefined ? undefined : [name, value];
  }

  /** The rest of an XML declaration from `at` to behind its end, as names and values. */
  protected scanDeclaration(): (readonly [name: string, value: string])[] | undefined {
    const found: (readonly [string, string])[] = [];
    for (;;) {
      const spaced = this.skipSpace();
      if (this.at + 1 >= this.end) return undefined;
      if (this.buffer[this.at] === QUESTION) {
        if (this.buffer[this.at + 1] !== GREATER) throw malformed("its XML declaration is wrong");
        this.at += 2;
        return found;
      }
      if (!spaced) throw malformed("its XML declaration is wrong");
      const pair = this.scanAttribute();
      if (pair === undefined) return undefined;
      found.push([pair[0].text, pair[1]]);
    }
  }

  #value(quote: number): string | undefined {
    const { buffer, end } = this;
    let value = "";
    let from = this.at;
    const limit = this.limits["xml.textChars"];
    let p = from;
    for (; p < end; p++) {
      const byte = buffer[p] as number;
      if (byte === quote) {
        value += VALUES.take(buffer, from, p);
        this.at = p + 1;
        if (value.length > limit && countChars(value) > limit) throw tooLong();
        return value;
      }
      if (byte === LESS) throw malformed("an attribute holds <");
      if (byte === AMPERSAND) {
        let q = p + 1;
        while (q < end && buffer[q] !== SEMICOLON && q - p <= this.limits["xml.nameChars"]) q++;
        if (q >= end) break;
        if (buffer[q] !== SEMICOLON) throw malformed("an ampersand starts no reference");
        value += VALUES.take(buffer, from, p) + String.fromCodePoint(referenced(buffer.toString("latin1", p + 1, q)));
        from = q + 1;
        p = q;
      } else this.checkByte(p);
    }
    if (value.length + p - from > limit && countChars(value + buffer.toString("utf8", from, p)) > limit)
      throw tooLong();
    return undefined;
  }

  /** Refuses a byte (or the character it begins) that XML does not admit; `p` is inside the bytes at hand. */
  protected checkByte(p: number): void {
    const byte = this.buffer[p] as number;
    if (byte < SPACE && byte !== LF && byte !== CR && byte !== TAB) throw malformed("it holds a control character");
    if (byte === 0xef && this.buffer[p + 1] === 0xbf && (this.buffer[p + 2] as number) >= 0xbe) {
      throw malformed("it holds a character that XML does not admit");
    }
  }
}

export function tooLong(): FieldprobeError {
  return new LimitError("xml.textChars", "A value is too long.");
}

/** White space of an attribute's literal text becomes spaces (XML 1.0, 3.3.3). */
function plainValue(text: string): string {
  return text.replace(/\r\n?|[\t\n]/g, " ");
}
