/** A strict pull reader over bytes: no document type, no processing instructions, no entities but the five. */
import { LimitError } from "../../errors.js";
import type { Steps } from "./steps.js";
import {
  AMPERSAND,
  BANG,
  BRACKET,
  CR,
  countChars,
  DASH,
  GREATER,
  isBlank,
  isSpace,
  LESS,
  QUESTION,
  referenced,
  SEMICOLON,
  SLASH,
} from "./xml-chars.js";
import { malformed, type Name, NamespaceScopes } from "./xml-names.js";
import { tooLong, type XmlLimits, XmlScanner } from "./xml-scan.js";

/** Where the bytes come from: valid UTF-8, cut between characters. */
export interface ByteSource {
  /** The next bytes; null at the end, undefined where they have to be waited for. */
  take(): Buffer | null | undefined;
  /** Resolves when `take` should be asked again. */
  arrival(): Promise<void>;
  /** Judges the encoding that the XML declaration names; throws where it contradicts what is known. */
  declare(encoding: string): void;
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

type Pair = readonly [name: Name, value: string];

const NO_ATTRIBUTES: readonly Attribute[] = [];

interface OpenElement {
  readonly name: Name;
  readonly namespace: string;
  /** Bindings to go back to at its end. */
  readonly mark: number;
}

const COMMENT_START = [LESS, BANG, DASH, DASH];
const CDATA_START = [...Buffer.from("<![CDATA[")];
const DECLARATION_START = [...Buffer.from("<?xml")];
/** Below this size a token cut by the end of the input is scanned anew with every chunk; above, only once it has grown by a quarter. */
const RESCAN_BYTES = 4096;

/** Signals inside the reader that the token at hand is not complete yet. */
const MORE = 0;
const AGAIN = -1;

/**
 * Reads one document. `poll` gives the next event from the bytes at hand, or undefined where it needs more; `next` waits
 * for more. The members describe the last event and hold until the next one.
 */
export class XmlReader extends XmlScanner {
  /** Of the element that started or ended. */
  namespace = "";
  local = "";
  attributes: readonly Attribute[] = [];
  /** Character data of a TEXT event, a piece of the whole; references resolved, line ends normalised. */
  text = "";

  readonly #source: ByteSource;
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
  #runChars = 0;
  #runBlank = true;

  constructor(source: ByteSource, limits: XmlLimits) {
    super(limits);
    this.#source = source;
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
    return !this.#selfClosed && this.#open.length + levels <= this.limits["xml.depth"];
  }

  /** The namespace a prefix stands for here, undefined where it is not declared; "" is the default namespace. */
  resolve(prefix: string): string | undefined {
    return this.#scopes.bound(prefix);
  }

  *next(): Steps<XmlEvent> {
    for (;;) {
      const event = this.poll();
      if (event !== undefined) return event;
      yield* this.fill();
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
  *fill(): Steps<void> {
    let chunk = this.#source.take();
    while (chunk === undefined) {
      yield this.#source.arrival();
      chunk = this.#source.take();
    }
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
      const declared = this.startsWith(DECLARATION_START);
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

  #bang(): typeof MORE | typeof AGAIN {
    const comment = this.startsWith(COMMENT_START);
    if (comment) {
      this.position += COMMENT_START.length;
      this.#section = "comment";
      return AGAIN;
    }
    const cdata = this.startsWith(CDATA_START);
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
      this.checkByte(p);
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
      else this.checkByte(p);
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
      else this.checkByte(p);
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
    if (this.#runChars > this.limits["xml.textChars"] && !this.#runBlank) throw tooLong();
    return TEXT;
  }

  #reference(): XmlEvent | typeof MORE | typeof AGAIN {
    const { buffer, end, position } = this;
    for (let p = position + 1; p < end; p++) {
      if (p - position > this.limits["xml.nameChars"]) break;
      if (buffer[p] !== SEMICOLON) continue;
      const code = referenced(buffer.toString("latin1", position + 1, p));
      if (this.#open.length === 0) throw malformed("there is text outside the root element");
      this.position = p + 1;
      this.#runBlank = false;
      return this.#give(String.fromCodePoint(code));
    }
    if (end - position > this.limits["xml.nameChars"]) throw malformed("an ampersand starts no reference");
    return MORE;
  }

  #declaration(): typeof MORE | typeof AGAIN {
    this.at = this.position + DECLARATION_START.length;
    const found: (readonly [string, string])[] = [];
    for (;;) {
      const spaced = this.skipSpace();
      if (this.at + 1 >= this.end) return MORE;
      if (this.buffer[this.at] === QUESTION) {
        if (this.buffer[this.at + 1] !== GREATER) throw malformed("its XML declaration is wrong");
        break;
      }
      if (!spaced) throw malformed("its XML declaration is wrong");
      const pair = this.scanAttribute();
      if (pair === undefined) return MORE;
      found.push([pair[0].text, pair[1]]);
    }
    this.position = this.at + 2;
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

  #startTag(): XmlEvent | typeof MORE {
    this.at = this.position + 1;
    const name = this.scanName();
    if (name === undefined) return MORE;
    const pairs: Pair[] = [];
    let selfClosed = false;
    for (;;) {
      const spaced = this.skipSpace();
      if (this.at >= this.end) return MORE;
      const byte = this.buffer[this.at];
      if (byte === GREATER) break;
      if (byte === SLASH) {
        if (this.at + 1 >= this.end) return MORE;
        if (this.buffer[this.at + 1] !== GREATER) throw malformed("a tag is not closed");
        this.at++;
        selfClosed = true;
        break;
      }
      if (!spaced) throw malformed("a tag holds stray characters");
      if (pairs.length >= this.limits["xml.attributes"]) {
        throw new LimitError("xml.attributes", "An element has too many attributes.");
      }
      const pair = this.scanAttribute();
      if (pair === undefined) return MORE;
      pairs.push(pair);
    }
    this.#take(this.at + 1);
    return this.#begin(name, pairs, selfClosed);
  }

  #take(next: number): void {
    this.#tagAt = this.position;
    this.position = next;
    this.#runChars = 0;
    this.#runBlank = true;
  }

  #begin(name: Name, pairs: readonly Pair[], selfClosed: boolean): XmlEvent {
    if (this.#open.length === 0) {
      if (this.#rootSeen) throw malformed("it has two root elements");
      this.#rootSeen = true;
    }
    if (this.#open.length >= this.limits["xml.depth"]) {
      throw new LimitError("xml.depth", "Elements are nested too deeply.");
    }
    const mark = this.#scopes.mark;
    if (pairs.length > 0) this.#declare(pairs);
    const namespace = this.#scopes.find(name.prefix);
    if (name.prefix === "xmlns") throw malformed("an element has the prefix xmlns");
    this.attributes = pairs.length > 0 ? this.#attributes(pairs) : NO_ATTRIBUTES;
    this.#open.push({ name, namespace, mark });
    this.namespace = namespace;
    this.local = name.local;
    this.#selfClosed = selfClosed;
    return START;
  }

  /** Makes the bindings of a tag and refuses an attribute that comes twice. */
  #declare(pairs: readonly Pair[]): void {
    for (let i = 0; i < pairs.length; i++) {
      const [{ text, prefix, local }, value] = pairs[i] as Pair;
      for (let j = 0; j < i; j++) if (pairs[j]?.[0].text === text) throw malformed("an attribute is repeated");
      if (text === "xmlns") this.#scopes.bind("", value);
      else if (prefix === "xmlns") this.#scopes.bind(local, value);
    }
  }

  #attributes(pairs: readonly Pair[]): readonly Attribute[] {
    const found: Attribute[] = [];
    for (const [{ text, prefix, local }, value] of pairs) {
      if (prefix === "xmlns" || text === "xmlns") continue;
      const namespace = prefix === "" ? "" : this.#scopes.find(prefix);
      if (found.some((other) => other.local === local && other.namespace === namespace)) {
        throw malformed("an attribute is repeated");
      }
      found.push({ namespace, local, value });
    }
    return found;
  }

  #endTag(): XmlEvent | typeof MORE {
    this.at = this.position + 2;
    const name = this.scanName();
    if (name === undefined) return MORE;
    this.skipSpace();
    if (this.at >= this.end) return MORE;
    if (this.buffer[this.at] !== GREATER) throw malformed("an end tag is not closed");
    if (this.#open.at(-1)?.name.text !== name.text) throw malformed("tags do not match");
    this.#take(this.at + 1);
    return this.#close();
  }

  #close(): XmlEvent {
    const element = this.#open.pop() as OpenElement;
    this.#scopes.close(element.mark);
    this.namespace = element.namespace;
    this.local = element.name.local;
    return END;
  }
}
