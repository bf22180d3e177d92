/** `writtenRecords` writes large results as text on the worker threads, a few blocks ahead of the reader. */
import type { Result } from "../../engine/query.js";
import type { QueryTexts } from "../../engine/text-task.js";
import { RecordWriter, recordBytes } from "../../float32/record-writer.js";

/**
 * Numbers from which it pays to hand text to other threads: below, this thread writes them in less than the messages
 * take.
 */
const WORTH_THREADS = 16_384;
/** Room for the text of a block in a thread, and bytes of one that is written here. */
const BLOCK_BYTES = 4 * 1024 * 1024;
const OWN_BLOCK_BYTES = 64 * 1024;

/** A block of records that is being written. */
interface RecordBlock {
  readonly values: readonly Float32Array[];
  /** The text, in memory that is lent, and the count of its bytes; null where this thread is to write it. */
  readonly text: { readonly memory: SharedArrayBuffer; readonly bytes: Promise<number | null> } | null;
}

/** The form of records as text. */
export interface RecordForm {
  /** Literal text of a record: before its first number, between numbers, after the last one. */
  readonly separators: readonly string[];
  /** Text of numbers that are not finite; null: as in XML Schema. */
  readonly notFinite: string | null;
}

/** Whether it pays to write a result on the worker threads. */
export function isLarge({ values }: Pick<Result, "values">): boolean {
  let numbers = 0;
  for (const part of values) numbers += part.length;
  return numbers >= WORTH_THREADS;
}

/**
 * The text of records in order. Each block may be read until the next one is asked for.
 *
 * @param values parts of the result, each of whole records, in memory that threads share
 * @param spent  told of time that passes while the next block is written
 */
export async function* writtenRecords(
  values: readonly Float32Array[],
  form: RecordForm,
  texts: QueryTexts,
  spent: (ms: number) => void,
): AsyncGenerator<Buffer, undefined> {
  const literals = literalsOf(form);
  const numbers = literals.length - 1;
  const parts = cut(values, numbers * Math.floor(BLOCK_BYTES / recordBytes(literals)));
  const ahead: RecordBlock[] = [];
  try {
    for (;;) {
      while (ahead.length <= texts.parallelism) {
        const next = parts.next();
        if (next.done) break;
        ahead.push(begin(next.value, form, texts));
      }
      const [block] = ahead;
      if (block === undefined) return;
      const since = performance.now();
      const bytes = (await block.text?.bytes) ?? null;
      spent(performance.now() - since);
      if (bytes === null || block.text === null) yield* writeHere(block.values, form);
      else yield Buffer.from(block.text.memory, 0, bytes);
      ahead.shift();
      giveBack(block, texts);
    }
  } finally {
    for (const block of ahead) giveBack(block, texts);
  }
}

function literalsOf({ separators }: RecordForm): readonly Uint8Array[] {
  return separators.map((text) => Buffer.from(text, "latin1"));
}

/** Blocks of whole records, of at most so many numbers. */
function* cut(values: readonly Float32Array[], most: number): Generator<Float32Array[], undefined> {
  let block: Float32Array[] = [];
  let room = most;
  for (const part of values) {
    for (let from = 0; from < part.length; ) {
      const piece = part.subarray(from, from + room);
      block.push(piece);
      from += piece.length;
      room -= piece.length;
      if (room > 0) continue;
      yield block;
      block = [];
      room = most;
    }
  }
  if (block.length > 0) yield block;
}

function begin(values: readonly Float32Array[], form: RecordForm, texts: QueryTexts): RecordBlock {
  const memory = texts.take(BLOCK_BYTES);
  if (memory === null) return { values, text: null };
  const bytes = texts.write({ values, ...form, out: new Uint8Array(memory) }).catch(() => null);
  return { values, text: { memory, bytes } };
}

/** Gives the memory of a block back as soon as no thread writes to it. */
function giveBack({ text }: RecordBlock, texts: QueryTexts): void {
  void text?.bytes.then(() => texts.give(text.memory));
}

/** Writes records on this thread; each block may be read until the next one is asked for. */
export function* writeHere(values: readonly Float32Array[], form: RecordForm): Generator<Buffer, undefined> {
  const writer = new RecordWriter();
  const literals = literalsOf(form);
  const notFinite = form.notFinite === null ? null : Buffer.from(form.notFinite, "latin1");
  const longest = recordBytes(literals);
  const step = (literals.length - 1) * Math.max(1, Math.floor(OWN_BLOCK_BYTES / longest));
  const block = Buffer.allocUnsafe(Math.max(OWN_BLOCK_BYTES, longest));
  for (const part of values) {
    for (let from = 0; from < part.length; from += step) {
      const end = Math.min(part.length, from + step);
      yield block.subarray(0, writer.write(part, from, end, literals, block, 0, notFinite));
    }
  }
}
