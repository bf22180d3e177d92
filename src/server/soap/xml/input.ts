/** The bytes at hand of a document that arrives in chunks. */
import type { Steps } from "../steps.js";

/** Where the bytes come from: valid UTF-8, cut between characters. */
export interface ByteSource {
  /** The next bytes; null at the end, undefined where they have to be waited for. */
  take(): Buffer | null | undefined;
  /** Resolves when `take` should be asked again. */
  arrival(): Promise<void>;
  /** Judges the encoding that the XML declaration names; throws where it contradicts what is known. */
  declare(encoding: string): void;
}

/** Bytes that have arrived and have not been read: `buffer[position .. end)`. `triples.ts` reads ahead of the reader there. */
export class XmlInput {
  buffer: Buffer = Buffer.alloc(0);
  position = 0;
  end = 0;
  /** Whether the input has ended. */
  ended = false;
  protected readonly source: ByteSource;
  /** Whether `buffer` was made here, so that it may be written to. */
  #owned = false;

  protected constructor(source: ByteSource) {
    this.source = source;
  }

  /** Waits for the next bytes and puts them behind those at hand. */
  *fill(): Steps<void> {
    let chunk = this.source.take();
    while (chunk === undefined) {
      yield this.source.arrival();
      chunk = this.source.take();
    }
    if (chunk === null) {
      this.ended = true;
      return;
    }
    const held = this.end - this.position;
    if (held === 0) {
      this.buffer = chunk;
      this.position = 0;
      this.end = chunk.length;
      this.#owned = false;
      return;
    }
    if (!this.#owned || this.end + chunk.length > this.buffer.length) {
      const roomy = held + chunk.length <= this.buffer.length && this.#owned;
      const target = roomy ? this.buffer : Buffer.allocUnsafe(2 * (held + chunk.length));
      target.set(this.buffer.subarray(this.position, this.end));
      this.buffer = target;
      this.#owned = true;
      this.position = 0;
      this.end = held;
    }
    this.buffer.set(chunk, this.end);
    this.end += chunk.length;
  }
}
