/** Results as text, written here, or on worker threads a few chunks ahead of the reader. */
import { recordBytes, textModule } from "./text-module.js";
import type { RecordForm, TextWorkers } from "./text-task.js";

const WORTH_THREADS = 16_384;
/** Text of a chunk of a thread, and of one that is written here. */
const CHUNK_BYTES = 4 * 1024 * 1024;
const OWN_CHUNK_BYTES = 64 * 1024;

interface RecordChunk {
  readonly values: readonly Float32Array[];
  readonly text: { readonly memory: Uint8Array<SharedArrayBuffer>; readonly bytes: Promise<number | null> } | null;
}

export function isLarge({ values }: { readonly values: readonly Float32Array[] }): boolean {
  let numbers = 0;
  for (const part of values) numbers += part.length;
  return numbers >= WORTH_THREADS;
}

/** Text of records in order, each chunk until the next one. `spent`: receives the time of writing. */
export async function* writtenRecords(
  values: readonly Float32Array[],
  form: RecordForm,
  textThreads: TextWorkers,
  spent: (ms: number) => void,
): AsyncGenerator<Buffer, undefined> {
  const numbers = form.separators.length - 1;
  const parts = cut(values, numbers * Math.max(1, Math.floor(CHUNK_BYTES / recordBytes(form))));
  const ahead: RecordChunk[] = [];
  try {
    for (;;) {
      while (ahead.length <= textThreads.parallelism) {
        const next = parts.next();
        if (next.done) break;
        ahead.push(begin(next.value, form, textThreads));
      }
      const [chunk] = ahead;
      if (chunk === undefined) return;
      const since = performance.now();
      const bytes = (await chunk.text?.bytes) ?? null;
      spent(performance.now() - since);
      if (bytes === null || chunk.text === null) yield* writeHere(chunk.values, form);
      else yield Buffer.from(chunk.text.memory.buffer, chunk.text.memory.byteOffset, bytes);
      ahead.shift();
      giveBack(chunk, textThreads);
    }
  } finally {
    for (const chunk of ahead) giveBack(chunk, textThreads);
  }
}

function* cut(values: readonly Float32Array[], most: number): Generator<Float32Array[], undefined> {
  let chunk: Float32Array[] = [];
  let room = most;
  for (const part of values) {
    for (let from = 0; from < part.length; ) {
      const numbers = part.subarray(from, from + room);
      chunk.push(numbers);
      from += numbers.length;
      room -= numbers.length;
      if (room > 0) continue;
      yield chunk;
      chunk = [];
      room = most;
    }
  }
  if (chunk.length > 0) yield chunk;
}

function begin(values: readonly Float32Array[], form: RecordForm, textThreads: TextWorkers): RecordChunk {
  const memory = textThreads.lend(CHUNK_BYTES);
  if (memory === null) return { values, text: null };
  const bytes = textThreads.write({ values, ...form, out: memory }).catch(() => null);
  return { values, text: { memory, bytes } };
}

function giveBack({ text }: RecordChunk, textThreads: TextWorkers): void {
  void text?.bytes.then(() => textThreads.giveBack(text.memory));
}

export function* writeHere(values: readonly Float32Array[], form: RecordForm): Generator<Buffer, undefined> {
  const longest = recordBytes(form);
  const most = (form.separators.length - 1) * Math.max(1, Math.floor(OWN_CHUNK_BYTES / longest));
  for (const part of cut(values, most)) {
    const numbers = part.reduce((sum, { length }) => sum + length, 0);
    const chunk = Buffer.allocUnsafe((numbers / (form.separators.length - 1)) * longest);
    yield chunk.subarray(0, textModule().write(part, form, chunk));
  }
}
