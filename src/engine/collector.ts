/** Collects decoded triples in shared slabs, small ones first, so that small requests stay small. */
import type { BufferPool } from "./buffers.js";
import type { TripleSink } from "./query.js";
import type { Segment } from "./task.js";

/** Triples per slab: the first, the second, all others. */
const SLABS = [512, 8_192, 32_768] as const;

export class Collector implements TripleSink {
  readonly slabs: Segment[] = [];
  /** Triples committed so far. */
  count = 0;
  slab: Float32Array;
  readonly #buffers: BufferPool;
  #keep: boolean;
  readonly #committed: (count: number) => void;

  /**
   * @param keep      false: triples are counted and dropped, because the query has failed already
   * @param committed called after each commit with the number of triples in it
   */
  constructor(buffers: BufferPool, keep: boolean, committed: (count: number) => void) {
    this.#buffers = buffers;
    this.#keep = keep;
    this.#committed = committed;
    this.slab = this.#fresh(SLABS[0]);
  }

  commit(count: number): void {
    if (count === 0) return;
    this.count += count;
    if (this.#keep) {
      this.slabs.push({ triples: this.slab, count });
      this.slab = this.#fresh(SLABS[Math.min(this.slabs.length, SLABS.length - 1)] as number);
    }
    this.#committed(count);
  }

  /** Gives all slabs back; called once, what is written afterwards is dropped. */
  release(): void {
    this.#keep = false;
    for (const { triples } of this.slabs) this.#buffers.give(triples.buffer as SharedArrayBuffer);
    this.#buffers.give(this.slab.buffer as SharedArrayBuffer);
    this.slabs.length = 0;
    this.slab = new Float32Array(0);
  }

  #fresh(triples: number): Float32Array {
    return new Float32Array(this.#buffers.take(12 * triples), 0, 3 * triples);
  }
}
