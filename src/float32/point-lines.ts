/** `PointLines` reads points from lines of text: x, y and z on each line, or the columns that a header names. */
import { parseFloat32 } from "./parse.js";

/** Separator of the numbers of a line. */
const SEPARATOR = /\s*[,;]\s*|\s+/;
/** A word that is meant as a number, so that its line is not a header: `1`, `"2"`, `0x10`, `nan`. */
const NUMBER_LIKE = /^["']?[+-]?(\d|\.\d|(nan|inf|infinity)["']?$)/i;

/** A column of a coordinate: `x`, `"Y"`, `z [m]`, `y+`, `pos_x`, and `Points:0` of ParaView. */
const COORDINATE =
  /^(?:(?:pos(?:ition)?|p|points?|coord(?:inate)?s?)?[_ :-]?([xyz])|points?:([012]))\s*(?:[[(].*|\+)?$/i;

/** The columns that a header names. */
interface Columns {
  readonly count: number;
  /** Column of x, y and z. */
  readonly at: readonly number[];
  readonly separator: RegExp;
}

/**
 * The columns of x, y and z by the names of a header; null for a comment, which names none of them.
 *
 * @throws Error if the names leave it open which columns are meant
 */
function columnsOf(header: string): Columns | null {
  const isComment = header.startsWith("#");
  const text = header.replace(/^#+\s*/, "");
  const separator = text.includes(",") ? /\s*,\s*/ : text.includes(";") ? /\s*;\s*/ : /\s+/;
  const axes = text.split(separator).map((name) => {
    const [, letter, digit] = COORDINATE.exec(name.replace(/^["']|["']$/g, "").trim()) ?? [];
    return letter?.toLowerCase() ?? (digit === undefined ? null : "xyz".charAt(Number(digit)));
  });
  const at = [..."xyz"].map((axis) => axes.indexOf(axis));
  const named = axes.filter((axis) => axis !== null);
  if (named.length === 3 && !at.includes(-1)) return { count: axes.length, at, separator };
  if (isComment && named.length < 2) return null;
  throw new Error(`the header ${JSON.stringify(header.slice(0, 64))} does not name one column each x, y and z`);
}

/** The cells of x, y and z in a line; none if it has another number of columns than the header. */
function cellsAt({ count, at, separator }: Columns, text: string, cells: readonly string[]): string[] {
  const row = cells.length === count ? cells : text.split(separator);
  return row.length === count ? at.map((column) => row[column]) : [];
}

/**
 * Reads lines one by one: x, y and z on every line, between them a comma, a semicolon or blanks. Before the first point
 * there may be a header, which has nothing in it that could be a number or begins with #: it names the columns, in any
 * order and among others. Blank lines, and others that begin with #, are skipped.
 */
export class PointLines {
  #points = new Float32Array(3 * 1024);
  #length = 0;
  #columns: Columns | null = null;
  #line = 0;

  /** Reads the next line. @throws Error that names the line */
  add(line: string): void {
    this.#line++;
    const text = line.replace(/^\uFEFF/, "").trim();
    if (text === "") return;
    const isComment = text.startsWith("#");
    const cells = text.split(SEPARATOR);
    const isHeader = isComment || (this.#line === 1 && !cells.some((cell) => NUMBER_LIKE.test(cell)));
    if (isHeader && this.#length === 0 && this.#columns === null) {
      this.#columns = columnsOf(text);
      return;
    }
    if (isComment) return;
    const point = this.#columns === null ? cells : cellsAt(this.#columns, text, cells);
    const values = point.map(parseFloat32);
    if (values.length !== 3 || !values.every((value) => Number.isFinite(value))) throw this.#refusal(text);
    if (this.#length === this.#points.length) this.#grow();
    for (const value of values) this.#points[this.#length++] = value as number;
  }

  /** x, y, z, x, y, z, ... of the lines so far, each number rounded once to float32. */
  get points(): Float32Array<ArrayBuffer> {
    return this.#points.subarray(0, this.#length);
  }

  #grow(): void {
    const grown = new Float32Array(2 * this.#length);
    grown.set(this.#points);
    this.#points = grown;
  }

  #refusal(text: string): Error {
    return new Error(`line ${this.#line}: three numbers expected, found ${JSON.stringify(text.slice(0, 64))}`);
  }
}
