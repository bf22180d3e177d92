/** What stands between tags: character data, references, CDATA sections and comments. */

import { AMPERSAND, BRACKET, CR, countChars, DASH, GREATER, isBlank, LESS, referenced, SEMICOLON } from "./chars.js";
import { AGAIN, MORE, TEXT, type XmlEvent } from "./events.js";
import { malformed } from "./names.js";
import { tooLong, XmlScanner } from "./scan.js";

/** Reads pieces of text from the bytes at hand; a run of them between two tags has a bound. */
export abstract class XmlText extends XmlScanner {
  /** Character data of a TEXT event, a piece of the whole; references resolved, line ends normalised. */
  text = "";
  /** Where the bytes at hand begin. */
  protected section: "markup" | "comment" | "cdata" = "markup";
  #runChars = 0;
  #runBlank = true;

  /** Elements open now. */
  abstract get depth(): number;

  /** Begins a run: a tag has been read. */
  protected startRun(): void {
    this.#runChars = 0;
    this.#runBlank = true;
  }

  protected comment(): typeof MORE | typeof AGAIN {
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
        this.section = "markup";
        return AGAIN;
      }
      this.checkByte(p);
    }
    this.position = end;
    return MORE;
  }

  protected cdata(): XmlEvent | typeof MORE | typeof AGAIN {
    const { buffer, end, position } = this;
    let p = position;
    for (; p < end; p++) {
      const byte = buffer[p] as number;
      if (byte === BRACKET) {
        if (p + 2 >= end && !(p + 1 < end && buffer[p + 1] !== BRACKET)) break;
        if (buffer[p + 1] === BRACKET && buffer[p + 2] === GREATER) {
          this.section = "markup";
          return this.#piece(position, p, p + 3);
        }
      } else if (byte === CR && p + 1 >= end) break;
      else this.checkByte(p);
    }
    return p === position ? MORE : this.#piece(position, p, p);
  }

  /** Character data up to the next markup, a reference or the end of the bytes at hand. */
  protected characters(): XmlEvent | typeof MORE | typeof AGAIN {
    const { buffer, end, position } = this;
    if (buffer[position] === AMPERSAND) return this.#reference();
    let p = position;
    for (; p < end; p++) {
      const byte = buffer[p] as number;
      if (byte === LESS || byte === AMPERSAND) break;
      if (byte === BRACKET) {
        if (!this.ended && p + 2 >= end && (p + 1 >= end || buffer[p + 1] === BRACKET)) break;
        if (buffer[p + 1] === BRACKET && buffer[p + 2] === GREATER && p + 2 < end) throw malformed("text holds ]]>");
      } else if (byte === CR && p + 1 >= end && !this.ended) break;
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
    if (this.depth === 0) {
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
      if (this.depth === 0) throw malformed("there is text outside the root element");
      this.position = p + 1;
      this.#runBlank = false;
      return this.#give(String.fromCodePoint(code));
    }
    if (end - position > this.limits["xml.nameChars"]) throw malformed("an ampersand starts no reference");
    return MORE;
  }
}
