/** `PointsReader` reads request bodies with one point per line, `x TAB y TAB z`, as they arrive. */

import { DecimalScanner } from "../../float32/number-scanner.js";
import { parseFloat32 } from "../../float32/parse.js";
import { excerpt, type RequestError } from "../../shared/errors.js";
import { formOf, type ItemForm } from "../../text/items-ahead.js";
import type { BodyItems, BodyReader } from "../rest/body/body-reader.js";
import { refuse } from "../rest/parameters.js";
import type { TripleWriter } from "../rest/triple-writer.js";

/** A longer line is not a point. */
const LONGEST_LINE = 256;
const TAB = 0x09;
const LF = 0x0a;
const CR = 0x0d;

/** The destination of the points. */
export type PointWriter = Pick<TripleWriter, "add" | "addAll" | "flush">;

/** The usual form of lines, with either line end. */
const [LF_LINES, CRLF_LINES] = ["\n", "\r\n"].map((end) =>
  formOf(
    ["", "", "\t", "", "\t", "", end, ""].map((tag) => Buffer.from(tag)),
    "lines",
    2,
  ),
) as [ItemForm, ItemForm];

/** Reads lines of three decimals; each is rounded once to float32. Empty lines are taken only at the end. */
export class PointsReader implements BodyReader {
  readonly #writer: PointWriter;
  readonly #scanner = new DecimalScanner();
  /** The bytes of a line that has not ended yet. */
  #carry: Buffer = Buffer.alloc(0);
  #line = 1;
  #blank = 0;
  #form = LF_LINES;

  constructor(writer: PointWriter) {
    this.#writer = writer;
  }

  /** Lines that others read. */
  get items(): BodyItems {
    return {
      form: this.#form,
      isNext: this.#carry.length === 0 && this.#blank === 0,
      add: (triples, count) => {
        this.#writer.addAll(triples, count);
        this.#line += count;
      },
    };
  }

  /** Reads a passage of the body. @throws RequestError naming the line and what is wrong with it */
  write(passage: Buffer): void {
    let from = 0;
    if (this.#carry.length > 0) {
      const at = passage.indexOf(LF);
      const line = Buffer.concat([this.#carry, at < 0 ? passage : passage.subarray(0, at + 1)]);
      if (at < 0) {
        this.#keep(line);
        return;
      }
      this.#carry = Buffer.alloc(0);
      this.#lines(line, 0, line.length);
      from = at + 1;
    }
    const last = passage.lastIndexOf(LF) + 1;
    this.#lines(passage, from, last);
    const rest = Math.max(from, last);
    if (rest < passage.length) this.#keep(Buffer.from(passage.subarray(rest)));
  }

  /** Reads the last line, which needs no line feed. @throws RequestError as `write` does */
  end(): void {
    if (this.#carry.length > 0) {
      const line = Buffer.concat([this.#carry, Buffer.of(LF)]);
      this.#lines(line, 0, line.length);
    }
    this.#writer.flush();
  }

  #keep(line: Buffer): void {
    if (line.length > LONGEST_LINE) throw this.#wrong(`is longer than ${LONGEST_LINE} bytes`);
    this.#carry = line;
  }

  /** Reads whole lines. */
  #lines(bytes: Buffer, from: number, end: number): void {
    const scanner = this.#scanner;
    const writer = this.#writer;
    let p = from;
    while (p < end) {
      const x = scanner.read(bytes, p, end);
      let q = scanner.next;
      if (q > 0 && bytes[q] === TAB && this.#blank === 0) {
        const y = scanner.read(bytes, q + 1, end);
        q = scanner.next;
        if (q > 0 && bytes[q] === TAB) {
          const z = scanner.read(bytes, q + 1, end);
          q = scanner.next;
          const isReturn = q > 0 && bytes[q] === CR;
          if (isReturn) q++;
          if (q > 0 && bytes[q] === LF) {
            this.#form = isReturn ? CRLF_LINES : LF_LINES;
            writer.add(x, y, z);
            this.#line++;
            p = q + 1;
            continue;
          }
        }
      }
      p = this.#slowLine(bytes, p);
    }
  }

  /**
   * Reads a line that the scanner cannot decide, or reports what is wrong with it; returns where the next line begins.
   */
  #slowLine(bytes: Buffer, from: number): number {
    const end = bytes.indexOf(LF, from);
    if (end - from > LONGEST_LINE) throw this.#wrong(`is longer than ${LONGEST_LINE} bytes`);
    const text = bytes.toString("latin1", from, end).trim();
    if (text === "") this.#blank++;
    else {
      if (this.#blank > 0) throw this.#wrong("follows an empty line");
      const [x, y, z] = this.#numbers(text);
      this.#writer.add(x, y, z);
    }
    this.#line++;
    return end + 1;
  }

  #numbers(text: string): readonly [number, number, number] {
    const words = text.split(/[\t ]+/);
    if (words.length !== 3) throw this.#wrong(`has ${words.length} numbers; a point has three, separated by tabs`);
    return words.map((word) => {
      const value = parseFloat32(word);
      if (value === undefined) throw this.#wrong(`holds "${excerpt(word)}", which is not a number`);
      if (!Number.isFinite(value)) throw this.#wrong(`holds "${excerpt(word)}", which is not a finite float32`);
      return value;
    }) as unknown as readonly [number, number, number];
  }

  #wrong(what: string): RequestError {
    return refuse("points", `Line ${this.#line} of the points ${what}.`);
  }
}
