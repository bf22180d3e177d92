/** Prints points and their records as CSV or JSON, in passages, so that no answer has to fit one string. */
import { FloatWriter } from "../../float32/format.js";

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

const ROWS_PER_PASSAGE = 1024;

/** The numbers `first .. first + count - 1`, separated by commas. */
function row(values: Float32Array, first: number, count: number, text: (value: number) => string): string {
  let line = text(values[first] as number);
  for (let i = first + 1; i < first + count; i++) line += `,${text(values[i] as number)}`;
  return line;
}

/** Joins `line(0) .. line(count - 1)` by `separator` into passages of many lines each. */
function* passages(count: number, separator: string, line: (i: number) => string): Generator<string> {
  for (let first = 0; first < count; first += ROWS_PER_PASSAGE) {
    const lines = [];
    for (let i = first; i < Math.min(count, first + ROWS_PER_PASSAGE); i++) lines.push(line(i));
    yield (first === 0 ? "" : separator) + lines.join(separator);
  }
}

/** Names of the coordinates in a header; components of the same name are told apart by a prefix. */
const COORDINATES: readonly string[] = ["x", "y", "z"];

/**
 * CSV: a header of distinct names, then a line for every record, x, y, z of its point (if there are points) followed
 * by its components. The records of a point with several follow one another in the order of the answer.
 */
export function* csv({ components, recordsPerPoint, points, values }: Printable): Generator<string> {
  const width = components.length;
  const writer = new FloatWriter();
  const text = (value: number) => writer.text(value);
  if (points === null) {
    yield `${components.join(",")}\n`;
    yield* passages(values.length / width, "\n", (i) => row(values, width * i, width, text));
  } else {
    const names = components.map((name) => (COORDINATES.includes(name) ? `result_${name}` : name));
    yield `${[...COORDINATES, ...names].join(",")}\n`;
    yield* passages(values.length / width, "\n", (i) => {
      const point = row(points, 3 * Math.floor(i / recordsPerPoint), 3, text);
      return `${point},${row(values, width * i, width, text)}`;
    });
  }
  if (values.length > 0) yield "\n";
}

/**
 * One JSON object: the facts, then `components`, `recordsPerPoint`, `points` (if any) and `values` with a list per
 * record. JSON has no NaN and no infinity: both become `null`.
 */
export function* json({ facts, components, recordsPerPoint, points, values }: Printable): Generator<string> {
  const writer = new FloatWriter();
  const number = (value: number) => (Number.isFinite(value) ? writer.text(value) : "null");
  const head = JSON.stringify({ ...facts, components, ...(points !== null && { recordsPerPoint }) });
  const lists = function* (numbers: Float32Array, width: number) {
    yield* passages(numbers.length / width, ",\n", (i) => `[${row(numbers, width * i, width, number)}]`);
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
