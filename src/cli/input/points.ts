/** Reads points from a file or standard input: text with three or four numbers per line, or .npy. */
import { createReadStream } from "node:fs";
import { isNpy, readTimedNpy } from "../../float32/npy.js";
import { PointLines } from "../../float32/point-lines.js";
import { reasonOf } from "../../shared/system.js";
import { MisuseError } from "./arguments.js";

const LINE_FEED = 10;

/** Points, and the times that they have. */
export interface PointsRead {
  /** x, y, z, x, y, z, ... */
  readonly points: Float32Array;
  readonly times: Float64Array | null;
}

/** The bytes of text in UTF-8; PowerShell writes UTF-16, which begins with a byte order mark. */
function inUtf8(bytes: Buffer): Buffer {
  const mark = bytes.toString("hex", 0, 2);
  if (mark === "fffe") return Buffer.from(bytes.toString("utf16le", 2));
  if (mark === "feff")
    return Buffer.from(
      bytes
        .subarray(2, bytes.length & ~1)
        .swap16()
        .toString("utf16le"),
    );
  return bytes;
}

/** Reads the points of text line by line: decoded at once it might be longer than a string may be. */
function readText(bytes: Buffer): PointsRead {
  const lines = new PointLines(true);
  for (let start = 0; start < bytes.length; ) {
    const feed = bytes.indexOf(LINE_FEED, start);
    const end = feed < 0 ? bytes.length : feed;
    lines.add(bytes.toString("utf8", start, end));
    start = end + 1;
  }
  lines.requireNamed();
  const { points, times } = lines;
  return { points, times };
}

/**
 * Reads points from the file `source`, or from standard input when it is `-`.
 *
 * @throws MisuseError when the source cannot be read or holds something else
 */
export async function readPoints(source: string): Promise<PointsRead> {
  if (source.trim() === "") throw new MisuseError("the name of the file of points is empty");
  const name = source === "-" ? "standard input" : source;
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of (source === "-" ? process.stdin : createReadStream(source)) as AsyncIterable<Buffer>) {
      // A large file of another kind is not read to its end.
      const isWide = /^(fffe|feff)/.test(chunk.toString("hex", 0, 2));
      if (chunks.length === 0 && !isNpy(chunk) && !isWide && chunk.includes(0))
        throw new Error("it is neither text nor .npy");
      chunks.push(chunk);
    }
    const bytes = Buffer.concat(chunks);
    return isNpy(bytes) ? readTimedNpy(bytes) : readText(inUtf8(bytes));
  } catch (error) {
    throw new MisuseError(`${name}: ${reasonOf(error)}`);
  }
}
