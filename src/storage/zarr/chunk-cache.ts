/** Keeps the chunks that were decoded last, and lets requests for a chunk under way share its fetch. */

/** A decoded chunk as far as its size is concerned. */
interface Sized {
  readonly data: { readonly length: number };
}

/** Bytes of an element at most. */
const ELEMENT_BYTES = 8;

/** Decoded chunks by name, the least recently used dropped first. */
export class ChunkCache<Chunk extends Sized> {
  readonly #capacity: number;
  readonly #entries = new Map<string, { readonly chunk: Promise<Chunk>; bytes: number }>();
  #bytes = 0;

  /** @param capacity bytes */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** The chunk of a name, loaded at most once at a time; a failure is not kept. */
  get(name: string, load: () => Promise<Chunk>): Promise<Chunk> {
    const entry = this.#entries.get(name) ?? { chunk: load(), bytes: 0 };
    if (!this.#entries.delete(name))
      entry.chunk.then(
        ({ data }) => this.#keep(name, data.length),
        () => this.#drop(name),
      );
    this.#entries.set(name, entry);
    return entry.chunk;
  }

  #keep(name: string, length: number): void {
    const entry = this.#entries.get(name);
    if (entry === undefined) return;
    entry.bytes = length * ELEMENT_BYTES;
    this.#bytes += entry.bytes;
    for (const [oldest, { bytes }] of this.#entries) {
      if (this.#bytes <= this.#capacity) return;
      if (bytes > 0) this.#drop(oldest);
    }
  }

  #drop(name: string): void {
    this.#bytes -= this.#entries.get(name)?.bytes ?? 0;
    this.#entries.delete(name);
  }
}
