/** A worker reads points from text and writes results as text. */
import type { TextModule } from "./text-module.js";
import type { ReadTask, TriplesRead, WriteTask } from "./text-task.js";

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
  readonly #module: TextModule;
  readonly #tags = new Literals();
  readonly #separators = new Literals();

  constructor(module: TextModule) {
    this.#module = module;
  }

  /** Reads items until one has another form than the others. */
  read({ bytes, tags, rules, out }: ReadTask): TriplesRead {
    return this.#module.read(bytes, this.#tags.of(tags), out, rules);
  }

  /** @returns bytes written */
  write({ values, separators, notFinite, out }: WriteTask): number {
    const other = notFinite === null ? null : Buffer.from(notFinite, "latin1");
    return this.#module.write(values, this.#separators.of(separators), out, other);
  }
}
