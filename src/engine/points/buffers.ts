/** Shared buffers that are used again: fresh shared memory costs far more than the work done in it. */

const GRAIN = 4096;
/**
 * Bytes kept for later use: what a sweep of a million points takes. The collector does not know the size of shared memory, so
 * what is dropped by one large request after another may stay for a long time.
 */
const KEPT_BYTES = 96 * 1024 * 1024;

/** A pool of shared buffers by size. What a buffer held before is still in it. */
export class BufferPool {
  readonly #free = new Map<number, SharedArrayBuffer[]>();
  #kept = 0;

  /** A buffer of at least so many bytes. */
  take(bytes: number): SharedArrayBuffer {
    const size = sizeClass(bytes);
    const found = this.#free.get(size)?.pop();
    if (!found) return new SharedArrayBuffer(size);
    this.#kept -= size;
    return found;
  }

  /** Gives a buffer back; nobody may look at it any more. */
  give(buffer: SharedArrayBuffer): void {
    const size = buffer.byteLength;
    if (this.#kept + size > KEPT_BYTES) return;
    this.#kept += size;
    const list = this.#free.get(size);
    if (list) list.push(buffer);
    else this.#free.set(size, [buffer]);
  }
}

/** The size that serves so many bytes: a power of two or three quarters of one, so that buffers of like use find each other. */
function sizeClass(bytes: number): number {
  const power = 2 ** Math.ceil(Math.log2(Math.max(GRAIN, bytes)));
  return bytes <= 0.75 * power ? Math.max(GRAIN, 0.75 * power) : power;
}
