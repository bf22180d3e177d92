/** The collector gathers decoded triples in shared slabs, small slabs first, so that small requests stay small. */
import type { TripleSink } from "../contract/query.js";
import type { Slab } from "../contract/task.js";
import type { BufferPool } from "./buffers.js";

/** Triples per slab: the first, the second, all others. */
const SLABS = [512, 8_192, 32_768] as const;

export class Collector implements TripleSink {
  readonly slabs: Slab[] = [];
  count = 0;
  readonly #buffers: BufferPool;
  readonly #keep: boolean;
  #released = false;
  /** The slab that is being filled; null until it is asked for. */
  #slab: Float32Array | null = null;
  /** Triples that the slab has room for. */
  #room: number;
  readonly #committed: (count: number) => void;

  /**
   * @param keep      false: triples are counted and dropped, because the query has failed already
   * @param committed called after each commit with the number of triples in it
   * @param expected  triples of the first slab
   */
  constructor(buffers: BufferPool, keep: boolean, committed: (count: number) => void, expected: number = SLABS[0]) {
    this.#buffers = buffers;
    this.#room = expected;
    this.#keep = keep;
    this.#committed = committed;
  }

  get slab(): Float32Array {
    this.#slab ??= this.#released ? new Float32Array(3 * this.#room) : this.#buffers.floats(3 * this.#room);
    return this.#slab;
  }

  commit(count: number): void {
    if (count === 0 || this.#released) return;
    this.count += count;
    if (this.#keep) {
      this.slabs.push({ triples: this.slab, count });
      this.#room = SLABS[Math.min(this.slabs.length, SLABS.length - 1)];
      this.#slab = null;
    }
    this.#committed(count);
  }

  /** Gives all slabs back. A writer that still runs continues in a slab of the same length, which is dropped. */
  release(): void {
    if (this.#released) return;
    this.#released = true;
    for (const { triples } of this.slabs) this.#buffers.giveBack(triples);
    if (this.#slab) this.#buffers.giveBack(this.#slab);
    this.slabs.length = 0;
    this.#slab = null;
  }
}
