/** Writes the numbers of a result as rows and nested arrays of JSON; null where they are not finite. */
import type { RecordForm, TextWorkers } from "../../text/text-task.js";
import { isLarge, writeHere, writtenRecords } from "../../text/written-records.js";

const NUMBER_LINES = formOf(1, "", "\n");

/** Nested arrays of a shape, outermost dimension first. Each part is read before the next is requested. */
export async function* nestedArrays(
  parts: AsyncIterable<Float32Array>,
  shape: readonly number[],
): AsyncGenerator<Buffer, undefined> {
  // Numbers in one element of each dimension.
  const spans = shape.map((_, axis) => shape.slice(axis).reduce((product, length) => product * length, 1));
  let count = 0;
  /** Arrays that begin or end at this number. */
  const bounds = () => spans.filter((span) => count % span === 0).length;
  for await (const part of parts) {
    for (const chunk of writeHere([part], NUMBER_LINES)) {
      let text = "";
      for (const number of chunk.toString("latin1").split("\n").slice(0, -1)) {
        if (count > 0) text += ",";
        text += "[".repeat(bounds()) + number;
        count++;
        text += "]".repeat(bounds());
      }
      yield Buffer.from(text, "latin1");
    }
  }
}

/**
 * Rows as JSON arrays in an array; the worker threads write large parts. Each part is whole rows, and is read before
 * the next is requested; of large ones a chunk may be read until then. @param spent receives the time of waiting
 */
export async function* arrayRows(
  parts: AsyncIterable<Float32Array>,
  [rows = 0, width = 0]: readonly number[],
  textThreads: TextWorkers | undefined,
  spent: (ms: number) => void,
): AsyncGenerator<Buffer, undefined> {
  const row = formOf(width, "[", "],");
  let left = rows * width;
  yield Buffer.from("[");
  for await (const part of parts) {
    left -= part.length;
    const end = part.length - (left === 0 && part.length > 0 ? width : 0);
    const others = [part.subarray(0, end)];
    if (textThreads !== undefined && isLarge({ values: others }))
      yield* writtenRecords(others, row, textThreads, spent);
    else yield* writeHere(others, row);
    if (end < part.length) yield* writeHere([part.subarray(end)], formOf(width, "[", "]"));
  }
  yield Buffer.from("]");
}

function formOf(width: number, open: string, close: string): RecordForm {
  return { separators: [open, ...Array<string>(width - 1).fill(","), close], notFinite: "null" };
}
