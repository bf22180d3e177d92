/** Reads boxes ahead of their use, within a bound of memory. */
import type { BoxRequest } from "./protocol.js";

/** Bytes of boxes that have been read and not yet been asked for. */
const MOST_BYTES = 256 * 1024 * 1024;
/** Time after which a box that nobody has asked for is given up: its query has ended. */
const GIVEN_UP_MS = 30_000;

/** A box that is being read, or has been. */
interface Started {
  readonly bytes: number;
  readonly since: number;
}

/** The boxes that were announced: those under way, and those that wait for room. */
export class ReadAhead {
  readonly #begin: (box: BoxRequest) => Promise<unknown>;
  readonly #drop: (name: string) => void;
  readonly #started = new Map<string, Started>();
  readonly #waiting = new Map<string, { readonly box: BoxRequest; readonly since: number }>();
  #bytes = 0;

  /**
   * @param begin starts to read a box
   * @param drop  forgets a box that nobody has asked for
   */
  constructor(begin: (box: BoxRequest) => Promise<unknown>, drop: (name: string) => void) {
    this.#begin = begin;
    this.#drop = drop;
  }

  add(boxes: readonly BoxRequest[]): void {
    const since = performance.now();
    for (const box of boxes) {
      const name = nameOf(box);
      if (!this.#started.has(name)) this.#waiting.set(name, { box, since });
    }
    this.#pump();
  }

  /** Makes room for others when a box has been asked for. */
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
    for (const [name, { box, since }] of this.#waiting) {
      const bytes = bytesOf(box);
      if (this.#bytes > 0 && this.#bytes + bytes > MOST_BYTES) return;
      this.#waiting.delete(name);
      if (now - since > GIVEN_UP_MS) continue;
      this.#started.set(name, { bytes, since: now });
      this.#bytes += bytes;
      this.#begin(box).catch(() => undefined);
    }
  }
}

/** What a box is called: the same text for the same elements of the same version of a store. */
export function nameOf({ store, newestMs, path, offset, count }: BoxRequest): string {
  return `${store}\n${newestMs} ${path}\n${offset.join()} ${count.join()}`;
}

/** Bytes of a box, its elements taken for the largest. */
function bytesOf({ count }: BoxRequest): number {
  return count.reduce((product, length) => product * length, 8);
}
