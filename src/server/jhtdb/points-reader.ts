/** Reads bodies with one point per line, `x TAB y TAB z`, as they arrive. */
import { parseFloat32 } from "../../float32/parse.js";
import { excerpt, type RequestError } from "../../shared/errors.js";
import { textModule } from "../../text/text-module.js";
import type { ItemForm } from "../../text/text-task.js";
import { refuse } from "../http/refusal.js";
import type { TripleWriter } from "../http/triple-writer.js";

const LONGEST_LINE = 256;
const LF = 0x0a;
const CR = 0x0d;

export type PointWriter = Pick<TripleWriter, "add" | "addAll" | "flush">;

const LF_LINES = linesEnding("\n");
const CRLF_LINES = linesEnding("\r\n");
const MAX_POINTS = 2048;

function linesEnding(end: string): ItemForm {
  return { tags: ["", "", "\t", "", "\t", "", end, ""], rules: "lines" };
}

/** Reads lines of three decimals, each rounded once to float32. Empty lines are allowed only at the end. */
export class PointsReader {
  readonly #writer: PointWriter;
  readonly #triples = new Float32Array(3 * MAX_POINTS);
  #carry: Buffer = Buffer.alloc(0);
  #line = 1;
  #blank = 0;
  #form: ItemForm = LF_LINES;

  constructor(writer: PointWriter) {
    this.#writer = writer;
  }

  get form(): ItemForm {
    return this.#form;
  }

  get isNext(): boolean {
    return this.#carry.length === 0 && this.#blank === 0;
  }

  /** Adds points that threads have read from the next lines. */
  add(triples: Float32Array, count: number): void {
    this.#writer.addAll(triples, count);
    this.#line += count;
  }

  /** @throws RequestError naming the line and what is wrong with it */
  write(part: Buffer): void {
    let from = 0;
    if (this.#carry.length > 0) {
      const at = part.indexOf(LF);
      const line = Buffer.concat([this.#carry, at < 0 ? part : part.subarray(0, at + 1)]);
      if (at < 0) {
        this.#keep(line);
        return;
      }
      this.#carry = Buffer.alloc(0);
      this.#lines(line, 0, line.length);
      from = at + 1;
    }
    const last = part.lastIndexOf(LF) + 1;
    this.#lines(part, from, last);
    const rest = Math.max(from, last);
    if (rest < part.length) this.#keep(Buffer.from(part.subarray(rest)));
  }

  /** Ends the body; the last line needs no line feed. */
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

  #lines(bytes: Buffer, from: number, end: number): void {
    for (let p = from; p < end; ) {
      const read = this.#blank > 0 ? 0 : this.#usualLines(bytes.subarray(p, end));
      p = read > 0 ? p + read : this.#slowLine(bytes, p);
    }
  }

  /** Reads lines of the usual form. Returns their bytes. */
  #usualLines(lines: Buffer): number {
    const { count, bytes } = textModule().read(lines, this.#form, this.#triples);
    this.add(this.#triples, count);
    return bytes;
  }

  /** Reads a line of another form. Returns the start of the next line. */
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
    this.#form = bytes[end - 1] === CR ? CRLF_LINES : LF_LINES;
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
