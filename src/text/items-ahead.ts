/** Reads the items of a large request on worker threads, in chunks, while later items arrive. */
import { copyToShared } from "../shared/read-memory.js";
import type { Steps } from "./steps.js";
import type { ItemForm, TextWorkers } from "./text-task.js";

/** Bytes in order; unused ones are put back. */
export interface ByteQueue {
  takeBuffered(): Buffer;
  /** Takes the bytes at hand, or the next ones; null at the end, undefined if they have to be waited for. */
  take(): Buffer | null | undefined;
  /** Hands on bytes, which may then be freed, until `into` returns false; resolves when `take` is next, or with `also`. */
  flow(into: (bytes: Buffer) => boolean, also?: Promise<unknown>): Promise<void>;
  putBack(bytes: Buffer): void;
}

/** Bytes of text in the first chunk; each further one has twice as many. */
const FIRST_BYTES = 128 * 1024;
/** Bytes of text and triples of the largest chunk, as in chunks of answers. */
const MAX_MEMORY = 4 * 1024 * 1024;
const NOTHING: Buffer = Buffer.alloc(0);
/** How full a chunk must be to be read before more bytes arrive, if no thread has work. */
const MIN_PART = 1 / 4;

/** Takes triples and the number of bytes that they were read from; may read the array until it ends. */
export type TripleReceiver = (triples: Float32Array, count: number, bytes: number) => Steps<void>;

export function endOf({ tags }: ItemForm): string {
  return tags.findLast((tag) => tag !== "") ?? "";
}

export function shortestItem({ tags }: ItemForm): number {
  return tags.reduce((sum, { length }) => sum + length, 3);
}

interface Chunk {
  readonly memory: Uint8Array<SharedArrayBuffer>;
  readonly text: Buffer;
  readonly triples: Float32Array;
  readonly done: Promise<void>;
  read: { readonly count: number; readonly bytes: number } | null;
}

/** Reads items in chunks and hands them on in order, while there is memory. Returns whether one had another form. */
export function readAhead(
  bytes: ByteQueue,
  form: ItemForm,
  textThreads: TextWorkers,
  deliver: TripleReceiver,
): Steps<boolean> {
  return new Ahead(bytes, form, textThreads, deliver).run();
}

export function copyFloats(from: Float32Array, to: Float32Array, at: number): void {
  const bytesOf = ({ buffer, byteOffset, byteLength }: Float32Array) => new Uint8Array(buffer, byteOffset, byteLength);
  copyToShared(bytesOf(from), bytesOf(to), 4 * at);
}

class Ahead {
  readonly #bytes: ByteQueue;
  readonly #form: ItemForm;
  readonly #end: string;
  readonly #shortest: number;
  readonly #textThreads: TextWorkers;
  readonly #deliver: TripleReceiver;
  readonly #chunks: Chunk[] = [];
  #memory: Uint8Array<SharedArrayBuffer> | null = null;
  #room = FIRST_BYTES;
  #filled = 0;
  #rest: Buffer = NOTHING;
  #ended = false;
  #last = false;

  constructor(bytes: ByteQueue, form: ItemForm, textThreads: TextWorkers, deliver: TripleReceiver) {
    this.#bytes = bytes;
    this.#form = form;
    this.#end = endOf(form);
    this.#shortest = shortestItem(form);
    this.#textThreads = textThreads;
    this.#deliver = deliver;
  }

  *run(): Steps<boolean> {
    this.#rest = this.#bytes.takeBuffered();
    let isOdd = false;
    try {
      while (!isOdd) {
        const [oldest] = this.#chunks;
        if (oldest?.read) {
          yield* this.#deliver(oldest.triples, oldest.read.count, oldest.read.bytes);
          isOdd = oldest.read.bytes < oldest.text.length;
          if (!isOdd) this.#drop(oldest);
        } else if (this.#last || this.#chunks.length > this.#textThreads.parallelism) {
          if (oldest === undefined) break;
          yield oldest.done;
        } else yield* this.#gather(oldest);
      }
      this.#handBack();
      return isOdd;
    } finally {
      this.#release();
    }
  }

  *#gather(oldest: Chunk | undefined): Steps<void> {
    this.#memory ??= this.#takeMemory();
    if (this.#memory === null) {
      if (oldest === undefined) this.#last = true;
      else yield oldest.done;
      return;
    }
    if (this.#rest.length === 0 && this.#filled < this.#room && !this.#ended) {
      const more = this.#take();
      if (more === undefined) {
        if (oldest === undefined && this.#filled >= MIN_PART * this.#room && this.#begin()) return;
        yield this.#bytes.flow((bytes) => this.#add(bytes), oldest?.done);
        return;
      }
      this.#ended = more === null;
      if (more !== null) this.#rest = more;
    }
    this.#add(this.#rest);
    if ((this.#filled === this.#room || this.#ended) && !this.#begin()) this.#last = true;
    if (this.#ended && this.#rest.length === 0) this.#last = true;
  }

  #takeMemory(): Uint8Array<SharedArrayBuffer> | null {
    const memory = this.#textThreads.lend(this.#room + 12 * this.#mostItems);
    if (memory !== null || this.#room === FIRST_BYTES) return memory;
    this.#room = FIRST_BYTES;
    return this.#takeMemory();
  }

  #add(bytes: Buffer): boolean {
    const part = bytes.subarray(0, this.#room - this.#filled);
    copyToShared(part, this.#memory as Uint8Array, this.#filled);
    this.#filled += part.length;
    this.#rest = part.length === bytes.length ? NOTHING : bytes.subarray(part.length);
    return this.#filled < this.#room;
  }

  /** The next bytes. An input that fails ends here; the reader meets the failure again, after what comes before it. */
  #take(): Buffer | null | undefined {
    try {
      return this.#bytes.take();
    } catch {
      return null;
    }
  }

  get #mostRoom(): number {
    return 4 * Math.floor((MAX_MEMORY - 12) / (4 + 48 / this.#shortest));
  }

  get #mostItems(): number {
    return Math.ceil(this.#room / this.#shortest);
  }

  /** Lets a thread read the whole items gathered; the rest is left for the next chunk. False if there is none. */
  #begin(): boolean {
    const memory = this.#memory as Uint8Array<SharedArrayBuffer>;
    const text = Buffer.from(memory.buffer, memory.byteOffset, this.#filled);
    const at = text.lastIndexOf(this.#end, undefined, "latin1");
    if (at < 0) return false;
    const length = at + this.#end.length;
    this.#rest = Buffer.concat([text.subarray(length), this.#rest]);
    const bytes = text.subarray(0, length);
    const triples = new Float32Array(memory.buffer, memory.byteOffset + this.#room, 3 * this.#mostItems);
    this.#memory = null;
    this.#filled = 0;
    this.#room = Math.min(this.#mostRoom, 2 * this.#room);
    const chunk: Chunk = {
      memory,
      text: bytes,
      triples,
      read: null,
      done: this.#textThreads.read({ bytes, ...this.#form, out: triples }).then(
        (read) => {
          chunk.read = read;
        },
        // A thread was lost: the reader reads these items itself.
        () => {
          chunk.read = { count: 0, bytes: 0 };
        },
      ),
    };
    this.#chunks.push(chunk);
    return true;
  }

  #handBack(): void {
    const parts = this.#chunks.map(({ text, read }, i) => (i === 0 && read ? text.subarray(read.bytes) : text));
    if (this.#memory !== null) parts.push(Buffer.from(this.#memory.buffer, this.#memory.byteOffset, this.#filled));
    this.#bytes.putBack(Buffer.concat([...parts, this.#rest]));
  }

  #drop(chunk: Chunk): void {
    this.#chunks.shift();
    this.#textThreads.giveBack(chunk.memory);
  }

  #release(): void {
    if (this.#memory !== null) this.#textThreads.giveBack(this.#memory);
    for (const { done, memory } of this.#chunks) void done.then(() => this.#textThreads.giveBack(memory));
  }
}
