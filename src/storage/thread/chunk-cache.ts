/** `ChunkCache` keeps the last used chunks or ranges, and fetches each only once at a time. */

/** Chunks by name, the least recently used dropped first. */
export class ChunkCache<Chunk> {
  readonly #capacity: number;
  readonly #bytesOf: (chunk: Chunk) => number;
  readonly #entries = new Map<string, { readonly chunk: Promise<Chunk>; bytes: number; isKept: boolean }>();
  #bytes = 0;

  /**
   * @param capacity bytes
   * @param bytesOf  bytes of a chunk
   */
  constructor(capacity: number, bytesOf: (chunk: Chunk) => number) {
    this.#capacity = capacity;
    this.#bytesOf = bytesOf;
  }

  /**
   * The chunk of a name, loaded at most once at a time; a failure is not kept.
   *
   * @param isKept false: nobody else is likely to want it once it has been loaded
   */
  get(name: string, load: () => Promise<Chunk>, isKept = true): Promise<Chunk> {
    const entry = this.#entries.get(name) ?? { chunk: load(), bytes: 0, isKept };
    entry.isKept ||= isKept;
    if (!this.#entries.delete(name))
      entry.chunk.then(
        (chunk) => this.#keep(name, this.#bytesOf(chunk)),
        () => this.#drop(name),
      );
    this.#entries.set(name, entry);
    return entry.chunk;
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
    for (const [oldest, { bytes: known }] of this.#entries) {
      if (this.#bytes <= this.#capacity) return;
      if (known > 0) this.#drop(oldest);
    }
  }

  #drop(name: string): void {
    this.#bytes -= this.#entries.get(name)?.bytes ?? 0;
    this.#entries.delete(name);
  }
}
