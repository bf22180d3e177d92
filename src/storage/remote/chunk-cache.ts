/** LRU cache of chunks or ranges; concurrent requests share a load. */
import { LentResult } from "../../shared/read-memory.js";

export class ChunkCache<Chunk> {
  readonly #capacity: number;
  readonly #bytesOf: (chunk: Chunk) => number;
  readonly #viewOf: (chunk: Chunk) => ArrayBufferView;
  readonly #entries = new Map<string, { readonly chunk: LentResult<Chunk>; bytes: number; isKept: boolean }>();
  #bytes = 0;

  constructor(capacity: number, bytesOf: (chunk: Chunk) => number, viewOf: (chunk: Chunk) => ArrayBufferView) {
    this.#capacity = capacity;
    this.#bytesOf = bytesOf;
    this.#viewOf = viewOf;
  }

  /**
   * Gets the chunk of a name; failures are not cached. Lent memory is held once more, by the caller.
   * @param isKept false: it is unlikely to be requested again
   */
  get(name: string, load: () => Promise<Chunk>, isKept = true): Promise<Chunk> {
    const entry = this.#entries.get(name) ?? { chunk: new LentResult(load(), this.#viewOf), bytes: 0, isKept };
    entry.isKept ||= isKept;
    if (!this.#entries.delete(name))
      entry.chunk.settled.then(
        (chunk) => this.#keep(name, this.#bytesOf(chunk)),
        () => this.#drop(name),
      );
    this.#entries.set(name, entry);
    return entry.chunk.ask();
  }

  #keep(name: string, bytes: number): void {
    const entry = this.#entries.get(name);
    if (entry === undefined) return;
    if (!entry.isKept) {
      this.#drop(name);
      return;
    }
    entry.bytes = bytes;
    this.#bytes += bytes;
    for (const [oldest, { bytes: size }] of this.#entries) {
      if (this.#bytes <= this.#capacity) return;
      if (size > 0) this.#drop(oldest); // Not loading.
    }
  }

  #drop(name: string): void {
    const entry = this.#entries.get(name);
    this.#bytes -= entry?.bytes ?? 0;
    entry?.chunk.drop();
    this.#entries.delete(name);
  }
}
