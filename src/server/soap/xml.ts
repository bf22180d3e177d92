/** A strict pull reader over bytes: no document type, no processing instructions, no entities but the five. */
import { type FieldprobeError, LimitError } from "../../errors.js";
import { isChar, malformed, NamespaceScopes, splitName } from "./xml-names.js";

/** Where the bytes come from: valid UTF-8, cut between characters; null at the end. */
export interface ByteSource {
  next(): Promise<Buffer | null>;
  /** Judges the encoding that the XML declaration names; throws where it contradicts what is known. */
  declare(encoding: string): void;
}

/** Bounds that concern single tokens of markup. */
export interface XmlLimits {
  readonly "xml.depth": number;
  readonly "xml.attributes": number;
  readonly "xml.nameChars": number;
  readonly "xml.textChars": number;
}

export const START = 1;
export const END = 2;
export const TEXT = 3;
export const DONE = 4;
export type XmlEvent = typeof START | typeof END | typeof TEXT | typeof DONE;

export interface Attribute {
  /** "" where the attribute has no prefix. */
  readonly namespace: string;
  readonly local: string;
  readonly value: string;
}

interface OpenElement {
  readonly name: string;
  readonly namespace: string;
  readonly local: string;
  /** Bindings to go back to at its end. */
  readonly mark: number;
}

const TAB = 0x09;
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const BANG = 0x21;
const QUOTE = 0x22;
const AMPERSAND = 0x26;
const APOSTROPHE = 0x27;
const DASH = 0x2d;
const SLASH = 0x2f;
const SEMICOLON = 0x3b;
const LESS = 0x3c;
const EQUALS = 0x3d;
const GREATER = 0x3e;
const QUESTION = 0x3f;
const BRACKET = 0x5d;

const COMMENT_START = [LESS, BANG, DASH, DASH];
const CDATA_START = [...Buffer.from("<![CDATA[")];
const DECLARATION_START = [...Buffer.from("<?xml")];
const ENTITIES: ReadonlyMap<string, number> = new Map([
  ["lt", LESS],
  ["gt", GREATER],
  ["amp", AMPERSAND],
  ["apos", APOSTROPHE],
  ["quot", QUOTE],
]);
/** Below this size a token cut by the end of the input is scanned anew with every chunk; above, only once it has grown by a quarter. */
const RESCAN_BYTES = 4096;

/** Signals inside the reader that the token at hand is not complete yet. */
const MORE = 0;
const AGAIN = -1;

export function isSpace(byte: number | undefined): boolean {
  return byte === SPACE || byte === LF || byte === CR || byte === TAB;
}

/**
 * Reads one document. `poll` gives the next event from the bytes at hand, or undefined where it needs more; `next` waits
 * for more. The members describe the last event and hold until the next one.
 */
export class XmlReader {
  /** Of the element that started or ended. */
  namespace = "";
  local = "";
  name = "";
  attributes: readonly Attribute[] = [];
  /** Character data of a TEXT event, a piece of the whole; references resolved, line ends normalised. */
  text = "";
  /** Bytes at hand: `buffer[position .. end)`. For `triples.ts`, which reads ahead of the reader. */
  buffer: Buffer = Buffer.alloc(0);
  position = 0;
  end = 0;

  readonly #source: ByteSource;
  readonly #limits: XmlLimits;
  readonly #scopes = new NamespaceScopes();
  readonly #open: OpenElement[] = [];
  readonly #tagBytes: number;
  #owned = false;
  #ended = false;
  #started = false;
  #rootSeen = false;
  #section: "markup" | "comment" | "cdata" = "markup";
  #selfClosed = false;
  #retryAt = 0;
  /** Where the last tag began. */
  #tagAt = 0;
  /** Where the scan of the current tag stands. */
  #at = 0;
  #runChars = 0;
  #runBlank = true;

  constructor(source: ByteSource, limits: XmlLimits) {
    this.#source = source;
    this.#limits = limits;
    this.#tagBytes = 8 * (limits["xml.attributes"] + 1) * (limits["xml.nameChars"] + limits["xml.textChars"]);
  }

  /** Elements open now. */
  get depth(): number {
    return this.#open.length;
  }

  /** The bytes of the last start or end tag, copied; only right after its event. */
  copyTag(): Uint8Array {
    return Uint8Array.prototype.slice.call(this.buffer, this.#tagAt, this.position);
  }

  /** Whether the input has ended. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Whether what comes next is the content of the element that has just started, and `levels` more may open inside it. */
  hasRoom(levels: number): boolean {
    return !this.#selfClosed && this.#open.length + levels <= this.#limits["xml.depth"];
  }

  /** The namespace a prefix stands for here; "" is the default namespace. */
  resolve(prefix: string): string {
    return this.#scopes.find(prefix);
  }

  async next(): Promise<XmlEvent> {
    for (;;) {
      const event = this.poll();
      if (event !== undefined) return event;
      await this.fill();
    }
  }

  poll(): XmlEvent | undefined {
    if (this.#selfClosed) {
      this.#selfClosed = false;
      return this.#close();
    }
    for (;;) {
      if (this.position >= this.end && this.#ended) return this.#finish();
      if (this.end - this.position < this.#retryAt && !this.#ended) return undefined;
      this.#retryAt = 0;
      const outcome = this.#step();
      if (outcome === AGAIN) continue;
      if (outcome !== MORE) return outcome as XmlEvent;
      if (this.#ended && this.position < this.end) throw malformed("it ends inside a construct");
      const held = this.end - this.position;
      if (held > this.#tagBytes) throw new LimitError("xml.textChars", "A tag is too long.");
      if (held > RESCAN_BYTES) this.#retryAt = held + (held >> 2);
      if (!this.#ended) return undefined;
    }
  }

  /** Waits for the next bytes and puts them behind those at hand. */
  async fill(): Promise<void> {
    const chunk = await this.#source.next();
    if (chunk === null) {
      this.#ended = true;
      return;
    }
    const held = this.end - this.position;
    if (held === 0) {
      this.buffer = chunk;
      this.position = 0;
      this.end = chunk.length;
      this.#owned = false;
      return;
    }
    if (!this.#owned || this.end + chunk.length > this.buffer.length) {
      const roomy = held + chunk.length <= this.buffer.length && this.#owned;
      const target = roomy ? this.buffer : Buffer.allocUnsafe(2 * (held + chunk.length));
      target.set(this.buffer.subarray(this.position, this.end));
      this.buffer = target;
      this.#owned = true;
      this.position = 0;
      this.end = held;
    }
    this.buffer.set(chunk, this.end);
    this.end += chunk.length;
  }

  #finish(): XmlEvent {
    if (!this.#rootSeen || this.#open.length > 0) {
      throw malformed(this.#started ? "it ends before its root element does" : "it is empty");
    }
    if (this.#section !== "markup") throw malformed("it ends inside a construct");
    return DONE;
  }

  #step(): XmlEvent | typeof MORE | typeof AGAIN {
    if (this.#section === "comment") return this.#comment();
    if (this.#section === "cdata") return this.#cdata();
    if (this.position >= this.end) return MORE;
    if (!this.#started) {
      const declared = this.#startsWith(DECLARATION_START);
      if (declared === undefined && !this.#ended) return MORE;
      if (declared && !this.#ended && this.position + 5 >= this.end) return MORE;
      if (declared && isSpace(this.buffer[this.position + 5])) return this.#declaration();
      this.#started = true;
    }
    if (this.buffer[this.position] !== LESS) return this.#characters();
    const second = this.buffer[this.position + 1];
    if (this.position + 1 >= this.end) return MORE;
    if (second === SLASH) return this.#endTag();
    if (second === QUESTION) throw malformed("it holds a processing instruction");
    if (second === BANG) return this.#bang();
    return this.#startTag();
  }

  /** Whether the bytes at hand start so; undefined where too few are there to say. */
  #startsWith(pattern: readonly number[]): boolean | undefined {
    for (let i = 0; i < pattern.length; i++) {
      if (this.position + i >= this.end) return undefined;
      if (this.buffer[this.position + i] !== pattern[i]) return false;
    }
    return true;
  }

  #bang(): typeof MORE | typeof AGAIN {
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

  #comment(): typeof MORE | typeof AGAIN {
    const { buffer, end } = this;
    for (let p = this.position; p < end; p++) {
      const byte = buffer[p] as number;
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

  #cdata(): XmlEvent | typeof MORE | typeof AGAIN {
    const { buffer, end, position } = this;
    let p = position;
    for (; p < end; p++) {
      const byte = buffer[p] as number;
      if (byte === BRACKET) {
        if (p + 2 >= end && !(p + 1 < end && buffer[p + 1] !== BRACKET)) break;
        if (buffer[p + 1] === BRACKET && buffer[p + 2] === GREATER) {
          this.#section = "markup";
          return this.#piece(position, p, p + 3);
        }
      } else if (byte === CR && p + 1 >= end) break;
      else this.#checkByte(p);
    }
    return p === position ? MORE : this.#piece(position, p, p);
  }

  /** Character data up to the next markup, a reference or the end of the bytes at hand. */
  #characters(): XmlEvent | typeof MORE | typeof AGAIN {
    const { buffer, end, position } = this;
    if (buffer[position] === AMPERSAND) return this.#reference();
    let p = position;
    for (; p < end; p++) {
      const byte = buffer[p] as number;
      if (byte === LESS || byte === AMPERSAND) break;
      if (byte === BRACKET) {
        if (!this.#ended && p + 2 >= end && (p + 1 >= end || buffer[p + 1] === BRACKET)) break;
        if (buffer[p + 1] === BRACKET && buffer[p + 2] === GREATER && p + 2 < end) throw malformed("text holds ]]>");
      } else if (byte === CR && p + 1 >= end && !this.#ended) break;
      else this.#checkByte(p);
    }
    return p === position ? MORE : this.#piece(position, p, p);
  }

  #piece(from: number, to: number, next: number): XmlEvent | typeof AGAIN {
    this.position = next;
    if (from === to) return AGAIN;
    const raw = this.buffer.toString("utf8", from, to);
    return this.#give(raw.includes("\r") ? raw.replace(/\r\n?/g, "\n") : raw);
  }

  #give(text: string): XmlEvent | typeof AGAIN {
    const blank = isBlank(text);
    if (this.#open.length === 0) {
      if (!blank) throw malformed("there is text outside the root element");
      return AGAIN;
    }
    this.text = text;
    this.#runBlank &&= blank;
    this.#runChars += countChars(text);
    if (this.#runChars > this.#limits["xml.textChars"] && !this.#runBlank) throw tooLong();
    return TEXT;
  }

  #reference(): XmlEvent | typeof MORE | typeof AGAIN {
    const { buffer, end, position } = this;
    for (let p = position + 1; p < end; p++) {
      if (p - position > this.#limits["xml.nameChars"]) break;
      if (buffer[p] !== SEMICOLON) continue;
      const code = referenced(buffer.toString("latin1", position + 1, p));
      if (this.#open.length === 0) throw malformed("there is text outside the root element");
      this.position = p + 1;
      this.#runBlank = false;
      return this.#give(String.fromCodePoint(code));
    }
    if (end - position > this.#limits["xml.nameChars"]) throw malformed("an ampersand starts no reference");
    return MORE;
  }

  /** Refuses a byte (or the character it begins) that XML does not admit; `p` is inside the bytes at hand. */
  #checkByte(p: number): void {
    const byte = this.buffer[p] as number;
    if (byte < SPACE && byte !== LF && byte !== CR && byte !== TAB) throw malformed("it holds a control character");
    if (byte === 0xef && this.buffer[p + 1] === 0xbf && (this.buffer[p + 2] as number) >= 0xbe) {
      throw malformed("it holds a character that XML does not admit");
    }
  }

  #declaration(): typeof MORE | typeof AGAIN {
    this.#at = this.position + DECLARATION_START.length;
    const found: (readonly [string, string])[] = [];
    for (;;) {
      const spaced = this.#skipSpace();
      if (this.#at + 1 >= this.end) return MORE;
      if (this.buffer[this.#at] === QUESTION) {
        if (this.buffer[this.#at + 1] !== GREATER) throw malformed("its XML declaration is wrong");
        break;
      }
      if (!spaced) throw malformed("its XML declaration is wrong");
      const pair = this.#attribute();
      if (pair === undefined) return MORE;
      found.push(pair);
    }
    this.position = this.#at + 2;
    this.#started = true;
    let i = 0;
    if (found[i]?.[0] !== "version" || found[i]?.[1] !== "1.0") throw malformed("its version is not 1.0");
    i++;
    if (found[i]?.[0] === "encoding") this.#source.declare((found[i++] as readonly [string, string])[1]);
    const standalone = found[i]?.[0] === "standalone" ? found[i++]?.[1] : "no";
    if (i < found.length || (standalone !== "yes" && standalone !== "no")) {
      throw malformed("its XML declaration is wrong");
    }
    return AGAIN;
  }

  #skipSpace(): boolean {
    const from = this.#at;
    while (this.#at < this.end && isSpace(this.buffer[this.#at])) this.#at++;
    return this.#at > from;
  }

  /** The name at `#at`, or undefined where it may go on. */
  #name(): string | undefined {
    const { buffer, end } = this;
    const from = this.#at;
    let p = from;
    for (; p < end; p++) {
      const byte = buffer[p] as number;
      if (byte <= SPACE || byte === SLASH || byte === GREATER || byte === EQUALS || byte === LESS) break;
      if (byte === QUOTE || byte === APOSTROPHE || byte === QUESTION) break;
    }
    if (p - from > this.#limits["xml.nameChars"]) {
      const chars = countChars(buffer.toString("utf8", from, p));
      if (chars > this.#limits["xml.nameChars"]) throw new LimitError("xml.nameChars", "A name is too long.");
    }
    if (p >= end) return undefined;
    if (p === from) throw malformed("a name is missing");
    this.#at = p;
    return buffer.toString("utf8", from, p);
  }

  /** The attribute at `#at` as name and value, or undefined where bytes are missing. */
  #attribute(): readonly [name: string, value: string] | undefined {
    const name = this.#name();
    if (name === undefined) return undefined;
    this.#skipSpace();
    if (this.#at >= this.end) return undefined;
    if (this.buffer[this.#at++] !== EQUALS) throw malformed("an attribute has no value");
    this.#skipSpace();
    if (this.#at >= this.end) return undefined;
    const quote = this.buffer[this.#at++];
    if (quote !== QUOTE && quote !== APOSTROPHE) throw malformed("an attribute is not quoted");
    const value = this.#attributeValue(quote);
    return value === undefined ? undefined : [name, value];
  }

  #attributeValue(quote: number): string | undefined {
    const { buffer, end } = this;
    let value = "";
    let from = this.#at;
    const limit = this.#limits["xml.textChars"];
    for (let p = from; p < end; p++) {
      const byte = buffer[p] as number;
      if (byte === quote) {
        value += plainValue(buffer.toString("utf8", from, p));
        this.#at = p + 1;
        if (value.length > limit && countChars(value) > limit) throw tooLong();
        return value;
      }
      if (byte === LESS) throw malformed("an attribute holds <");
      if (byte === AMPERSAND) {
        let q = p + 1;
        while (q < end && buffer[q] !== SEMICOLON && q - p <= this.#limits["xml.nameChars"]) q++;
        if (q >= end) break;
        if (buffer[q] !== SEMICOLON) throw malformed("an ampersand starts no reference");
        value +=
          plainValue(buffer.toString("utf8", from, p)) +
          String.fromCodePoint(referenced(buffer.toString("latin1", p + 1, q)));
        from = q + 1;
        p = q;
      } else this.#checkByte(p);
    }
    return undefined;
  }

  #startTag(): XmlEvent | typeof MORE {
    this.#at = this.position + 1;
    const name = this.#name();
    if (name === undefined) return MORE;
    const pairs: (readonly [string, string])[] = [];
    let selfClosed = false;
    for (;;) {
      const spaced = this.#skipSpace();
      if (this.#at >= this.end) return MORE;
      const byte = this.buffer[this.#at];
      if (byte === GREATER) break;
      if (byte === SLASH) {
        if (this.#at + 1 >= this.end) return MORE;
        if (this.buffer[this.#at + 1] !== GREATER) throw malformed("a tag is not closed");
        this.#at++;
        selfClosed = true;
        break;
      }
      if (!spaced) throw malformed("a tag holds stray characters");
      if (pairs.length >= this.#limits["xml.attributes"]) {
        throw new LimitError("xml.attributes", "An element has too many attributes.");
      }
      const pair = this.#attribute();
      if (pair === undefined) return MORE;
      pairs.push(pair);
    }
    this.#take(this.#at + 1);
    return this.#begin(name, pairs, selfClosed);
  }

  #take(next: number): void {
    this.#tagAt = this.position;
    this.position = next;
    this.#runChars = 0;
    this.#runBlank = true;
  }

  #begin(name: string, pairs: readonly (readonly [string, string])[], selfClosed: boolean): XmlEvent {
    if (this.#open.length === 0) {
      if (this.#rootSeen) throw malformed("it has two root elements");
      this.#rootSeen = true;
    }
    if (this.#open.length >= this.#limits["xml.depth"]) {
      throw new LimitError("xml.depth", "Elements are nested too deeply.");
    }
    const mark = this.#scopes.mark;
    const [prefix, local] = splitName(name);
    if (pairs.length > 0) this.#declare(pairs);
    const namespace = this.#scopes.find(prefix);
    if (prefix === "xmlns") throw malformed("an element has the prefix xmlns");
    this.attributes = pairs.length > 0 ? this.#attributes(pairs) : [];
    this.#open.push({ name, namespace, local, mark });
    this.name = name;
    this.namespace = namespace;
    this.local = local;
    this.#selfClosed = selfClosed;
    return START;
  }

  /** Makes the bindings of a tag and refuses an attribute that comes twice. */
  #declare(pairs: readonly (readonly [string, string])[]): void {
    for (let i = 0; i < pairs.length; i++) {
      const [name, value] = pairs[i] as readonly [string, string];
      for (let j = 0; j < i; j++) if (pairs[j]?.[0] === name) throw malformed("an attribute is repeated");
      if (name === "xmlns") this.#scopes.bind("", value);
      else if (name.startsWith("xmlns:")) this.#scopes.bind(splitName(name)[1], value);
    }
  }

  #attributes(pairs: readonly (readonly [string, string])[]): readonly Attribute[] {
    const found: Attribute[] = [];
    for (const [name, value] of pairs) {
      const [prefix, local] = splitName(name);
      if (prefix === "xmlns" || name === "xmlns") continue;
      const namespace = prefix === "" ? "" : this.#scopes.find(prefix);
      if (found.some((other) => other.local === local && other.namespace === namespace)) {
        throw malformed("an attribute is repeated");
      }
      found.push({ namespace, local, value });
    }
    return found;
  }

  #endTag(): XmlEvent | typeof MORE {
    this.#at = this.position + 2;
    const name = this.#name();
    if (name === undefined) return MORE;
    this.#skipSpace();
    if (this.#at >= this.end) return MORE;
    if (this.buffer[this.#at] !== GREATER) throw malformed("an end tag is not closed");
    if (this.#open.at(-1)?.name !== name) throw malformed("tags do not match");
    this.#take(this.#at + 1);
    return this.#close();
  }

  #close(): XmlEvent {
    const element = this.#open.pop() as OpenElement;
    this.#scopes.close(element.mark);
    this.name = element.name;
    this.namespace = element.namespace;
    this.local = element.local;
    return END;
  }
}

function tooLong(): FieldprobeError {
  return new LimitError("xml.textChars", "A value is too long.");
}

export function isBlank(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (!isSpace(text.charCodeAt(i))) return false;
  return true;
}

/** Characters, that is code points. */
function countChars(text: string): number {
  let count = text.length;
  for (let i = 0; i < text.length; i++) if ((text.charCodeAt(i) & 0xfc00) === 0xdc00) count--;
  return count;
}

/** White space of an attribute's literal text becomes spaces (XML 1.0, 3.3.3). */
function plainValue(text: string): string {
  return text.replace(/\r\n?|[\t\n]/g, " ");
}

/** The code point that `&name;` stands for. */
function referenced(name: string): number {
  const entity = ENTITIES.get(name);
  if (entity !== undefined) return entity;
  const hex = name.startsWith("#x");
  const digits = name.slice(hex ? 2 : 1);
  const valid = name.startsWith("#") && (hex ? /^[0-9A-Fa-f]+$/ : /^[0-9]+$/).test(digits);
  if (!valid) throw malformed("it refers to an entity other than the five");
  const code = Number.parseInt(digits, hex ? 16 : 10);
  if (!isChar(code)) throw malformed("it refers to a character that XML does not admit");
  return code;
}
