/** A worker reads points from text and writes results as text. */
import { RecordWriter } from "../../float32/record-writer.js";
import { TripleScanner } from "../../float32/triples.js";
import type { ReadTask, TriplesRead, WriteTask } from "../text-task.js";

/** Texts as bytes, as long as the same ones are asked for. */
class Literals {
  #texts: readonly string[] = [];
  #bytes: readonly Uint8Array[] = [];

  of(texts: readonly string[]): readonly Uint8Array[] {
    const known = texts.length === this.#texts.length && texts.every((text, i) => text === this.#texts[i]);
    if (known) return this.#bytes;
    this.#texts = texts;
    this.#bytes = texts.map((text) => Buffer.from(text, "latin1"));
    return this.#bytes;
  }
}

/** Reads and writes texts in one thread. */
export class Texts {
  readonly #tags = new Literals();
  readonly #separators = new Literals();
  readonly #writer = new RecordWriter();
  #scanner = new TripleScanner([]);

  /** Reads items until one has another form than the others. */
  read({ bytes, tags, out }: ReadTask): TriplesRead {
    const known = this.#tags.of(tags);
    if (this.#scanner.tags !== known) this.#scanner = new TripleScanner(known);
    const scanner = this.#scanner;
    scanner.scan(bytes, 0, bytes.length, out, 0, Math.floor(out.length / 3));
    return { count: scanner.count, bytes: scanner.position };
  }

  /** @returns bytes written */
  write({ values, separators, notFinite, out }: WriteTask): number {
    const literals = this.#separators.of(separators);
    const other = notFinite === null ? null : Buffer.from(notFinite, "latin1");
    let at = 0;
    for (const part of values) at = this.#writer.write(part, 0, part.length, literals, out, at, other);
    return at;
  }
}
