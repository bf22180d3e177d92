/**
 * `TextThreads` lets the worker threads turn text into points and results into text, in memory that all threads share.
 */

import type { QueryTexts, TriplesRead } from "../../text/text-task.js";
import type { BufferPool } from "./buffers.js";
import type { Carrier } from "./carrier.js";
import type { QueryShare } from "./fair-queue.js";

/** Bytes of text, and of what is read from it, that may be lent at a time: some, and some for each worker thread. */
const LENT_BYTES = 16 * 1024 * 1024;
const LENT_BYTES_PER_WORKER = 4 * 1024 * 1024;
/** Bytes that may be lent beyond that in small parts, so that threads read the bodies of many callers at once. */
const SMALL_LENT_BYTES = 16 * 1024 * 1024;
const SMALL_BYTES = 512 * 1024;

/** The text work of the queries of a process. */
export class TextThreads {
  readonly #carrier: Carrier;
  readonly #buffers: BufferPool;
  readonly #most: number;
  #lent = 0;

  constructor(carrier: Carrier, buffers: BufferPool) {
    this.#carrier = carrier;
    this.#buffers = buffers;
    this.#most = LENT_BYTES + carrier.parallelism * LENT_BYTES_PER_WORKER;
  }

  /** The threads for a query, which may use them by its share. */
  of(share: QueryShare): QueryTexts {
    return new ThreadsOfQuery(this, this.#carrier, share);
  }

  /** See `QueryTexts`. */
  take(bytes: number): Uint8Array<SharedArrayBuffer> | null {
    const most = this.#most + (bytes <= SMALL_BYTES ? SMALL_LENT_BYTES : 0);
    if (this.#lent + bytes > most) return null;
    const block = this.#buffers.take(bytes);
    this.#lent += bytes;
    return block;
  }

  give(block: Uint8Array<SharedArrayBuffer>): void {
    this.#lent -= block.byteLength;
    this.#buffers.give(block);
  }
}

/** The text work of one query. Every query has it, and small ones do not use it, so its functions are methods. */
class ThreadsOfQuery implements QueryTexts {
  readonly #texts: TextThreads;
  readonly #carrier: Carrier;
  readonly #share: QueryShare;

  constructor(texts: TextThreads, carrier: Carrier, share: QueryShare) {
    this.#texts = texts;
    this.#carrier = carrier;
    this.#share = share;
  }

  get parallelism(): number {
    return this.#carrier.parallelism;
  }

  take(bytes: number): Uint8Array<SharedArrayBuffer> | null {
    return this.#texts.take(bytes);
  }

  give(block: Uint8Array<SharedArrayBuffer>): void {
    this.#texts.give(block);
  }

  read(task: Parameters<QueryTexts["read"]>[0]): Promise<TriplesRead> {
    return this.#carrier.run<TriplesRead>({ kind: "read", ...task }, { share: this.#share });
  }

  write(task: Parameters<QueryTexts["write"]>[0]): Promise<number> {
    return this.#carrier.run<number>({ kind: "write", ...task }, { share: this.#share });
  }

  compress(bytes: Uint8Array, level: number): Promise<Uint8Array> {
    return this.#carrier.run<Uint8Array>({ kind: "compress", bytes, level }, { share: this.#share });
  }
}
