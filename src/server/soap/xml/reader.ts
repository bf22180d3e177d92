/**
 * Reads an XML document from bytes as they arrive. Document types, processing instructions, and entities other than the
 * five of XML are refused.
 */
import { type FieldprobeError, LimitError } from "../../../shared/errors.js";
// `Steps` are generators that yield promises to wait for; a `Stepping` may hold its value already.
import { ReadyValue, type Stepping, type Steps } from "../../../text/steps.js";
import {
  AMPERSAND,
  APOSTROPHE,
  BANG,
  BRACKET,
  CR,
  countChars,
  DASH,
  EQUALS,
  GREATER,
  isBlank,
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
import { Interned } from "./interned.js";
import {
  type Attribute,
  malformed,
  type Name,
  NamespaceScopes,
  splitName,
  type WrittenAttribute,
} from "./xml-names.js";

export const START = 1;
export const END = 2;
const TEXT = 3;
export const DONE = 4;
type XmlEvent = typeof START | typeof END | typeof TEXT | typeof DONE;

/** Results of a scan besides events: the bytes end inside a token, or a token was skipped. */
const MORE = 0;
const AGAIN = -1;
type ScanStep = XmlEvent | typeof MORE | typeof AGAIN;

/** Valid UTF-8, cut between characters. */
export interface ByteSource {
  /** The next bytes; null at the end, undefined if they have to be awaited. */
  take(): Buffer | null | undefined;
  /** Resolves when `take` can be called again. */
  arrival(): Promise<void>;
  /** Passes arriving bytes on until `into` returns false, or `also` resolves; `take` may then be called. */
  flow(into: (bytes: Buffer) => boolean, also?: Promise<unknown>): Promise<void>;
  /** @throws if the XML declaration contradicts what is known */
  declare(encoding: string): void;
}

export interface XmlLimits {
  readonly "xml.depth": number;
  readonly "xml.attributes": number;
  readonly "xml.nameChars": number;
  readonly "xml.textChars": number;
}

/** Names and attribute values of earlier documents, each decoded and checked once. */
export class NameCache {
  readonly names = new Interned(splitName);
  /** White space of attributes is spaces (XML 1.0, 3.3.3). */
  readonly values = new Interned((text) => text.replace(/\r\n?|[\t\n]/g, " "));
}

interface OpenElement {
  readonly name: Name;
  readonly namespace: string;
  /** Mark of the namespace bindings to restore at its end. */
  readonly mark: number;
}

const NO_ATTRIBUTES: readonly Attribute[] = [];
const COMMENT_START = [LESS, BANG, DASH, DASH];
const CDATA_START = [...Buffer.from("<![CDATA[")];
const DECLARATION_START = [...Buffer.from("<?xml")];
/** Names of encodings (XML 1.0, 4.3.3). */
const ENCODING_NAME = /^[A-Za-z][A-Za-z0-9._-]*$/;
/** A token of at least this size that is cut by the end of the input is rescanned once it has grown by a quarter. */
const RESCAN_BYTES = 4096;

/** Reader of one document. `next`, `nextTag` and `content` advance; the members describe the last event. */
export class XmlReader {
  namespace = "";
  local = "";
  attributes: readonly Attribute[] = [];
  /** Part of the character data, with references resolved and line ends normalised. */
  text = "";

  /** Unread bytes: `buffer[position .. end)`. `items.ts` reads them directly. */
  buffer: Buffer = Buffer.alloc(0);
  position = 0;
  end = 0;
  ended = false;

  readonly #source: ByteSource;
  readonly #limits: XmlLimits;
  readonly #nameCache: NameCache;
  readonly #tagBytes: number;
  readonly #event = new ReadyValue<XmlEvent>();
  readonly #string = new ReadyValue<string>();
  readonly #scopes = new NamespaceScopes();
  readonly #open: OpenElement[] = [];
  /** Whether `buffer` is the reader's own, not the source's. */
  #ownsBuffer = false;
  /** Where the scan inside a tag is, and where the last tag began. */
  #scanAt = 0;
  #tagAt = 0;
  /** A token that was cut is scanned again once this many bytes are unread. */
  #retryBytes = 0;
  #hasStarted = false;
  #hasRoot = false;
  #isSelfClosed = false;
  #section: "markup" | "comment" | "cdata" = "markup";
  /** Characters since the last tag, and whether all are white space. */
  #runChars = 0;
  #isRunBlank = true;
  #content = "";

  constructor(source: ByteSource, limits: XmlLimits, nameCache: NameCache) {
    this.#source = source;
    this.#limits = limits;
    this.#nameCache = nameCache;
    // A character has at most four bytes; twice as many leave room for references and white space.
    this.#tagBytes = 8 * (limits["xml.attributes"] + 1) * (limits["xml.nameChars"] + limits["xml.textChars"]);
  }

  get depth(): number {
    return this.#open.length;
  }

  /** Whether the element that has just started may hold `levels` of elements and texts of `chars` characters. */
  hasRoom(levels: number, chars: number): boolean {
    const { "xml.depth": depth, "xml.textChars": textChars } = this.#limits;
    return !this.#isSelfClosed && this.#open.length + levels <= depth && chars <= textChars;
  }

  /** The namespace of a prefix, "" for the default; undefined if it is not declared. */
  resolve(prefix: string): string | undefined {
    return this.#scopes.bound(prefix);
  }

  /** The bytes of the tag just read, as Latin-1; valid only right after its event. */
  rawTag(): string {
    return this.buffer.toString("latin1", this.#tagAt, this.position);
  }

  next(): Stepping<XmlEvent> {
    const event = this.#poll();
    return event === undefined ? this.#waitForEvent() : this.#event.of(event);
  }

  *#waitForEvent(): Steps<XmlEvent> {
    for (;;) {
      yield* this.fill();
      const event = this.#poll();
      if (event !== undefined) return event;
    }
  }

  /** Reads the next event where only elements are allowed: skips white space, refuses other text. */
  nextTag(refuse: () => FieldprobeError): Stepping<XmlEvent> {
    const event = this.#skipBlank(refuse);
    return event === undefined ? this.#waitForTag(refuse) : this.#event.of(event);
  }

  *#waitForTag(refuse: () => FieldprobeError): Steps<XmlEvent> {
    for (;;) {
      yield* this.fill();
      const event = this.#skipBlank(refuse);
      if (event !== undefined) return event;
    }
  }

  #skipBlank(refuse: () => FieldprobeError): XmlEvent | undefined {
    for (;;) {
      const event = this.#poll();
      if (event !== TEXT) return event;
      if (!isBlank(this.text)) throw refuse();
    }
  }

  /** Reads the text of the element that has just started, up to its end tag; refuses nested elements. */
  content(refuse: () => FieldprobeError): Stepping<string> {
    this.#content = "";
    return this.#gather(refuse) ? this.#string.of(this.#content) : this.#waitForContent(refuse);
  }

  *#waitForContent(refuse: () => FieldprobeError): Steps<string> {
    do yield* this.fill();
    while (!this.#gather(refuse));
    return this.#content;
  }

  /** Appends available text to the content. Returns whether the end tag was reached. */
  #gather(refuse: () => FieldprobeError): boolean {
    const most = this.#limits["xml.textChars"];
    for (;;) {
      const event = this.#poll();
      if (event === undefined) return false;
      if (event === END) return true;
      if (event !== TEXT) throw refuse();
      this.#content += this.text;
      // White space is bounded only where it is a value.
      if (this.#content.length > most && countChars(this.#content) > most) throw tooLong();
    }
  }

  /** Appends the next bytes to the unread ones; sets `ended` at the end. */
  *fill(): Steps<void> {
    let part = this.#source.take();
    while (part === undefined) {
      yield this.#source.arrival();
      part = this.#source.take();
    }
    if (part === null) {
      this.ended = true;
      return;
    }
    const held = this.end - this.position;
    if (held === 0) {
      this.buffer = part;
      this.position = 0;
      this.end = part.length;
      this.#ownsBuffer = false;
      return;
    }
    if (!this.#ownsBuffer || this.end + part.length > this.buffer.length) {
      const hasRoomBehind = held + part.length <= this.buffer.length && this.#ownsBuffer;
      const target = hasRoomBehind ? this.buffer : Buffer.allocUnsafe(2 * (held + part.length));
      target.set(this.buffer.subarray(this.position, this.end));
      this.buffer = target;
      this.#ownsBuffer = true;
      this.position = 0;
      this.end = held;
    }
    this.buffer.set(part, this.end);
    this.end += part.length;
  }

  // Raw bytes, for items.ts.

  takeBuffered(): Buffer {
    const rest = this.buffer.subarray(this.position, this.end);
    this.position = this.end;
    return rest;
  }

  /** Null at the end, undefined if bytes have to be awaited. */
  take(): Buffer | null | undefined {
    if (this.position < this.end) return this.takeBuffered();
    if (this.ended) return null;
    const part = this.#source.take();
    if (part === null) this.ended = true;
    return part;
  }

  flow(into: (bytes: Buffer) => boolean, also?: Promise<unknown>): Promise<void> {
    return this.#source.flow(into, also);
  }

  putBack(bytes: Buffer): void {
    this.buffer = bytes;
    this.position = 0;
    this.end = bytes.length;
    this.#ownsBuffer = true;
    this.#retryBytes = 0;
  }

  /** The next event; undefined if more bytes are needed. */
  #poll(): XmlEvent | undefined {
    if (this.#isSelfClosed) {
      this.#isSelfClosed = false;
      return this.#close();
    }
    for (;;) {
      if (this.position >= this.end && this.ended) return this.#finish();
      if (this.end - this.position < this.#retryBytes && !this.ended) return undefined;
      this.#retryBytes = 0;
      const outcome = this.#step();
      if (outcome === AGAIN) continue;
      if (outcome !== MORE) return outcome;
      if (this.ended && this.position < this.end) throw malformed("it ends inside a construct");
      const held = this.end - this.position;
      if (held > this.#tagBytes) throw new LimitError("xml.textChars", "A tag is too long.");
      if (held > RESCAN_BYTES) this.#retryBytes = held + (held >> 2);
      if (!this.ended) return undefined;
    }
  }

  #finish(): XmlEvent {
    if (!this.#hasRoot || this.#open.length > 0) {
      throw malformed(this.#hasStarted ? "it ends before its root element does" : "it is empty");
    }
    if (this.#section !== "markup") throw malformed("it ends inside a construct");
    return DONE;
  }

  #step(): ScanStep {
    if (this.#section === "comment") return this.#comment();
    if (this.#section === "cdata") return this.#cdata();
    if (this.position >= this.end) return MORE;
    if (!this.#hasStarted) {
      const declared = this.#startsWith(DECLARATION_START);
      if (declared === undefined && !this.ended) return MORE;
      const next = this.position + DECLARATION_START.length;
      if (declared && !this.ended && next >= this.end) return MORE;
      if (declared && isSpace(this.buffer[next])) return this.#declaration();
      this.#hasStarted = true;
    }
    if (this.buffer[this.position] !== LESS) return this.#characters();
    if (this.position + 1 >= this.end) return MORE;
    const second = this.buffer[this.position + 1];
    if (second === SLASH) return this.#endTag();
    if (second === QUESTION) throw malformed("it holds a processing instruction");
    if (second === BANG) return this.#commentOrCdata();
    return this.#startTag();
  }

  #commentOrCdata(): ScanStep {
    const comment = this.#startsWith(COMMENT_START);
    if (comment) {
      this.position += COMMENT_START.length;
      this.#section = "comment";
      return AGAIN;
    }
    const cdata = this.#startsWith(CDATA_START);
    if (cdata && this.#open.length > 0) {
      this.position += CDATA_START.length;
      this.#section = "cdata";
      return AGAIN;
    }
    if (comment === undefined || cdata === undefined) return MORE;
    throw malformed("it holds a document type declaration or a stray <!");
  }

  /** Whether the unread bytes start with a pattern; undefined if too few have arrived. */
  #startsWith(pattern: readonly number[]): boolean | undefined {
    for (let i = 0; i < pattern.length; i++) {
      if (this.position + i >= this.end) return undefined;
      if (this.buffer[this.position + i] !== pattern[i]) return false;
    }
    return true;
  }

  #declaration(): ScanStep {
    this.#scanAt = this.position + DECLARATION_START.length;
    const found = this.#scanDeclaration();
    if (found === undefined) return MORE;
    this.position = this.#scanAt;
    this.#hasStarted = true;
    const take = (name: string) => (found[0]?.[0] === name ? found.shift()?.[1] : undefined);
    if (take("version") !== "1.0") throw malformed("its version is not 1.0");
    const encoding = take("encoding");
    if (encoding !== undefined && !ENCODING_NAME.test(encoding)) throw malformed("its declaration names no encoding");
    if (encoding !== undefined) this.#source.declare(encoding);
    const standalone = take("standalone") ?? "no";
    const isComplete = found.length === 0 && (standalone === "yes" || standalone === "no");
    if (!isComplete) throw malformed("its XML declaration is wrong");
    return AGAIN;
  }

  #startTag(): ScanStep {
    this.#scanAt = this.position + 1;
    const name = this.#scanName();
    if (name === undefined) return MORE;
    const pairs: WrittenAttribute[] = [];
    let isSelfClosed = false;
    for (;;) {
      const hasSpace = this.#skipSpace();
      if (this.#scanAt >= this.end) return MORE;
      const byte = this.buffer[this.#scanAt];
      if (byte === GREATER) break;
      if (byte === SLASH) {
        if (this.#scanAt + 1 >= this.end) return MORE;
        if (this.buffer[this.#scanAt + 1] !== GREATER) throw malformed("a tag is not closed");
        this.#scanAt++;
        isSelfClosed = true;
        break;
      }
      if (!hasSpace) throw malformed("a tag holds stray characters");
      if (pairs.length >= this.#limits["xml.attributes"]) {
        throw new LimitError("xml.attributes", "An element has too many attributes.");
      }
      const pair = this.#scanAttribute();
      if (pair === undefined) return MORE;
      pairs.push(pair);
    }
    this.#finishTag(this.#scanAt + 1);
    return this.#begin(name, pairs, isSelfClosed);
  }

  #endTag(): ScanStep {
    this.#scanAt = this.position + 2;
    const name = this.#scanName();
    if (name === undefined) return MORE;
    this.#skipSpace();
    if (this.#scanAt >= this.end) return MORE;
    if (this.buffer[this.#scanAt] !== GREATER) throw malformed("an end tag is not closed");
    if (this.#open.at(-1)?.name.text !== name.text) throw malformed("tags do not match");
    this.#finishTag(this.#scanAt + 1);
    return this.#close();
  }

  #finishTag(next: number): void {
    this.#tagAt = this.position;
    this.position = next;
    this.#runChars = 0;
    this.#isRunBlank = true;
  }

  #begin(name: Name, pairs: readonly WrittenAttribute[], isSelfClosed: boolean): XmlEvent {
    if (this.#open.length === 0) {
      if (this.#hasRoot) throw malformed("it has two root elements");
      this.#hasRoot = true;
    }
    if (this.#open.length >= this.#limits["xml.depth"]) {
      throw new LimitError("xml.depth", "Elements are nested too deeply.");
    }
    const mark = this.#scopes.mark;
    if (pairs.length > 0) this.#scopes.declare(pairs);
    const namespace = this.#scopes.find(name.prefix);
    if (name.prefix === "xmlns") throw malformed("an element has the prefix xmlns");
    this.attributes = pairs.length > 0 ? this.#scopes.attributes(pairs) : NO_ATTRIBUTES;
    this.#open.push({ name, namespace, mark });
    this.namespace = namespace;
    this.local = name.local;
    this.#isSelfClosed = isSelfClosed;
    return START;
  }

  #close(): XmlEvent {
    const element = this.#open.pop() as OpenElement;
    this.#scopes.close(element.mark);
    this.namespace = element.namespace;
    this.local = element.name.local;
    return END;
  }

  // Tokens inside tags: `undefined` if bytes are missing; the whole tag is then scanned again.

  #skipSpace(): boolean {
    const from = this.#scanAt;
    while (this.#scanAt < this.end && isSpace(this.buffer[this.#scanAt])) this.#scanAt++;
    return this.#scanAt > from;
  }

  #scanName(): Name | undefined {
    const { buffer, end } = this;
    const from = this.#scanAt;
    let p = from;
    for (; p < end; p++) {
      const byte = buffer[p];
      if (byte <= SPACE || byte === SLASH || byte === GREATER || byte === EQUALS || byte === LESS) break;
      if (byte === QUOTE || byte === APOSTROPHE || byte === QUESTION) break;
    }
    if (p - from > this.#limits["xml.nameChars"]) {
      const chars = countChars(buffer.toString("utf8", from, p));
      if (chars > this.#limits["xml.nameChars"]) throw new LimitError("xml.nameChars", "A name is too long.");
    }
    if (p >= end) return undefined;
    if (p === from) throw malformed("a name is missing");
    this.#scanAt = p;
    return this.#nameCache.names.intern(buffer, from, p);
  }

  #scanAttribute(): WrittenAttribute | undefined {
    const name = this.#scanName();
    if (name === undefined) return undefined;
    this.#skipSpace();
    if (this.#scanAt >= this.end) return undefined;
    if (this.buffer[this.#scanAt++] !== EQUALS) throw malformed("an attribute has no value");
    this.#skipSpace();
    if (this.#scanAt >= this.end) return undefined;
    const quote = this.buffer[this.#scanAt++];
    if (quote !== QUOTE && quote !== APOSTROPHE) throw malformed("an attribute is not quoted");
    const value = this.#scanValue(quote);
    return value === undefined ? undefined : [name, value];
  }

  #scanValue(quote: number): string | undefined {
    const { buffer, end } = this;
    let value = "";
    let from = this.#scanAt;
    const limit = this.#limits["xml.textChars"];
    let p = from;
    for (; p < end; p++) {
      const byte = buffer[p];
      if (byte === quote) {
        value += this.#nameCache.values.intern(buffer, from, p);
        this.#scanAt = p + 1;
        if (value.length > limit && countChars(value) > limit) throw tooLong();
        return value;
      }
      if (byte === LESS) throw malformed("an attribute holds <");
      if (byte === AMPERSAND) {
        let q = p + 1;
        while (q < end && buffer[q] !== SEMICOLON && q - p <= this.#limits["xml.nameChars"]) q++;
        if (q >= end) break;
        if (buffer[q] !== SEMICOLON) throw malformed("an ampersand does not start a reference");
        value += this.#nameCache.values.intern(buffer, from, p);
        value += String.fromCodePoint(referenced(buffer.toString("latin1", p + 1, q)));
        from = q + 1;
        p = q;
      } else this.#checkByte(p);
    }
    if (value.length + p - from > limit && countChars(value + buffer.toString("utf8", from, p)) > limit)
      throw tooLong();
    return undefined;
  }

  #scanDeclaration(): (readonly [name: string, value: string])[] | undefined {
    const found: (readonly [string, string])[] = [];
    for (;;) {
      const spaced = this.#skipSpace();
      if (this.#scanAt + 1 >= this.end) return undefined;
      if (this.buffer[this.#scanAt] === QUESTION) {
        if (this.buffer[this.#scanAt + 1] !== GREATER) throw malformed("its XML declaration is wrong");
        this.#scanAt += 2;
        return found;
      }
      if (!spaced) throw malformed("its XML declaration is wrong");
      const pair = this.#scanAttribute();
      if (pair === undefined) return undefined;
      found.push([pair[0].text, pair[1]]);
    }
  }

  // Between tags.

  #characters(): ScanStep {
    const { buffer, end, position } = this;
    if (buffer[position] === AMPERSAND) return this.#reference();
    let p = position;
    for (; p < end; p++) {
      const byte = buffer[p];
      if (byte === LESS || byte === AMPERSAND) break;
      if (byte === BRACKET) {
        if (!this.ended && this.#mayBeCut(p)) break;
        if (buffer[p + 1] === BRACKET && buffer[p + 2] === GREATER && p + 2 < end) throw malformed("text holds ]]>");
      } else if (byte === CR && p + 1 >= end && !this.ended) {
        break; // A line feed may follow.
      } else this.#checkByte(p);
    }
    return p === position ? MORE : this.#textUpTo(position, p, p);
  }

  #reference(): ScanStep {
    const { buffer, end, position } = this;
    for (let p = position + 1; p < end; p++) {
      if (p - position > this.#limits["xml.nameChars"]) break;
      if (buffer[p] !== SEMICOLON) continue;
      const code = referenced(buffer.toString("latin1", position + 1, p));
      if (this.depth === 0) throw malformed("there is text outside the root element");
      this.position = p + 1;
      this.#isRunBlank = false;
      return this.#emitText(String.fromCodePoint(code));
    }
    if (end - position > this.#limits["xml.nameChars"]) throw malformed("an ampersand does not start a reference");
    return MORE;
  }

  #cdata(): ScanStep {
    const { buffer, end, position } = this;
    let p = position;
    for (; p < end; p++) {
      const byte = buffer[p];
      if (byte === BRACKET) {
        if (this.#mayBeCut(p)) break;
        if (buffer[p + 1] === BRACKET && buffer[p + 2] === GREATER) {
          this.#section = "markup";
          return this.#textUpTo(position, p, p + 3);
        }
      } else if (byte === CR && p + 1 >= end) {
        break; // A line feed may follow.
      } else this.#checkByte(p);
    }
    return p === position ? MORE : this.#textUpTo(position, p, p);
  }

  /** Whether `]]>` may begin with the bracket at `p` and continue in bytes to come. */
  #mayBeCut(p: number): boolean {
    const { buffer, end } = this;
    return p + 2 >= end && (p + 1 >= end || buffer[p + 1] === BRACKET);
  }

  #comment(): ScanStep {
    const { buffer, end } = this;
    for (let p = this.position; p < end; p++) {
      const byte = buffer[p];
      if (byte === DASH) {
        this.position = p;
        if (p + 1 >= end) return MORE;
        if (buffer[p + 1] !== DASH) continue;
        if (p + 2 >= end) return MORE;
        if (buffer[p + 2] !== GREATER) throw malformed("a comment holds --");
        this.position = p + 3;
        this.#section = "markup";
        return AGAIN;
      }
      this.#checkByte(p);
    }
    this.position = end;
    return MORE;
  }

  #textUpTo(from: number, to: number, next: number): ScanStep {
    this.position = next;
    if (from === to) return AGAIN;
    const raw = this.buffer.toString("utf8", from, to);
    return this.#emitText(raw.includes("\r") ? raw.replace(/\r\n?/g, "\n") : raw);
  }

  #emitText(text: string): ScanStep {
    const blank = isBlank(text);
    if (this.depth === 0) {
      if (!blank) throw malformed("there is text outside the root element");
      return AGAIN;
    }
    this.text = text;
    this.#isRunBlank &&= blank;
    this.#runChars += countChars(text);
    if (this.#runChars > this.#limits["xml.textChars"] && !this.#isRunBlank) throw tooLong();
    return TEXT;
  }

  /** Refuses a byte, or the character it begins, that XML does not allow. */
  #checkByte(p: number): void {
    const byte = this.buffer[p];
    if (byte < SPACE && byte !== LF && byte !== CR && byte !== TAB) throw malformed("it holds a control character");
    // U+FFFE and U+FFFF.
    if (byte === 0xef && this.buffer[p + 1] === 0xbf && this.buffer[p + 2] >= 0xbe) {
      throw malformed("it holds a character that XML does not allow");
    }
  }
}

function tooLong(): FieldprobeError {
  return new LimitError("xml.textChars", "A value is too long.");
}
