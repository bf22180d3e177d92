/** `PointLines` reads points from lines of text, or from its bytes. */
import { parseFloat32 } from "./parse.js";

const [COMMAS, SEMICOLONS, TABS, BLANKS] = [/\s*,\s*/, /\s*;\s*/, / *\t */, /\s+/];
/** A cell in quotes, or the beginning of one. */
const QUOTED = /(?<=^|[,;\s])"(?:[^"]|"")*"/g;
/** Longest line, in letters. */
export const LONGEST_LINE = 4096;
/** A word that is meant as a number, so that its line is not a header: `1`, `"2"`, `0x10`, `nan`. */
const NUMBER_LIKE = /^["']?[+-]?(\d|\.\d|(nan|inf|infinity)["']?$)/i;
/** Start of a comment, which may be the header: # of numpy, % of MATLAB and COMSOL. */
const COMMENT = /^[#%]/;
/** The column of a number of a point, with its unit: `x`, `"Y"`, `z [m]`, `pos_x`, `Points:0` of ParaView, `t (s)`, `vx`. */
const COLUMN =
  /^(?:(?:pos(?:ition)?|p|points?|coord(?:inate)?s?)?[_ :-]?([xyz])|points?:([012])|(t)(?:ime)?|(v[xyz]))\s*(?:[[(](.*?)[\])]?)?$/i;
/** Numbers of a point that stand together. */
const GROUPS: readonly (readonly string[])[] = [["x", "y", "z"], ["t"], ["vx", "vy", "vz"]];
/** Numbers of a row without a header. */
const UNNAMED = ["x", "y", "z", "t"];

/** The unit that a header states of a number of a point. */
export interface ColumnUnit {
  readonly name: string;
  readonly unit: string;
}

interface Columns {
  readonly isComment: boolean;
  /** Cells of a line. */
  readonly count: number;
  /** The numbers of a row, and the cell of each. */
  readonly names: readonly string[];
  readonly at: readonly number[];
  readonly separator: RegExp;
  readonly units: readonly ColumnUnit[];
  /** Names of the cells that are not read. */
  readonly unread: readonly string[];
}

/** The encoding of text by its first two bytes: UTF-16 has a byte order mark, as PowerShell writes it, or a zero. */
export function encodingOf([first, second]: Uint8Array): "utf-8" | "utf-16le" | "utf-16be" {
  if ((first === 0xff && second === 0xfe) || (first !== 0 && second === 0)) return "utf-16le";
  return (first === 0xfe && second === 0xff) || (first === 0 && second !== 0) ? "utf-16be" : "utf-8";
}

function separatorOf(text: string): RegExp {
  const unquoted = text.includes('"') ? text.replace(QUOTED, "") : text;
  return unquoted.includes(",") ? COMMAS : unquoted.includes(";") ? SEMICOLONS : BLANKS;
}

/** The cells of a line; a separator in quotes is none. */
function cellsOf(text: string, separator: RegExp): string[] {
  if (!text.includes('"')) return text.split(separator);
  const quoted: string[] = [];
  const marked = text.replace(QUOTED, (part) => `\uE000${quoted.push(part) - 1}\uE000`);
  return marked.split(separator).map((cell) => cell.replace(/\uE000(\d+)\uE000/g, (_, at) => quoted[at] as string));
}

/** Columns by a header; null for a comment that names none. Throws Error if it is open which cell is which number. */
function columnsOf(header: string): Columns | null {
  const isComment = COMMENT.test(header);
  const text = header.replace(/^[#%]+\s*/, "");
  const separator = separatorOf(text) === BLANKS && text.includes("\t") ? TABS : separatorOf(text);
  const [units, unread]: [ColumnUnit[], string[]] = [[], []];
  const cells = cellsOf(text, separator).map((cell) => {
    const [, letter, digit, time, velocity, unit] = COLUMN.exec(cell.replace(/^["']|["']$/g, "").trim()) ?? [];
    const name = (letter ?? time ?? velocity)?.toLowerCase() ?? (digit && "xyz".charAt(Number(digit)));
    if (name !== undefined && unit !== undefined) units.push({ name, unit: unit.trim() });
    if (name === undefined) unread.push(cell);
    return name;
  });
  if (isComment && cells.filter((name) => name !== undefined && "xyz".includes(name)).length < 2) return null;
  const names = GROUPS.flatMap((group, g) => {
    const named = cells.filter((name) => name !== undefined && group.includes(name));
    if (named.length === 0 && g > 0) return [];
    if (named.toSorted().join() === group.join()) return group;
    const each = group.length === 1 ? group[0] : `each ${group.slice(0, 2).join(", ")} and ${group[2]}`;
    throw new Error(`the header ${JSON.stringify(header.slice(0, 64))} does not name one column ${each}`);
  });
  const at = names.map((name) => cells.indexOf(name));
  return { isComment, count: cells.length, names, at, separator, units, unread };
}

/** The cells of a row; none if it has not as many as the header, by whose separator it is split if that occurs in it. */
function cellsAt({ count, at, separator }: Columns, text: string, cells: readonly string[]): string[] {
  const isFree = [BLANKS, separatorOf(text)].includes(separator) || !separator.test(text);
  const row = isFree && cells.length === count ? cells : cellsOf(text, separator);
  return row.length === count ? at.map((column) => row[column] as string) : [];
}

/** The number of a cell, in float64: to float32 it is rounded as the text itself is. NaN if it is none. */
function numberOf(cell: string): number {
  const text = cell.startsWith('"') && cell.endsWith('"') ? cell.slice(1, -1) : cell;
  const single = parseFloat32(text) ?? Number.NaN;
  const double = Number(text);
  return Math.fround(double) === single ? double : single;
}

/**
 * Reads lines one by one: x, y and z on every line, between them a comma, a semicolon or blanks. A header before the
 * first point names the columns, in any order and among others. Blank lines are skipped, and comments before the first
 * point. A fourth number or a column t is the time of the point, and columns vx, vy and vz are its initial velocity.
 */
export class PointLines {
  #rows = new Float64Array(3 * 1024);
  /** Numbers of a row; 0 before the first. */
  #width = 0;
  #length = 0;
  #columns: Columns | null = null;
  #line = 0;
  #firstLine = "";
  /** The first number of the first point, and whether those of the others count on from it. */
  #start = 0;
  #isCounted = true;
  #count = 0;
  #decoder: InstanceType<typeof TextDecoder> | null = null;
  #rest = "";

  /** Reads the next bytes of a text in UTF-8 or UTF-16. `isLast`: its last line ends with them. Throws Error. */
  addBytes(bytes: Uint8Array, isLast: boolean): void {
    this.#decoder ??= new TextDecoder(encodingOf(bytes));
    const lines = `${this.#rest}${this.#decoder.decode(bytes, { stream: !isLast })}`.split("\n");
    if (lines.some(({ length }) => length > LONGEST_LINE)) throw new Error("a line is too long");
    this.#rest = isLast ? "" : (lines.pop() as string);
    for (const line of lines) this.add(line);
  }

  add(line: string): void {
    this.#line++;
    const text = line.replace(/^\uFEFF/, "").trim();
    if (text === "") return;
    if (this.#line === 1) this.#firstLine = text;
    const isComment = COMMENT.test(text);
    const cells = cellsOf(text, separatorOf(text));
    const isHeader = isComment || !cells.some((cell) => NUMBER_LIKE.test(cell));
    if (isHeader && this.#width === 0 && this.#columns === null) {
      this.#columns = columnsOf(text);
      return;
    }
    const values = (this.#columns === null ? cells : cellsAt(this.#columns, text, cells)).map(numberOf);
    const width = values.length;
    const names = this.#columns?.names ?? UNNAMED;
    const fits = this.#width === 0 ? width >= 3 && width <= names.length : width === this.#width;
    const isNumber = (value: number, c: number) => Number.isFinite(names[c] === "t" ? value : Math.fround(value));
    if (!fits || !values.every(isNumber)) {
      if (isComment && this.#width === 0 && this.#columns?.isComment) return;
      throw new Error(`line ${this.#line}: three numbers expected, found ${JSON.stringify(text.slice(0, 64))}`);
    }
    if (this.#width === 0) this.#start = values[0] as number;
    this.#width = width;
    if (this.#columns !== null || this.#count !== (values[0] as number) - this.#start) this.#isCounted = false;
    this.#count++;
    if (this.#length + width > this.#rows.length) {
      const grown = new Float64Array(2 * this.#rows.length);
      grown.set(this.#rows);
      this.#rows = grown;
    }
    for (const value of values) this.#rows[this.#length++] = value;
  }

  get rows(): Float64Array<ArrayBuffer> {
    return this.#rows.subarray(0, this.#length);
  }

  /** Names of the numbers of a row. */
  get columns(): readonly string[] {
    return this.#columns?.names ?? UNNAMED.slice(0, Math.max(3, this.#width));
  }

  /** What the header says besides. */
  get header(): Pick<Columns, "units" | "unread"> {
    return { units: this.#columns?.units ?? [], unread: this.#columns?.unread ?? [] };
  }

  /** @throws Error if columns without names may as well be numbered: in their first line, or their lines in the first */
  requireNamed(): void {
    const isIndex = this.#isCounted && (this.#start === 0 || this.#start === 1);
    if (isIndex && this.#width === 4 && this.#count > 1)
      throw new Error("the first of four columns counts lines; name the columns in a header: x,y,z,t or i,x,y,z");
    if (/^"?0[",;\s]+1[",;\s]+2([",;\s]+3)?"?$/.test(this.#firstLine) && this.#count > 1)
      throw new Error("line 1 numbers the columns as pandas does; write names, or 0.0,1.0,2.0 if it is a point");
  }

  /** The rows since the last call, which are then forgotten; valid until the next line is read. */
  take(): Float64Array<ArrayBuffer> {
    const { rows } = this;
    this.#length = 0;
    return rows;
  }
}
