/** Prints points and their records as CSV, in chunks, so that no answer has to fit one string. */
import { writeHere } from "../../text/written-records.js";

/** The answer to print. */
export interface Printable {
  readonly components: readonly string[];
  readonly recordsPerPoint: number;
  /** x, y, z of the place of each record; null if the records need none. */
  readonly points: Float32Array | null;
  readonly values: Float32Array;
}

const ROWS_PER_CHUNK = 1024;

/** Rows of `width` numbers as text, with commas between the numbers. */
function* rows(values: Float32Array, width: number) {
  const separators = ["", ...Array<string>(width - 1).fill(","), "\n"];
  for (const chunk of writeHere([values], { separators, notFinite: null })) yield chunk.toString("latin1");
}

/** The records, each after x, y and z of its point, some at a time. */
function* withPoints(points: Float32Array, { recordsPerPoint, components, values }: Printable) {
  const width = components.length;
  const count = values.length / width;
  for (let first = 0; first < count; first += ROWS_PER_CHUNK) {
    const last = Math.min(count, first + ROWS_PER_CHUNK);
    const lines = new Float32Array((3 + width) * (last - first));
    for (let i = first; i < last; i++) {
      const point = 3 * Math.floor(i / recordsPerPoint);
      lines.set(points.subarray(point, point + 3), (3 + width) * (i - first));
      lines.set(values.subarray(width * i, width * (i + 1)), (3 + width) * (i - first) + 3);
    }
    yield lines;
  }
}

/** Names of the coordinates in a header; components of the same name are told apart by a prefix. */
const COORDINATES: readonly string[] = ["x", "y", "z"];

/**
 * CSV: a header of distinct names, then a line for every record, x, y, z of its point (if there are points) followed
 * by its components. The records of a point with several follow one another in the order of the answer.
 */
export function* csv(answer: Printable): Generator<string> {
  const { components, points, values } = answer;
  if (points === null) {
    yield `${components.join(",")}\n`;
    yield* rows(values, components.length);
    return;
  }
  const names = components.map((name) => (COORDINATES.includes(name) ? `result_${name}` : name));
  yield `${[...COORDINATES, ...names].join(",")}\n`;
  for (const lines of withPoints(points, answer)) yield* rows(lines, 3 + components.length);
}
