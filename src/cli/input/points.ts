/** Points of a file or of standard input: text with three or four numbers per line, .npy, or octets. */
import { createReadStream, readFileSync } from "node:fs";
import { isNpy, readNpy } from "../../float32/npy.js";
import { encodingOf, PointLines } from "../../float32/point-lines.js";
import { reasonOf } from "../../shared/system.js";
import { MisuseError } from "./arguments.js";

const STEP_BYTES = 64 * 1024;

/** Reads the points of text in parts: decoded at once it might be longer than a string may be. */
function readText(bytes: Buffer): ReturnType<typeof readNpy> {
  const lines = new PointLines();
  for (let at = 0; at < bytes.length; at += STEP_BYTES)
    lines.addBytes(bytes.subarray(at, at + STEP_BYTES), at + STEP_BYTES >= bytes.length);
  lines.requireNamed();
  const [stated] = lines.header.units;
  if (stated !== undefined) throw new Error(`its header says ${stated.unit}, and SOAP states no units: leave it out`);
  return { rows: lines.rows, width: lines.columns.length };
}

/** Reads points, three float32 each, from the file `source`, or from standard input if it is `-`. Throws MisuseError. */
export async function readPoints(source: string): Promise<Float32Array> {
  return naming(source, async () => {
    const bytes = await readBytes(source);
    const { rows, width } = isNpy(bytes) ? readNpy(bytes) : readText(bytes);
    if (rows.length === 0) throw new Error("it holds no point");
    if (width > 3) throw new Error("SOAP takes x, y and z of a point, without times or velocities");
    return Float32Array.from(rows);
  });
}

export interface PointsBody {
  readonly type: "text/csv" | "application/x-npy" | "application/octet-stream";
  readonly bytes: Buffer;
}

/**
 * Points of a file, or of standard input when it is `-`, as the service reads them. Octets, three or four float32 a
 * point, are those of a file that ends in .bin or .f32. @throws MisuseError for anything else
 */
export async function pointsBody(source: string): Promise<PointsBody> {
  return naming(source, async () => {
    if (/\.(bin|f32)$/i.test(source)) return { type: "application/octet-stream", bytes: readFileSync(source) };
    const bytes = await readBytes(source);
    return { type: isNpy(bytes) ? "application/x-npy" : "text/csv", bytes };
  });
}

async function readBytes(source: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of (source === "-" ? process.stdin : createReadStream(source)) as AsyncIterable<Buffer>) {
    // A large file of another kind is not read to its end.
    if (chunks.length === 0 && !isNpy(chunk) && encodingOf(chunk) === "utf-8" && chunk.includes(0))
      throw new Error("it is neither text nor .npy");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function naming<T>(source: string, step: () => Promise<T>): Promise<T> {
  if (source.trim() === "") throw new MisuseError("the name of the file of points is empty");
  try {
    return await step();
  } catch (error) {
    throw new MisuseError(`${source === "-" ? "standard input" : source}: ${reasonOf(error)}`);
  }
}
