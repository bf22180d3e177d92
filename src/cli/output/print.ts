/** Points and their records as CSV, in chunks, because an answer may not fit one string. */
import { writeHere } from "../../text/written-records.js";

export interface Printable {
  readonly components: readonly string[];
  readonly recordsPerPoint: number;
  /** Position of each record; null if the records need none. */
  readonly points: Float32Array | null;
  readonly values: Float32Array;
}

const ROWS_PER_CHUNK = 1024;

function* rows(values: Float32Array, width: number) {
  const separators = ["", ...Array<string>(width - 1).fill(","), "\n"];
  for (const chunk of writeHere([values], { separators, notFinite: null })) yield chunk.toString("latin1");
}

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

/** Components of the same name get a prefix. */
const COORDINATES: readonly string[] = ["x", "y", "z"];

/** A header of distinct names, then a line per record: x, y, z of its point, and its components. */
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
