/** Converts a request body in UTF-8, UTF-16 or ISO-8859-1, with or without byte order mark, to valid UTF-8. */
import { isUtf8 } from "node:buffer";
import type { Body } from "../http/body.js";
import type { Charset } from "./media-type.js";
import type { ByteSource } from "./xml/reader.js";
import { malformed } from "./xml/xml-names.js";

const NOTHING = Buffer.alloc(0);

export class Utf8Body implements ByteSource {
  readonly #body: Body;
  readonly #transcoder: Transcoder;
  #ended = false;
  #refusal: unknown = null;

  constructor(body: Body, charset: Charset | null) {
    this.#body = body;
    this.#transcoder = new Transcoder(charset);
  }

  take(): Buffer | null | undefined {
    if (this.#refusal !== null) throw this.#refusal;
    while (!this.#ended) {
      const part = this.#body.take();
      if (part === undefined) return undefined;
      this.#ended = part === null;
      const ready = this.#transcoder.push(part);
      if (ready.length > 0) return ready;
    }
    return null;
  }

  arrival(): Promise<void> {
    return this.#body.arrival();
  }

  flow(into: (bytes: Buffer) => boolean, also?: Promise<unknown>): Promise<void> {
    const transcoded = (part: Buffer): boolean => {
      try {
        return into(this.#transcoder.push(part));
      } catch (error) {
        this.#refusal = error;
        return false;
      }
    };
    return this.#body.flow(transcoded, also);
  }

  declare(encoding: string): void {
    this.#transcoder.declare(encoding);
  }
}

type Encoding = "utf-8" | "utf-16le" | "utf-16be" | "iso-8859-1";

/** Transcodes one document; input may be cut anywhere, output is cut between characters. */
export class Transcoder {
  readonly #charset: Charset | null;
  #encoding: Encoding | null = null;
  #marked = false;
  #held: Buffer = NOTHING;
  #broken = false;

  constructor(charset: Charset | null) {
    this.#charset = charset;
  }

  /**
   * Checks the encoding that the XML declaration names. A byte order mark must agree with it, a charset overrules it;
   * without either it must be UTF-8.
   */
  declare(encoding: string): void {
    const named = encoding.toLowerCase();
    const actual = this.#encoding as string;
    const agrees = named === actual || (named === "utf-16" && actual.startsWith("utf-16"));
    if (!agrees && (this.#marked || this.#charset === null)) {
      throw malformed("its declaration names an encoding that is wrong or not supported");
    }
  }

  /** Converts the next bytes, null at the end; output before an invalid character precedes its refusal. */
  push(part: Buffer | null): Buffer {
    if (this.#broken) throw malformed("its characters are not validly encoded");
    let input = this.#held.length === 0 ? (part ?? NOTHING) : Buffer.concat([this.#held, part ?? NOTHING]);
    this.#held = NOTHING;
    if (this.#encoding === null) {
      if (input.length < 3 && part !== null) {
        this.#held = Buffer.from(input);
        return NOTHING;
      }
      const mark = this.#detect(input);
      if (mark > 0) input = input.subarray(mark);
    }
    if (this.#encoding === "iso-8859-1") return Buffer.from(input.toString("latin1"), "utf8");
    return this.#encoding === "utf-8" ? this.#utf8(input, part === null) : this.#utf16(input, part === null);
  }

  /** Determines the encoding and returns the length of the byte order mark. */
  #detect(input: Buffer): number {
    this.#marked = true;
    if (input[0] === 0xef && input[1] === 0xbb && input[2] === 0xbf) return this.#settle("utf-8", 3);
    if (input[0] === 0xff && input[1] === 0xfe) return this.#settle("utf-16le", 2);
    if (input[0] === 0xfe && input[1] === 0xff) return this.#settle("utf-16be", 2);
    this.#marked = false;
    if (this.#charset === "utf-16") throw malformed("UTF-16 needs a byte order mark");
    return this.#settle(this.#charset ?? "utf-8", 0);
  }

  #settle(encoding: Encoding, mark: number): number {
    this.#encoding = encoding;
    return mark;
  }

  #utf8(input: Buffer, last: boolean): Buffer {
    const whole = last ? input.length : input.length - unfinished(input);
    const ready = whole === input.length ? input : input.subarray(0, whole);
    if (isUtf8(ready)) {
      if (whole < input.length) this.#held = Buffer.from(input.subarray(whole));
      return ready;
    }
    this.#broken = true;
    return this.#orRefuse(ready.subarray(0, validPrefix(ready)));
  }

  #utf16(input: Buffer, last: boolean): Buffer {
    let whole = input.length & ~1;
    const low = this.#encoding === "utf-16le" ? 1 : 0;
    if (!last && whole >= 2 && (input[whole - 2 + low] & 0xfc) === 0xd8) whole -= 2;
    this.#held = Buffer.from(input.subarray(whole));
    const units = Buffer.from(input.subarray(0, whole));
    if (this.#encoding === "utf-16be") units.swap16();
    const text = units.toString("utf16le");
    const good = wellFormedPrefix(text);
    this.#broken = good < text.length || (last && this.#held.length > 0);
    return this.#orRefuse(Buffer.from(text.slice(0, good), "utf8"));
  }

  #orRefuse(ready: Buffer): Buffer {
    if (ready.length === 0 && this.#broken) throw malformed("its characters are not validly encoded");
    return ready;
  }
}

/** Number of bytes at the end that begin an incomplete character. */
function unfinished(bytes: Uint8Array): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back];
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? back : 0;
  }
  return 0;
}

/** Length of the longest valid prefix, found by bisection. */
function validPrefix(bytes: Buffer): number {
  let good = 0;
  let bad = bytes.length;
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    const part = bytes.subarray(good, middle);
    const whole = part.length - unfinished(part);
    if (whole > 0 && isUtf8(part.subarray(0, whole))) good += whole;
    else if (whole === 0) break;
    else bad = middle;
  }
  return good;
}

/** Length of the longest prefix without an unpaired surrogate. */
function wellFormedPrefix(text: string): number {
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if ((unit & 0xf800) !== 0xd800) continue;
    const paired = (unit & 0xfc00) === 0xd800 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00;
    if (!paired) return i;
    i++;
  }
  return text.length;
}
