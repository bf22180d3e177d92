/** Reads pieces ahead of their use, within a bound of memory. */
import type { StoreRead } from "./protocol.js";

/** Time after which a piece that nobody has asked for is given up: its query has ended. */
const GIVEN_UP_MS = 30_000;

/** A piece that is being read, or has been. */
interface Started {
  readonly bytes: number;
  readonly since: number;
}

/** The pieces that were announced: those under way, and those that wait for room. */
export class ReadAhead {
  readonly #begin: (piece: StoreRead) => Promise<unknown>;
  readonly #drop: (name: string) => void;
  readonly #started = new Map<string, Started>();
  readonly #waiting = new Map<string, { readonly piece: StoreRead; readonly since: number }>();
  readonly #mostBytes: number;
  #bytes = 0;

  /**
   * @param mostBytes of pieces that have been read and not yet been asked for
   * @param begin starts to read a piece
   * @param drop  forgets a piece that nobody has asked for
   */
  constructor(mostBytes: number, begin: (piece: StoreRead) => Promise<unknown>, drop: (name: string) => void) {
    this.#mostBytes = mostBytes;
    this.#begin = begin;
    this.#drop = drop;
  }

  add(pieces: readonly StoreRead[]): void {
    const since = performance.now();
    for (const piece of pieces) {
      const name = nameOf(piece);
      if (!this.#started.has(name)) this.#waiting.set(name, { piece, since });
    }
    this.#pump();
  }

  /** Makes room for others when a piece has been asked for. */
  done(name: string): void {
    this.#waiting.delete(name);
    this.#bytes -= this.#started.get(name)?.bytes ?? 0;
    this.#started.delete(name);
    this.#pump();
  }

  #pump(): void {
    const now = performance.now();
    for (const [name, { since }] of this.#started) {
      if (now - since < GIVEN_UP_MS) break;
      this.#bytes -= this.#started.get(name)?.bytes ?? 0;
      this.#started.delete(name);
      this.#drop(name);
    }
    for (const [name, { piece, since }] of this.#waiting) {
      const bytes = bytesOf(piece);
      if (this.#bytes > 0 && this.#bytes + bytes > this.#mostBytes) return;
      this.#waiting.delete(name);
      if (now - since > GIVEN_UP_MS) continue;
      this.#started.set(name, { bytes, since: now });
      this.#bytes += bytes;
      this.#begin(piece).catch(() => undefined);
    }
  }
}

/** The name of a piece: the same text for the same elements or bytes of the same version of a store. */
export function nameOf(piece: StoreRead): string {
  const { store, newestMs } = piece;
  if ("position" in piece) return `${store}\n${newestMs}\n${piece.position} ${piece.length}`;
  return `${store}\n${newestMs} ${piece.path}\n${piece.offset.join()} ${piece.count.join()}`;
}

/** Bytes of a piece, elements taken for the largest. */
function bytesOf(piece: StoreRead): number {
  return "position" in piece ? piece.length : piece.count.reduce((product, length) => product * length, 8);
}
