/** Writes rows and nested arrays of JSON from the numbers of a result; worker threads write large ones. */
import type { Result } from "../../engine/contract/query.js";
import type { QueryTexts, RecordForm } from "../../text/text-task.js";
import { isLarge, writeHere, writtenRecords } from "../../text/written-records.js";

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

/** Is notified of time that passes while the next chunk of an answer is written. */
type Spent = (ms: number) => void;

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
