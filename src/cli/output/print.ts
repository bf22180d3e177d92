/** Prints points and their records as CSV or JSON, in chunks, so that no answer has to fit one string. */
import { writeHere } from "../../text/written-records.js";

/** The answer to print, with the facts that identify it. */
export interface Printable {
  /** Members before the values, e.g. version and options. */
  readonly facts: Readonly<Record<string, unknown>>;
  readonly components: readonly string[];
  readonly recordsPerPoint: number;
  /** x, y, z of the place of each record; null if the records need none. */
  readonly points: Float32Array | null;
  readonly values: Float32Array;
}

const ROWS_PER_CHUNK = 1024;

/** Rows of `width` numbers as text, with commas between the numbers. */
function* rows(
  values: Float32Array,
  width: number,
  [open, close]: readonly [string, string],
  notFinite: string | null,
) {
  const separators = [open, ...Array<string>(width - 1).fill(","), close];
  for (const chunk of writeHere([values], { separators, notFinite })) yield chunk.toString("latin1");
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
  const line = ["", "\n"] as const;
  if (points === null) {
    yield `${components.join(",")}\n`;
    yield* rows(values, components.length, line, null);
    return;
  }
  const names = components.map((name) => (COORDINATES.includes(name) ? `result_${name}` : name));
  yield `${[...COORDINATES, ...names].join(",")}\n`;
  for (const lines of withPoints(points, answer)) yield* rows(lines, 3 + components.length, line, null);
}

/**
 * One JSON object: the facts, then `components`, `recordsPerPoint`, `points` (if any) and `values` with a list per
 * record. JSON has no NaN and no infinity: both become `null`.
 */
export function* json({ facts, components, recordsPerPoint, points, values }: Printable): Generator<string> {
  const head = JSON.stringify({ ...facts, components, ...(points !== null && { recordsPerPoint }) });
  const lists = function* (numbers: Float32Array, width: number) {
    const last = numbers.length - width;
    yield* rows(numbers.subarray(0, last), width, ["[", "],\n"], "null");
    yield* rows(numbers.subarray(last), width, ["[", "]"], "null");
  };
  yield `${head.slice(0, -1)},`;
  if (points !== null) {
    yield '"points":[';
    yield* lists(points, 3);
    yield "],";
  }
  yield '"values":[';
  yield* lists(values, components.length);
  yield "]}\n";
}
