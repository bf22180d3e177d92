/** This file reads the caller's points from text with a point on each line, or from a NumPy file. */
import { isNpy, readNpy } from "../../src/float32/npy.js";
import { PointLines } from "../../src/float32/point-lines.js";

/** The most points that are read. */
const MOST_POINTS = 100_000;

/** Reads points from text. @throws Error that names the first line without a point, or the number of points */
export function readPointText(text: string): Float32Array {
  const lines = new PointLines();
  for (const line of text.split(/\r\n|\r|\n/)) lines.add(line);
  return checked(lines.points);
}

/** Reads points from the bytes of a file: a NumPy file, or else text. @throws Error as `readPointText` does */
export function readPointFile(bytes: Uint8Array): Float32Array {
  return isNpy(bytes) ? checked(readNpy(bytes)) : readPointText(new TextDecoder().decode(bytes));
}

function checked(points: Float32Array): Float32Array {
  if (points.length === 0) throw new Error("There are no points.");
  if (points.length > 3 * MOST_POINTS) throw new Error(`There are more than ${MOST_POINTS} points.`);
  return points;
}
