/** Writes answers in chunks of about 64 KiB as raw float32, CSV or JSON, from a result of the engine. */
import { joinedValues, lastRead, type Result } from "../../../engine/contract/query.js";
import type { QueryTexts, RecordForm } from "../../../text/text-task.js";
import { isLarge, writeHere, writtenRecords } from "../../../text/written-records.js";
import { parquetFile } from "./column-files.js";
import { npyFile, npzFile, numberArray, textArray, textsArray } from "./numpy-files.js";
import { originOf, shapeOf, type UnwrittenAnswer } from "./unwritten-answer.js";

const CHUNK_BYTES = 64 * 1024;
const CHUNK_FLOATS = CHUNK_BYTES / 4;

/** Little-endian float32, copied chunk by chunk, so that nothing is sent from memory that workers may write to. */
export function* octetsOf(parts: Iterable<Float32Array>): Generator<Buffer> {
  for (const part of parts) {
    for (let from = 0; from < part.length; from += CHUNK_FLOATS) {
      const floats = part.subarray(from, from + CHUNK_FLOATS);
      yield Buffer.from(new Uint8Array(floats.buffer, floats.byteOffset, floats.byteLength));
    }
  }
}

function octets(answer: UnwrittenAnswer): Generator<Buffer> {
  return octetsOf(lastRead(answer.result));
}

/** One line per record, a header line first; the time comes first if there are several. */
function* csv({ result, timeCount, times, components }: UnwrittenAnswer): Generator<Buffer> {
  const several = times.length > 1;
  const columns = times.map((time) => `${time},`);
  yield Buffer.from(`${several ? "time," : ""}${components.join(",")}\r\n`);
  // Either each record of a point has its own time, or all items of one time come before those of the next.
  const timed = result.recordTimes === undefined ? 0 : result.itemsPerPoint;
  const itemsPerTime = result.items / timeCount;
  const columnOf = (item: number) => columns[timed > 0 ? item % timed : Math.floor(item / itemsPerTime)];
  let item = 0;
  for (const chunk of writeHere(result.values, formOf(components.length, "", "\r\n", null))) {
    if (several) {
      const lines = chunk.toString("latin1").split("\r\n").slice(0, -1);
      yield Buffer.from(lines.map((line) => `${columnOf(item++)}${line}\r\n`).join(""), "latin1");
    } else yield chunk;
  }
}

/** Members of a JSON answer before its values. */
function headOf(answer: UnwrittenAnswer): Buffer {
  const head = JSON.stringify({ ...answer.about, components: answer.components, shape: shapeOf(answer) });
  return Buffer.from(`${head.slice(0, -1)},"values":`);
}

/** The end of a JSON answer, and of its line on a terminal. */
const OBJECT_END = "}\n";

/** One object whose last member `values` is nested as `shape` says; what is not finite becomes null. */
function* json(answer: UnwrittenAnswer): Generator<Buffer> {
  yield headOf(answer);
  yield* nested(answer.result, shapeOf(answer));
  for (const [i, { name, components, values }] of (answer.along ?? []).entries()) {
    yield Buffer.from(`${i === 0 ? ',"with":{' : ","}${JSON.stringify(name)}:`);
    const shape = [...shapeOf(answer).slice(0, -1), ...(components.length > 1 ? [components.length] : [])];
    yield* nested({ values: [values] }, shape);
  }
  if (answer.along !== undefined) yield Buffer.from("}");
  yield Buffer.from(OBJECT_END);
}

/**
 * The numbers of a result as nested JSON arrays of a shape, outermost dimension first; what is not finite becomes null.
 */
export function* nested(result: Pick<Result, "values">, shape: readonly number[]): Generator<Buffer> {
  const writer = new NestedWriter(shape);
  for (const part of result.values) yield* writer.write(part);
  yield writer.end();
}

/** As `nested`, of parts that come one by one; each is read before the next is requested. */
export async function* nestedStream(
  parts: AsyncIterable<Float32Array>,
  shape: readonly number[],
): AsyncGenerator<Buffer> {
  const writer = new NestedWriter(shape);
  for await (const part of parts) yield* writer.write(part);
  yield writer.end();
}

/** Numbers alone, a line for each. */
const NUMBER_LINES = { separators: ["", "\n"], notFinite: "null" };

/** Writes numbers as nested JSON arrays of a shape. */
class NestedWriter {
  /** Numbers in one element of each dimension, outermost first. */
  readonly #spans: readonly number[];
  readonly #isEmpty: boolean;
  #count = 0;

  constructor(shape: readonly number[]) {
    this.#spans = shape.map((_, axis) => shape.slice(axis).reduce((product, length) => product * length, 1));
    this.#isEmpty = shape.includes(0);
  }

  /** Writes further numbers. */
  *write(part: Float32Array): Generator<Buffer> {
    for (const chunk of writeHere([part], NUMBER_LINES)) {
      let text = "";
      for (const number of chunk.toString("latin1").split("\n").slice(0, -1)) {
        if (this.#count > 0) text += ",";
        text += "[".repeat(this.#bounds) + number;
        this.#count++;
        text += "]".repeat(this.#bounds);
      }
      yield Buffer.from(text, "latin1");
    }
  }

  /** Dimensions of which an element begins or ends here. */
  get #bounds(): number {
    let bounds = 0;
    for (const span of this.#spans) if (this.#count % span === 0) bounds++;
    return bounds;
  }

  /** What is left to write. */
  end(): Buffer {
    return Buffer.from(this.#isEmpty ? "[]" : "");
  }
}

/** Names of the numbers of a record, with the quantities along paths. */
export function columnsOf({ components, along = [] }: UnwrittenAnswer): readonly string[] {
  return [...components, ...along.flatMap((one) => one.components)];
}

/** An answer whose records end with the quantities along paths. */
export function withColumns(answer: UnwrittenAnswer): UnwrittenAnswer {
  const { along = [], result, components } = answer;
  const columns = [{ width: components.length, values: joinedValues(result) }].concat(
    along.map(({ components: { length: width }, values }) => ({ width, values })),
  );
  const width = columns.reduce((sum, column) => sum + column.width, 0);
  const rows = new Float32Array(width * result.items);
  let first = 0;
  for (const column of columns) {
    for (let i = 0; i < result.items; i++)
      for (let c = 0; c < column.width; c++)
        rows[width * i + first + c] = column.values[column.width * i + c] as number;
    first += column.width;
  }
  return { ...answer, components: columnsOf(answer), result: { ...result, components: width, values: [rows] } };
}

/** Is notified of time that passes while the next chunk of an answer is written. */
type Spent = (ms: number) => void;

/**
 * A large JSON or CSV answer as the worker threads write it; null if this thread is to write it. They write records
 * of numbers alone: no column of times, and no array within a row.
 */
export function largeAnswer(
  type: string,
  answer: UnwrittenAnswer,
  spent: Spent,
): AsyncGenerator<Buffer, undefined> | null {
  const { result, times, components } = answer;
  if (answer.along !== undefined) return null;
  const rows = type === "application/json" ? largeRows(result, shapeOf(answer), spent) : null;
  if (rows !== null) return between(headOf(answer), rows, Buffer.from(OBJECT_END));
  const { texts } = result;
  if (type !== "text/csv" || times.length > 1 || texts === undefined || !isLarge(result)) return null;
  const form = formOf(components.length, "", "\r\n", null);
  const title = Buffer.from(`${components.join(",")}\r\n`);
  return between(title, writtenRecords(result.values, form, texts, spent), Buffer.alloc(0));
}

/**
 * Rows of a large result as JSON arrays in an array, as the worker threads write them; null if this thread is to
 * write them.
 */
export function largeRows(
  result: Result,
  shape: readonly number[],
  spent: Spent,
): AsyncGenerator<Buffer, undefined> | null {
  const { values, texts } = result;
  const [, width = 0] = shape;
  if (shape.length !== 2 || texts === undefined || !isLarge(result)) return null;
  const filled = values.filter(({ length }) => length > 0);
  const end = filled.at(-1) as Float32Array;
  // A comma follows each row but the last.
  const others = [...filled.slice(0, -1), end.subarray(0, end.length - width)];
  const rows = writtenRecords(others, formOf(width, "[", "],", "null"), texts, spent);
  const [last] = writeHere([end.subarray(end.length - width)], formOf(width, "[", "]]", "null"));
  return between(Buffer.from("["), rows, last);
}

/**
 * Rows of a result as JSON arrays in an array, as its parts come: large ones as the worker threads write them. Each
 * part is whole rows, and is read before the next is requested.
 */
export async function* streamedRows(
  parts: AsyncIterable<Float32Array>,
  [rows = 0, width = 0]: readonly number[],
  texts: QueryTexts | undefined,
  spent: Spent,
): AsyncGenerator<Buffer, undefined> {
  const row = formOf(width, "[", "],", "null");
  let left = rows * width;
  yield Buffer.from("[");
  for await (const part of parts) {
    left -= part.length;
    // No comma follows the last row.
    const end = part.length - (left === 0 ? width : 0);
    const others = [part.subarray(0, end)];
    if (texts !== undefined && isLarge({ values: others })) yield* writtenRecords(others, row, texts, spent);
    else yield* writeHere(others, row);
    if (end < part.length) yield* writeHere([part.subarray(end)], formOf(width, "[", "]", "null"));
  }
  yield Buffer.from("]");
}

/** Records with commas between their numbers. */
function formOf(width: number, open: string, close: string, notFinite: string | null): RecordForm {
  return { separators: [open, ...Array<string>(width - 1).fill(","), close], notFinite };
}

async function* between(first: Buffer, chunks: AsyncIterable<Buffer>, last: Buffer): AsyncGenerator<Buffer, undefined> {
  yield first;
  yield* chunks;
  if (last.length > 0) yield last;
}

/** The values as an array of NumPy. */
const valuesOf = (answer: UnwrittenAnswer) =>
  ({ name: "values", type: "<f4", shape: shapeOf(answer), passages: octets(answer) }) as const;

/** The values, with the times, the names of the components, and what the answer is about. */
function* npz(answer: UnwrittenAnswer): Generator<Buffer> {
  yield* npzFile([
    valuesOf(answer),
    numberArray("times", answer.times),
    textsArray("components", answer.components),
    ...originOf(answer).map(([name, value]) => textArray(name, value)),
  ]);
}

/** Media types of an answer, the default first. */
export const ANSWER_TYPES = [
  "application/json",
  "text/csv",
  "application/octet-stream",
  "application/x-npy",
  "application/x-npz",
  "application/vnd.apache.parquet",
] as const;

interface AnswerForm<Passages> {
  readonly contentType: string;
  readonly write: (answer: UnwrittenAnswer) => Passages;
}

/** The writer of each form, and its Content-Type. */
export const WRITERS = {
  "application/json": { contentType: "application/json; charset=utf-8", write: json },
  "text/csv": { contentType: "text/csv; charset=utf-8; header=present", write: csv },
  "application/octet-stream": { contentType: "application/octet-stream", write: octets },
  "application/x-npy": { contentType: "application/x-npy", write: (answer) => npyFile(valuesOf(answer)) },
  "application/x-npz": { contentType: "application/x-npz", write: npz },
  "application/vnd.apache.parquet": { contentType: "application/vnd.apache.parquet", write: parquetFile },
} as const satisfies Readonly<
  Record<(typeof ANSWER_TYPES)[number], AnswerForm<Generator<Buffer> | AsyncGenerator<Buffer>>>
>;
