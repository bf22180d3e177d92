/** Reads points from a file or standard input: text with three numbers per line, or .npy. */
import { createReadStream } from "node:fs";
import { isNpy, readNpy } from "../../float32/npy.js";
import { PointLines } from "../../float32/point-lines.js";
import { reasonOf } from "../../system-error.js";
import { MisuseError } from "./arguments.js";

const LINE_FEED = 10;

/** Reads the points of text line by line: decoded at once it might be longer than a string may be. */
function readText(bytes: Buffer): Float32Array {
  const lines = new PointLines();
  for (let start = 0; start < bytes.length; ) {
    const feed = bytes.indexOf(LINE_FEED, start);
    const end = feed < 0 ? bytes.length : feed;
    lines.add(bytes.toString("utf8", start, end));
    start = end + 1;
  }
  return lines.points;
}

/**
 * Reads points from the file `source`, or from standard input when it is `-`.
 *
 * @returns x, y, z, x, y, z, ...
 * @throws MisuseError when the source cannot be read or holds something else
 */
export async function readPoints(source: string): Promise<Float32Array> {
  if (source.trim() === "") throw new MisuseError("the name of the file of points is empty");
  const name = source === "-" ? "standard input" : source;
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of (source === "-" ? process.stdin : createReadStream(source)) as AsyncIterable<Buffer>) {
      // A large file of another kind is not read to its end.
      if (chunks.length === 0 && !isNpy(chunk) && chunk.includes(0)) throw new Error("it is neither text nor .npy");
      chunks.push(chunk);
    }
    const bytes = Buffer.concat(chunks);
    return isNpy(bytes) ? readNpy(bytes) : readText(bytes);
  } catch (error) {
    throw new MisuseError(`${name}: ${reasonOf(error)}`);
  }
}
