/** `BufferPool` keeps shared buffers for reuse: fresh shared memory costs far more than the work done in it. */
import { collectGarbage } from "../../collect-garbage.js";

const GRAIN = 4096;
/** Bytes kept for later use: the need of a sweep over a million points. */
const KEPT_BYTES = 64 * 1024 * 1024;
/**
 * Bytes of dropped buffers after which they are collected. The garbage collector does not know the size of shared
 * memory: by itself it would leave hundreds of megabytes for minutes.
 */
const DROPPED_BYTES = 64 * 1024 * 1024;

/** Keeps shared buffers by size; a buffer still holds its previous contents. */
export class BufferPool {
  readonly #free = new Map<number, SharedArrayBuffer[]>();
  readonly #collect: () => void;
  #kept = 0;
  #dropped = 0;

  constructor(collect = collectGarbage) {
    this.#collect = collect;
  }

  /** Lends a buffer of at least `bytes` bytes. */
  take(bytes: number): SharedArrayBuffer {
    const size = sizeClass(bytes);
    const found = this.#free.get(size)?.pop();
    if (!found) return new SharedArrayBuffer(size);
    this.#kept -= size;
    return found;
  }

  /** Takes a buffer back, which must no longer be read. */
  give(buffer: SharedArrayBuffer): void {
    const size = buffer.byteLength;
    if (this.#kept + size > KEPT_BYTES) {
      this.#drop(size);
      return;
    }
    this.#kept += size;
    const list = this.#free.get(size);
    if (list) list.push(buffer);
    else this.#free.set(size, [buffer]);
  }

  #drop(size: number): void {
    this.#dropped += size;
    if (this.#dropped < DROPPED_BYTES) return;
    this.#dropped = 0;
    this.#collect();
  }
}

/**
 * The size class of a buffer: a power of two or three quarters of one, so that buffers of similar use are
 * interchangeable.
 */
function sizeClass(bytes: number): number {
  const power = 2 ** Math.ceil(Math.log2(Math.max(GRAIN, bytes)));
  return bytes <= 0.75 * power ? Math.max(GRAIN, 0.75 * power) : power;
}
