/** `writtenRecords` writes large results as text on the worker threads, a few passages ahead of the reader. */
import { RecordWriter, recordBytes } from "../float32/record-writer.js";
import type { QueryTexts, RecordForm } from "./text-task.js";

/**
 * Numbers from which it pays to hand text to other threads: below, this thread writes them in less than the messages
 * take.
 */
const WORTH_THREADS = 16_384;
/** Room for the text of a passage in a thread, and bytes of one that is written here. */
const PASSAGE_BYTES = 4 * 1024 * 1024;
const OWN_PASSAGE_BYTES = 64 * 1024;

/** A passage of records that is being written. */
interface RecordPassage {
  readonly values: readonly Float32Array[];
  /** The text, in memory that is lent, and the count of its bytes; null if this thread is to write it. */
  readonly text: { readonly memory: Uint8Array<SharedArrayBuffer>; readonly bytes: Promise<number | null> } | null;
}

/** Whether it pays to write a result on the worker threads. */
export function isLarge({ values }: { readonly values: readonly Float32Array[] }): boolean {
  let numbers = 0;
  for (const part of values) numbers += part.length;
  return numbers >= WORTH_THREADS;
}

/**
 * The text of records in order. Each passage may be read until the next one is asked for.
 *
 * @param values parts of the result, each of whole records, in memory that threads share
 * @param spent  told of time that passes while the next passage is written
 */
export async function* writtenRecords(
  values: readonly Float32Array[],
  form: RecordForm,
  texts: QueryTexts,
  spent: (ms: number) => void,
): AsyncGenerator<Buffer, undefined> {
  const literals = literalsOf(form);
  const numbers = literals.length - 1;
  const parts = cut(values, numbers * Math.max(1, Math.floor(PASSAGE_BYTES / recordBytes(literals))));
  const ahead: RecordPassage[] = [];
  try {
    for (;;) {
      while (ahead.length <= texts.parallelism) {
        const next = parts.next();
        if (next.done) break;
        ahead.push(begin(next.value, form, texts));
      }
      const [passage] = ahead;
      if (passage === undefined) return;
      const since = performance.now();
      const bytes = (await passage.text?.bytes) ?? null;
      spent(performance.now() - since);
      if (bytes === null || passage.text === null) yield* writeHere(passage.values, form);
      else yield Buffer.from(passage.text.memory.buffer, passage.text.memory.byteOffset, bytes);
      ahead.shift();
      giveBack(passage, texts);
    }
  } finally {
    for (const passage of ahead) giveBack(passage, texts);
  }
}

function literalsOf({ separators }: RecordForm): readonly Uint8Array[] {
  return separators.map((text) => Buffer.from(text, "latin1"));
}

/** Passages of whole records, of a bounded number of numbers. */
function* cut(values: readonly Float32Array[], most: number): Generator<Float32Array[], undefined> {
  let passage: Float32Array[] = [];
  let room = most;
  for (const part of values) {
    for (let from = 0; from < part.length; ) {
      const numbers = part.subarray(from, from + room);
      passage.push(numbers);
      from += numbers.length;
      room -= numbers.length;
      if (room > 0) continue;
      yield passage;
      passage = [];
      room = most;
    }
  }
  if (passage.length > 0) yield passage;
}

function begin(values: readonly Float32Array[], form: RecordForm, texts: QueryTexts): RecordPassage {
  const memory = texts.take(PASSAGE_BYTES);
  if (memory === null) return { values, text: null };
  const bytes = texts.write({ values, ...form, out: memory }).catch(() => null);
  return { values, text: { memory, bytes } };
}

/** Gives the memory of a passage back as soon as no thread writes to it. */
function giveBack({ text }: RecordPassage, texts: QueryTexts): void {
  void text?.bytes.then(() => texts.give(text.memory));
}

/** Writes records on this thread; each passage may be read until the next one is asked for. */
export function* writeHere(values: readonly Float32Array[], form: RecordForm): Generator<Buffer, undefined> {
  const writer = new RecordWriter();
  const literals = literalsOf(form);
  const notFinite = form.notFinite === null ? null : Buffer.from(form.notFinite, "latin1");
  const longest = recordBytes(literals);
  const step = (literals.length - 1) * Math.max(1, Math.floor(OWN_PASSAGE_BYTES / longest));
  const passage = Buffer.allocUnsafe(Math.max(OWN_PASSAGE_BYTES, longest));
  for (const part of values) {
    for (let from = 0; from < part.length; from += step) {
      const end = Math.min(part.length, from + step);
      yield passage.subarray(0, writer.write(part, from, end, literals, passage, 0, notFinite));
    }
  }
}
