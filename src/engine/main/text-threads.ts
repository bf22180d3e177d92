/** Text work of queries on the worker threads: text into points, results into text, in shared memory. */
import type { TextWorkers } from "../../text/text-task.js";
import type { Task } from "../contract/task.js";
import type { BufferPool } from "./buffers.js";
import type { QueryShare } from "./fair-queue.js";
import type { ThreadPool } from "./thread-pool.js";

/** Most bytes of text, and of numbers read from it, that are lent at a time: a base, and more for each worker. */
const LENT_BYTES = 16 * 1024 * 1024;
const LENT_BYTES_PER_WORKER = 4 * 1024 * 1024;
/** Bytes lent beyond that in small parts, so that threads read the bodies of many callers at once. */
const SMALL_LENT_BYTES = 16 * 1024 * 1024;
const SMALL_BYTES = 512 * 1024;

export class TextThreads {
  readonly #pool: ThreadPool;
  readonly #buffers: BufferPool;
  readonly #most: number;
  #lent = 0;

  constructor(pool: ThreadPool, buffers: BufferPool) {
    this.#pool = pool;
    this.#buffers = buffers;
    this.#most = LENT_BYTES + pool.parallelism * LENT_BYTES_PER_WORKER;
  }

  /** The threads for a query, which may use them by its share. */
  of(share: QueryShare): TextWorkers {
    const pool = this.#pool;
    const run = <T>(task: Task) => pool.run<T>(task, { share });
    return {
      parallelism: pool.parallelism,
      lend: (bytes) => this.lend(bytes),
      giveBack: (block) => this.giveBack(block),
      read: (task) => run({ kind: "read", ...task }),
      write: (task) => run({ kind: "write", ...task }),
      compress: (bytes, level) => run({ kind: "compress", bytes, level }),
    };
  }

  lend(bytes: number): Uint8Array<SharedArrayBuffer> | null {
    const most = this.#most + (bytes <= SMALL_BYTES ? SMALL_LENT_BYTES : 0);
    if (this.#lent + bytes > most) return null;
    const block = this.#buffers.lend(bytes);
    this.#lent += bytes;
    return block;
  }

  giveBack(block: Uint8Array<SharedArrayBuffer>): void {
    this.#lent -= block.byteLength;
    this.#buffers.giveBack(block);
  }
}
