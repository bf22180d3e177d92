/** Reads points from a file or standard input: text with three numbers per line, or .npy. */
import { createReadStream } from "node:fs";
import { reasonOf } from "../../system-error.js";
import { MisuseError } from "./arguments.js";
import { isNpy, readNpy } from "./npy.js";

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;
/** Separator of the numbers of a line. */
const SEPARATOR = /\s*[,;]\s*|\s+/;
/** A word that is meant as a number, so that its line is not a header: `1`, `"2"`, `0x10`, `nan`. */
const NUMBER_LIKE = /^["']?[+-]?(\d|\.\d|(nan|inf|infinity)["']?$)/i;
const LINE_FEED = 10;

/**
 * Reads text: x, y and z on every line, between them a comma, a semicolon or blanks. The first line may be a header, which is a
 * line that begins with # or has nothing in it that could be a number; blank lines are skipped.
 *
 * @returns x, y, z, x, y, z, ...
 * @throws Error that names the line
 */
export function readCsv(bytes: Buffer): Float32Array {
  let points = new Float32Array(3 * 1024);
  let length = 0;
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
    if (line === 1 && (text.startsWith("#") || !cells.some((cell) => NUMBER_LIKE.test(cell)))) continue;
    if (cells.length !== 3 || !cells.every((cell) => NUMBER.test(cell))) {
      throw new Error(`line ${line}: three numbers expected, found ${JSON.stringify(text.slice(0, 64))}`);
    }
    if (length === points.length) {
      const grown = new Float32Array(2 * length);
      grown.set(points);
      points = grown;
    }
    for (const cell of cells) points[length++] = Number(cell);
  }
  return points.subarray(0, length);
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
