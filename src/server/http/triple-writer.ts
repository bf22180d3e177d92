/** Writes triples into a sink of the engine up to a limit (`TripleWriter`), or keeps them (`TripleStore`). */
import { type TripleSink, writeTriples } from "../../engine/contract/query.js";
import { tooManyPoints } from "../../shared/errors.js";
import { copyFloats } from "../../text/items-ahead.js";
import type { PointLimit } from "./request-life.js";

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
    // Read again every time: after an abort, the earlier slab may belong to another query.
    const { slab } = this.#sink;
    slab[this.#at] = x;
    slab[this.#at + 1] = y;
    slab[this.#at + 2] = z;
    this.#at += 3;
    if (this.#at + 3 > slab.length) this.flush();
  }

  /** Adds triples; throws LimitError after the last that there is room for. */
  addAll(triples: Float32Array, count: number): void {
    const taken = Math.min(count, this.#limit.points - this.count);
    for (let from = 0; from < taken; ) {
      const { slab } = this.#sink;
      const part = Math.min(taken - from, Math.floor((slab.length - this.#at) / 3));
      copyFloats(triples.subarray(3 * from, 3 * (from + part)), slab, this.#at);
      from += part;
      this.count += part;
      this.#at += 3 * part;
      if (this.#at + 3 > slab.length) this.flush();
    }
    if (taken < count) throw tooManyPoints(this.#limit.name, this.count + 1, this.#limit.points);
  }

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

  replay(sink: TripleSink): void {
    for (const part of this.#kept) writeTriples(sink, part);
  }
}
