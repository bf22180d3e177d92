/** Lets the worker threads read the items of a large request, in chunks, while later items arrive. */
import { copyToShared } from "../shared/read-memory.js";
import type { Steps } from "./steps.js";
import type { ItemForm, QueryTexts } from "./text-task.js";

/** Bytes in order, of which those that were taken and not used are put back. */
export interface ByteQueue {
  /** Takes the available bytes; empty if there are none. */
  takeHeld(): Buffer;
  /** Takes the bytes at hand, or the next ones; null at the end, undefined if they have to be waited for. */
  take(): Buffer | null | undefined;
  /**
   * Hands on the bytes that follow those at hand, as they arrive, until `into` returns false; resolves when `take`
   * should be called again, or when `also` resolves. Bytes for which `into` has returned true may be freed.
   */
  flow(into: (bytes: Buffer) => boolean, also?: Promise<unknown>): Promise<void>;
  /** Continues with bytes that were taken, from the first that was not used. */
  putBack(bytes: Buffer): void;
}

/** Bytes of text in the first chunk; each further one has twice as many. */
const FIRST_BYTES = 128 * 1024;
/** Bytes of memory, for text and triples, of the largest: as many as chunks of answers have, which reuse it. */
const MOST_MEMORY = 4 * 1024 * 1024;
const NOTHING: Buffer = Buffer.alloc(0);
/** How full a chunk must be to be read before more bytes arrive, if no thread has work. */
const LEAST_PART = 1 / 4;

/** Takes triples that were read from a number of bytes of the text; it may read the array until it ends. */
export type TripleReceiver = (triples: Float32Array, count: number, bytes: number) => Steps<void>;

/** The end of each item: its last tag that is not empty. */
export function endOf({ tags }: ItemForm): string {
  return tags.findLast((tag) => tag !== "") ?? "";
}

/** Length of the shortest item: each number has a digit. */
export function shortestItem({ tags }: ItemForm): number {
  return tags.reduce((sum, { length }) => sum + length, 3);
}

/** Text that a thread reads. */
interface Chunk {
  readonly memory: Uint8Array<SharedArrayBuffer>;
  readonly text: Buffer;
  readonly triples: Float32Array;
  readonly done: Promise<void>;
  /** Null until a thread has read it. */
  read: { readonly count: number; readonly bytes: number } | null;
}

/**
 * Reads items of a form for as long as they come, in chunks that end where an item ends, and hands on what was read
 * in the order of the document. Stops at an item of another form, at the end of the items, or when no memory is left;
 * the reader then continues with the first byte that was not read.
 *
 * @returns whether an item was met that has another form
 */
export function readAhead(
  bytes: ByteQueue,
  form: ItemForm,
  texts: QueryTexts,
  deliver: TripleReceiver,
): Steps<boolean> {
  return new Ahead(bytes, form, texts, deliver).run();
}

/** Copies numbers from one shared memory to another. */
export function copyFloats(from: Float32Array, to: Float32Array, at: number): void {
  const bytesOf = ({ buffer, byteOffset, byteLength }: Float32Array) => new Uint8Array(buffer, byteOffset, byteLength);
  copyToShared(bytesOf(from), bytesOf(to), 4 * at);
}

class Ahead {
  readonly #bytes: ByteQueue;
  readonly #form: ItemForm;
  readonly #end: string;
  readonly #shortest: number;
  readonly #texts: QueryTexts;
  readonly #deliver: TripleReceiver;
  /** Chunks that threads read, in order. */
  readonly #chunks: Chunk[] = [];
  /** The chunk that is being filled, the bytes that it may have, and those that it has. */
  #memory: Uint8Array<SharedArrayBuffer> | null = null;
  #room = FIRST_BYTES;
  #filled = 0;
  /** Bytes that have arrived and are in no chunk. */
  #rest: Buffer = NOTHING;
  /** Whether the input has ended, and whether no more chunks are to be begun. */
  #ended = false;
  #last = false;

  constructor(bytes: ByteQueue, form: ItemForm, texts: QueryTexts, deliver: TripleReceiver) {
    this.#bytes = bytes;
    this.#form = form;
    this.#end = endOf(form);
    this.#shortest = shortestItem(form);
    this.#texts = texts;
    this.#deliver = deliver;
  }

  *run(): Steps<boolean> {
    this.#rest = this.#bytes.takeHeld();
    let isOdd = false;
    try {
      while (!isOdd) {
        const [oldest] = this.#chunks;
        if (oldest?.read) {
          yield* this.#deliver(oldest.triples, oldest.read.count, oldest.read.bytes);
          isOdd = oldest.read.bytes < oldest.text.length;
          if (!isOdd) this.#drop(oldest);
        } else if (this.#last || this.#chunks.length > this.#texts.parallelism) {
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

  /**
   * Adds what has arrived to the chunk that is being filled, and starts reading the chunk when it is full; waits if
   * nothing has arrived.
   */
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
        if (oldest === undefined && this.#filled >= LEAST_PART * this.#room && this.#begin()) return;
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

  /** Takes memory for a chunk, or for one as small as the first if there is none for a larger one. */
  #takeMemory(): Uint8Array<SharedArrayBuffer> | null {
    const memory = this.#texts.take(this.#room + 12 * this.#mostItems);
    if (memory !== null || this.#room === FIRST_BYTES) return memory;
    this.#room = FIRST_BYTES;
    return this.#takeMemory();
  }

  /** Copies bytes to the chunk that is being filled; false when it is full. What it has no room for is the rest. */
  #add(bytes: Buffer): boolean {
    const part = bytes.subarray(0, this.#room - this.#filled);
    copyToShared(part, this.#memory as Uint8Array, this.#filled);
    this.#filled += part.length;
    // Bytes that are all in the chunk may be freed.
    this.#rest = part.length === bytes.length ? NOTHING : bytes.subarray(part.length);
    return this.#filled < this.#room;
  }

  /**
   * The next bytes. An input that fails ends here; the reader meets the failure again, after all that comes before it.
   */
  #take(): Buffer | null | undefined {
    try {
      return this.#bytes.take();
    } catch {
      return null;
    }
  }

  /** Bytes of text that leave room for the triples; a multiple of the length of a number. */
  get #mostRoom(): number {
    return 4 * Math.floor((MOST_MEMORY - 12) / (4 + 48 / this.#shortest));
  }

  /** Items that the text of the chunk can hold. */
  get #mostItems(): number {
    return Math.ceil(this.#room / this.#shortest);
  }

  /**
   * Lets a thread read the whole items that have been gathered; what follows them is left for the next chunk. False
   * if there is none.
   */
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
      done: this.#texts.read({ bytes, ...this.#form, out: triples }).then(
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

  /** Gives everything that was not read back to the reader. */
  #handBack(): void {
    const parts = this.#chunks.map(({ text, read }, i) => (i === 0 && read ? text.subarray(read.bytes) : text));
    if (this.#memory !== null) parts.push(Buffer.from(this.#memory.buffer, this.#memory.byteOffset, this.#filled));
    this.#bytes.putBack(Buffer.concat([...parts, this.#rest]));
  }

  #drop(chunk: Chunk): void {
    this.#chunks.shift();
    this.#texts.give(chunk.memory);
  }

  /** Gives memory back as soon as no thread reads it. */
  #release(): void {
    if (this.#memory !== null) this.#texts.give(this.#memory);
    for (const { done, memory } of this.#chunks) void done.then(() => this.#texts.give(memory));
  }
}
