/** `PointLines` reads points from lines of text. */
import { parseFloat32 } from "./parse.js";

const SEPARATOR = /\s*[,;]\s*|\s+/;
/** A word that is meant as a number, so that its line is not a header: `1`, `"2"`, `0x10`, `nan`. */
const NUMBER_LIKE = /^["']?[+-]?(\d|\.\d|(nan|inf|infinity)["']?$)/i;
/** Start of a comment, which may be the header: # of numpy, % of MATLAB and COMSOL. */
const COMMENT = /^[#%]/;
/** A column of a coordinate: `x`, `"Y"`, `z [m]`, `pos_x`, and `Points:0` of ParaView. */
const COORDINATE =
  /^(?:(?:pos(?:ition)?|p|points?|coord(?:inate)?s?)?[_ :-]?([xyz])|points?:([012]))\s*(?:[[(](.*)[\])])?$/i;
const VELOCITY = /^v([xyz])$/i;
const TIME = /^t(?:ime)?\s*(?:[[(].*)?$/i;

interface Columns {
  readonly count: number;
  readonly at: readonly number[];
  /** Column of times; -1 without one. */
  readonly time: number;
  /** Columns of initial velocities along x, y and z; none without them. */
  readonly velocities: readonly number[];
  readonly separator: RegExp;
  /** Units in brackets after x, y and z. */
  readonly units: readonly string[];
}

/** Columns by a header; null for a comment that names none. Throws Error if it is open which are x, y and z. */
function columnsOf(header: string): Columns | null {
  const isComment = COMMENT.test(header);
  const text = header.replace(/^[#%]+\s*/, "");
  const separator = text.includes(",") ? /\s*,\s*/ : text.includes(";") ? /\s*;\s*/ : /\s+/;
  const names = text.split(separator).map((name) => name.replace(/^["']|["']$/g, "").trim());
  const units: string[] = [];
  const axes = names.map((name) => {
    const [, letter, digit, unit] = COORDINATE.exec(name) ?? [];
    if (unit !== undefined) units.push(unit.trim());
    return letter?.toLowerCase() ?? (digit === undefined ? null : "xyz".charAt(Number(digit)));
  });
  const at = [..."xyz"].map((axis) => axes.indexOf(axis));
  const named = axes.filter((axis) => axis !== null);
  const time = names.findIndex((name) => TIME.test(name));
  const letters = names.map((name) => VELOCITY.exec(name)?.[1]?.toLowerCase());
  const velocities = [..."xyz"].map((axis) => letters.indexOf(axis));
  const known = {
    ...{ count: axes.length, at, time, separator, units },
    velocities: velocities.includes(-1) ? [] : velocities,
  };
  if (named.length === 3 && !at.includes(-1)) return known;
  if (isComment && named.length < 2) return null;
  throw new Error(`the header ${JSON.stringify(header.slice(0, 64))} does not name one column each x, y and z`);
}

/** The cells of x, y, z, time and velocities in a line; none if it has another number of columns than the header. */
function cellsAt(
  { count, at, time, velocities, separator }: Columns,
  text: string,
  cells: readonly string[],
  timed: boolean,
): string[] {
  const row = cells.length === count ? cells : text.split(separator);
  const columns = timed ? [...at, ...(time >= 0 ? [time] : []), ...velocities] : at;
  return row.length === count ? columns.map((column) => row[column]) : [];
}

/** The number of a text, in float64: to float32 it is rounded as the text itself is. NaN if it is none. */
function numberOf(text: string): number {
  const single = parseFloat32(text) ?? Number.NaN;
  const double = Number(text);
  return Math.fround(double) === single ? double : single;
}

/**
 * Reads lines one by one: x, y and z on every line, between them a comma, a semicolon or blanks. A header before the
 * first point names the columns, in any order and among others. Blank lines and comments are skipped. If times are read,
 * a fourth number or a column t is the time of the point, and columns vx, vy and vz are its initial velocity.
 */
export class PointLines {
  #rows = new Float64Array(3 * 1024);
  /** Numbers of a row; 0 before the first. */
  #width = 0;
  readonly #timed: boolean;
  #length = 0;
  #columns: Columns | null = null;
  #line = 0;
  /** The first number of the first line, and whether the other lines count on from it. */
  #start = 0;
  #isCounted = true;
  #count = 0;

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
    if (isHeader && this.#width === 0 && this.#columns === null) {
      this.#columns = columnsOf(text);
      return;
    }
    if (isComment) return;
    const row = this.#columns === null ? cells : cellsAt(this.#columns, text, cells, this.#timed);
    const values = row.map(numberOf);
    const width = values.length;
    const fits =
      this.#width === 0
        ? width === 3 || (this.#timed && (width === 4 || this.#columns !== null))
        : width === this.#width;
    if (width < 3 || !fits || !values.every((value, c) => Number.isFinite(c === 3 ? value : Math.fround(value))))
      throw this.#refusal(text);
    if (this.#width === 0) this.#start = values[0] as number;
    this.#width = width;
    if (this.#columns !== null || this.#count !== (values[0] as number) - this.#start) this.#isCounted = false;
    this.#count++;
    if (this.#length + width > this.#rows.length) this.#grow();
    for (const value of values) this.#rows[this.#length++] = value;
  }

  get rows(): Float64Array<ArrayBuffer> {
    return this.#rows.subarray(0, this.#length);
  }

  /** Names of the numbers of a row. */
  get columns(): readonly string[] {
    const hasTime = this.#timed && (this.#columns === null ? this.#width === 4 : this.#columns.time >= 0);
    return ["x", "y", "z", ...(hasTime ? ["t"] : []), "vx", "vy", "vz"].slice(0, Math.max(3, this.#width));
  }

  /** The units that the header states of x, y and z. */
  get units(): readonly string[] {
    return this.#columns?.units ?? [];
  }

  /** Points of the lines so far, each number rounded once to float32. */
  get points(): Float32Array<ArrayBuffer> {
    const width = Math.max(3, this.#width);
    const { rows } = this;
    return Float32Array.from(
      { length: (3 * rows.length) / width },
      (_, i) => rows[width * Math.floor(i / 3) + (i % 3)],
    );
  }

  /** @throws Error if four columns without names may as well be a number of each point, x, y and z */
  requireNamed(): void {
    const isIndex = this.#isCounted && (this.#start === 0 || this.#start === 1);
    if (isIndex && this.#width === 4 && this.#count > 1)
      throw new Error(
        "the first of its four columns counts the lines; name the columns in a header: x,y,z,t or i,x,y,z",
      );
  }

  /** The rows since the last call, which are then forgotten; valid until the next line is read. */
  take(): Float64Array<ArrayBuffer> {
    const { rows } = this;
    this.#length = 0;
    return rows;
  }

  #grow(): void {
    const grown = new Float64Array(2 * this.#rows.length);
    grown.set(this.#rows);
    this.#rows = grown;
  }

  #refusal(text: string): Error {
    return new Error(`line ${this.#line}: three numbers expected, found ${JSON.stringify(text.slice(0, 64))}`);
  }
}
