/** A strict pull reader over bytes: no document type, no processing instructions, no entities but the five. */
import { LimitError } from "../../../errors.js";
import type { Steps } from "../steps.js";
import { BANG, DASH, GREATER, isSpace, LESS, QUESTION, SLASH } from "./chars.js";
import { AGAIN, DONE, END, MORE, START, type XmlEvent } from "./events.js";
import type { ByteSource } from "./input.js";
import { type Attribute, malformed, type Name, NamespaceScopes, type Pair } from "./names.js";
import type { XmlLimits } from "./scan.js";
import { XmlText } from "./text.js";

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

/**
 * Reads one document. `poll` gives the next event from the bytes at hand, or undefined where it needs more; `next` waits
 * for more. The members describe the last event and hold until the next one.
 */
export class XmlReader extends XmlText {
  /** Of the element that started or ended. */
  namespace = "";
  local = "";
  attributes: readonly Attribute[] = [];

  readonly #scopes = new NamespaceScopes();
  readonly #open: OpenElement[] = [];
  readonly #tagBytes: number;
  #started = false;
  #rootSeen = false;
  #selfClosed = false;
  #retryAt = 0;
  /** Where the last tag began. */
  #tagAt = 0;

  constructor(source: ByteSource, limits: XmlLimits) {
    super(source, limits);
    this.#tagBytes = 8 * (limits["xml.attributes"] + 1) * (limits["xml.nameChars"] + limits["xml.textChars"]);
  }

  /** Elements open now. */
  override get depth(): number {
    return this.#open.length;
  }

  /** The bytes of the last start or end tag, copied; only right after its event. */
  copyTag(): Uint8Array {
    return Uint8Array.prototype.slice.call(this.buffer, this.#tagAt, this.position);
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
      if (this.position >= this.end && this.ended) return this.#finish();
      if (this.end - this.position < this.#retryAt && !this.ended) return undefined;
      this.#retryAt = 0;
      const outcome = this.#step();
      if (outcome === AGAIN) continue;
      if (outcome !== MORE) return outcome as XmlEvent;
      if (this.ended && this.position < this.end) throw malformed("it ends inside a construct");
      const held = this.end - this.position;
      if (held > this.#tagBytes) throw new LimitError("xml.textChars", "A tag is too long.");
      if (held > RESCAN_BYTES) this.#retryAt = held + (held >> 2);
      if (!this.ended) return undefined;
    }
  }

  #finish(): XmlEvent {
    if (!this.#rootSeen || this.#open.length > 0) {
      throw malformed(this.#started ? "it ends before its root element does" : "it is empty");
    }
    if (this.section !== "markup") throw malformed("it ends inside a construct");
    return DONE;
  }

  #step(): XmlEvent | typeof MORE | typeof AGAIN {
    if (this.section === "comment") return this.comment();
    if (this.section === "cdata") return this.cdata();
    if (this.position >= this.end) return MORE;
    if (!this.#started) {
      const declared = this.startsWith(DECLARATION_START);
      if (declared === undefined && !this.ended) return MORE;
      if (declared && !this.ended && this.position + 5 >= this.end) return MORE;
      if (declared && isSpace(this.buffer[this.position + 5])) return this.#declaration();
      this.#started = true;
    }
    if (this.buffer[this.position] !== LESS) return this.characters();
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
      this.section = "comment";
      return AGAIN;
    }
    const cdata = this.startsWith(CDATA_START);
    if (cdata && this.#open.length > 0) {
      this.position += CDATA_START.length;
      this.section = "cdata";
      return AGAIN;
    }
    if (comment === undefined || cdata === undefined) return MORE;
    throw malformed("it holds a document type declaration or a stray <!");
  }

  #declaration(): typeof MORE | typeof AGAIN {
    this.at = this.position + DECLARATION_START.length;
    const found = this.scanDeclaration();
    if (found === undefined) return MORE;
    this.position = this.at;
    this.#started = true;
    let i = 0;
    if (found[i]?.[0] !== "version" || found[i]?.[1] !== "1.0") throw malformed("its version is not 1.0");
    i++;
    if (found[i]?.[0] === "encoding") this.source.declare((found[i++] as readonly [string, string])[1]);
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
    this.startRun();
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
    if (pairs.length > 0) this.#scopes.declare(pairs);
    const namespace = this.#scopes.find(name.prefix);
    if (name.prefix === "xmlns") throw malformed("an element has the prefix xmlns");
    this.attributes = pairs.length > 0 ? this.#scopes.attributes(pairs) : NO_ATTRIBUTES;
    this.#open.push({ name, namespace, mark });
    this.namespace = namespace;
    this.local = name.local;
    this.#selfClosed = selfClosed;
    return START;
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
