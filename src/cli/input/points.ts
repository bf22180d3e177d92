/** Reads points from a file or standard input: text with three numbers per line, or .npy. */
import { createReadStream } from "node:fs";
import { parseFloat32 } from "../../float32/parse.js";
import { reasonOf } from "../../system-error.js";
import { MisuseError, NUMBER } from "./arguments.js";
import { isNpy, readNpy } from "./npy.js";

/** Separator of the numbers of a line. */
const SEPARATOR = /\s*[,;]\s*|\s+/;
/** A word that is meant as a number, so that its line is not a header: `1`, `"2"`, `0x10`, `nan`. */
const NUMBER_LIKE = /^["']?[+-]?(\d|\.\d|(nan|inf|infinity)["']?$)/i;
const LINE_FEED = 10;

/** A column of a coordinate: `x`, `"Y"`, `z [m]`, `y+`, `pos_x`, and `Points:0` of ParaView. */
const COORDINATE =
  /^(?:(?:pos(?:ition)?|p|points?|coord(?:inate)?s?)?[_ :-]?([xyz])|points?:([012]))\s*(?:[[(].*|\+)?$/i;

/** The columns that a header names. */
interface Columns {
  readonly count: number;
  /** Column of x, y and z. */
  readonly at: readonly [number, number, number];
  readonly separator: RegExp;
}

/**
 * The columns of x, y and z by the names of a header; null for a comment, which names none of them.
 *
 * @throws Error where the names leave it open which columns are meant
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
  if (named.length === 3 && !at.includes(-1))
    return { count: axes.length, at: at as unknown as Columns["at"], separator };
  if (isComment && named.length < 2) return null;
  throw new Error(`the header ${JSON.stringify(header.slice(0, 64))} does not name one column each x, y and z`);
}

/**
 * Reads text: x, y and z on every line, between them a comma, a semicolon or blanks. The first line may be a header,
 * which is a line that begins with # or has nothing in it that could be a number: it names the columns, in any order
 * and among others. Blank lines are skipped.
 *
 * @returns x, y, z, x, y, z, ..., each rounded once to float32
 * @throws Error that names the line
 */
export function readCsv(bytes: Buffer): Float32Array {
  let points = new Float32Array(3 * 1024);
  let length = 0;
  let columns: Columns | null = null;
  for (let start = 0, line = 1; start < bytes.length; line++) {
    const feed = bytes.indexOf(LINE_FEED, start);
    const end = feed < 0 ? bytes.length : feed;
    const text = bytes
      .toString("utf8", start, end)
      .replace(/^\uFEFF/, "")
      .trim();
    start = end + 1;
    if (text === "") continue;
    const cells = text.split(SEPARATOR);
    if (line === 1 && (text.startsWith("#") || !cells.some((cell) => NUMBER_LIKE.test(cell)))) {
      columns = columnsOf(text);
      continue;
    }
    const point = columns === null ? cells : pointAt(columns, text, cells);
    if (point.length !== 3 || !point.every((cell) => NUMBER.test(cell))) {
      throw new Error(`line ${line}: three numbers expected, found ${JSON.stringify(text.slice(0, 64))}`);
    }
    if (length === points.length) {
      const grown = new Float32Array(2 * length);
      grown.set(points);
      points = grown;
    }
    for (const cell of point) points[length++] = parseFloat32(cell) as number;
  }
  return points.subarray(0, length);
}

/** The cells of x, y and z in a line; none where it has another number of columns than the header. */
function pointAt({ count, at, separator }: Columns, text: string, cells: readonly string[]): string[] {
  const row = cells.length === count ? cells : text.split(separator);
  return row.length === count ? at.map((column) => row[column] as string) : [];
}

/**
 * Reads points from the file `source`, or from standard input when it is `-`.
 *
 * @throws MisuseError when the source cannot be read or holds something else
 */
export async function readPoints(source: string): Promise<Float32Array> {
  const name = source === "-" ? "standard input" : source;
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of source === "-" ? process.stdin : createReadStream(source)) chunks.push(chunk as Buffer);
    const bytes = Buffer.concat(chunks);
    return isNpy(bytes) ? readNpy(bytes) : readCsv(bytes);
  } catch (error) {
    throw new MisuseError(`${name}: ${reasonOf(error)}`);
  }
}
