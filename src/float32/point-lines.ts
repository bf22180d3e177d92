/** `PointLines` reads points from lines of text. */
import { parseFloat32 } from "./parse.js";

const SEPARATOR = /\s*[,;]\s*|\s+/;
/** A word that is meant as a number, so that its line is not a header: `1`, `"2"`, `0x10`, `nan`. */
const NUMBER_LIKE = /^["']?[+-]?(\d|\.\d|(nan|inf|infinity)["']?$)/i;

/** Start of a comment, which may be the header: # of numpy, % of MATLAB and COMSOL. */
const COMMENT = /^[#%]/;

/** A column of a coordinate: `x`, `"Y"`, `z [m]`, `y+`, `pos_x`, and `Points:0` of ParaView. */
const COORDINATE =
  /^(?:(?:pos(?:ition)?|p|points?|coord(?:inate)?s?)?[_ :-]?([xyz])|points?:([012]))\s*(?:[[(].*|\+)?$/i;

/** A column of times: `t`, `"time"`, `Time [s]`. */
const TIME = /^t(?:ime)?\s*(?:[[(].*)?$/i;

interface Columns {
  readonly count: number;
  readonly at: readonly number[];
  /** Column of times; -1 without one. */
  readonly time: number;
  readonly separator: RegExp;
}

/**
 * Columns of x, y and z by a header; null for a comment that names none. @throws Error if it is open which are meant
 */
function columnsOf(header: string): Columns | null {
  const isComment = COMMENT.test(header);
  const text = header.replace(/^[#%]+\s*/, "");
  const separator = text.includes(",") ? /\s*,\s*/ : text.includes(";") ? /\s*;\s*/ : /\s+/;
  const names = text.split(separator).map((name) => name.replace(/^["']|["']$/g, "").trim());
  const axes = names.map((name) => {
    const [, letter, digit] = COORDINATE.exec(name) ?? [];
    return letter?.toLowerCase() ?? (digit === undefined ? null : "xyz".charAt(Number(digit)));
  });
  const at = [..."xyz"].map((axis) => axes.indexOf(axis));
  const named = axes.filter((axis) => axis !== null);
  const time = names.findIndex((name) => TIME.test(name));
  if (named.length === 3 && !at.includes(-1)) return { count: axes.length, at, time, separator };
  if (isComment && named.length < 2) return null;
  throw new Error(`the header ${JSON.stringify(header.slice(0, 64))} does not name one column each x, y and z`);
}

function cellsAt({ count, at, time, separator }: Columns, text: string, cells: readonly string[], timed: boolean) {
  const row = cells.length === count ? cells : text.split(separator);
  return row.length === count ? (timed && time >= 0 ? [...at, time] : at).map((column) => row[column]) : [];
}

/**
 * Reads x, y and z on every line, between them a comma, a semicolon or blanks. A header, which has no number in it or
 * begins with # or %, names the columns. Blank lines and comments are skipped. If times are read, a fourth number or a
 * column t or time is the time of the point.
 */
export class PointLines {
  #points: number[] = [];
  readonly #times: number[] = [];
  readonly #timed: boolean;
  #columns: Columns | null = null;
  #line = 0;
  #hasPoints = false;
  /** The first number of the first line, and whether those of the others count the lines from there, by 1. */
  #start = 0;
  #isCounted = true;

  constructor(timed = false) {
    this.#timed = timed;
  }

  add(line: string): void {
    this.#line++;
    const text = line.replace(/^\uFEFF/, "").trim();
    if (text === "") return;
    const isComment = COMMENT.test(text);
    const cells = text.split(SEPARATOR);
    const isHeader = isComment || (this.#line === 1 && !cells.some((cell) => NUMBER_LIKE.test(cell)));
    if (isHeader && this.#points.length === 0 && !this.#hasPoints && this.#columns === null) {
      this.#columns = columnsOf(text);
      return;
    }
    if (isComment) return;
    const point = this.#columns === null ? cells : cellsAt(this.#columns, text, cells, this.#timed);
    const values = point.slice(0, 3).map(parseFloat32);
    const times = point.slice(3).map(Number);
    const fits = point.length === 3 || (point.length === 4 && this.#timed);
    if (this.#points.length === 0) this.#start = values[0] as number;
    const alike = this.#points.length === 0 || times.length * (this.#points.length / 3) === this.#times.length;
    if (!fits || !alike || ![...values, ...times].every((value) => Number.isFinite(value))) throw this.#refusal(text);
    this.#times.push(...times);
    if (this.#columns !== null || this.#points.length / 3 !== (values[0] as number) - this.#start)
      this.#isCounted = false;
    this.#points.push(...(values as number[]));
  }

  /** Points of the lines so far, each number rounded once to float32. */
  get points(): Float32Array<ArrayBuffer> {
    return Float32Array.from(this.#points);
  }

  /** @throws Error if four columns without names may as well be a number of each point, x, y and z */
  requireNamed(): void {
    const isIndex = this.#isCounted && (this.#start === 0 || this.#start === 1);
    if (isIndex && this.#times.length > 1)
      throw new Error(
        "the first of its four columns counts the lines; name the columns in a header: x,y,z,t or i,x,y,z",
      );
  }

  get times(): Float64Array | null {
    return this.#times.length === 0 ? null : Float64Array.from(this.#times);
  }

  /** Points since the last call, which are then forgotten. */
  take(): Float32Array<ArrayBuffer> {
    const points = this.points;
    this.#points = [];
    this.#hasPoints ||= points.length > 0;
    return points;
  }

  #refusal(text: string): Error {
    return new Error(`line ${this.#line}: three numbers expected, found ${JSON.stringify(text.slice(0, 64))}`);
  }
}
