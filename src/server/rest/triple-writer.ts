/** `TripleWriter` writes triples into a sink of the engine one by one, up to a limit; `TripleStore` is a sink that keeps them. */
import type { TripleSink } from "../../engine/query.js";
import { tooManyPoints } from "../../errors.js";
import type { PointLimit } from "../http/request-life.js";

/** Fills the slabs of a sink. */
export class TripleWriter {
  count = 0;
  readonly #sink: TripleSink;
  readonly #limit: PointLimit;
  #at = 0;

  constructor(sink: TripleSink, limit: PointLimit) {
    this.#sink = sink;
    this.#limit = limit;
  }

  /** Adds a triple; throws LimitError at the first one too many. */
  add(x: number, y: number, z: number): void {
    if (this.count === this.#limit.points) {
      throw tooManyPoints(this.#limit.name, this.count + 1, this.#limit.points);
    }
    this.count++;
    // Asked for every time: after an abort the one from before may be another query's.
    const { slab } = this.#sink;
    slab[this.#at] = x;
    slab[this.#at + 1] = y;
    slab[this.#at + 2] = z;
    this.#at += 3;
    if (this.#at + 3 > slab.length) this.flush();
  }

  /** Hands over what has been written so far. */
  flush(): void {
    if (this.#at === 0) return;
    this.#sink.commit(this.#at / 3);
    this.#at = 0;
  }
}

const KEPT_TRIPLES = 8192;

/** A sink that keeps its triples, for queries that cannot start yet or start several times. */
export class TripleStore implements TripleSink {
  slab = new Float32Array(3 * KEPT_TRIPLES);
  count = 0;
  readonly #kept: Float32Array[] = [];

  commit(count: number): void {
    this.#kept.push(this.slab.subarray(0, 3 * count));
    this.count += count;
    this.slab = new Float32Array(3 * KEPT_TRIPLES);
  }

  /** Copies everything into another sink. */
  replay(sink: TripleSink): void {
    for (const part of this.#kept) {
      for (let from = 0; from < part.length; ) {
        const slab = sink.slab;
        const length = Math.min(part.length - from, slab.length - (slab.length % 3));
        slab.set(part.subarray(from, from + length));
        sink.commit(length / 3);
        from += length;
      }
    }
  }
}
