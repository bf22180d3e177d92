/** Starts reads before they are requested, within a memory bound. */
import type { StoreRead } from "./protocol.js";

/** Time after which an unrequested read is dropped: its query has ended. */
const GIVEN_UP_MS = 30_000;

type Started = Readonly<Record<"bytes" | "since", number>>;

export class ReadAhead {
  readonly #begin: (read: StoreRead) => Promise<unknown>;
  readonly #drop: (name: string) => void;
  readonly #started = new Map<string, Started>();
  readonly #waiting = new Map<string, { readonly read: StoreRead; readonly since: number }>();
  readonly #mostBytes: number;
  #bytes = 0;

  constructor(mostBytes: number, begin: (read: StoreRead) => Promise<unknown>, drop: (name: string) => void) {
    this.#mostBytes = mostBytes;
    this.#begin = begin;
    this.#drop = drop;
  }

  add(reads: readonly StoreRead[]): void {
    const since = performance.now();
    for (const read of reads) {
      const name = readKey(read);
      if (!this.#started.has(name)) this.#waiting.set(name, { read, since });
    }
    this.#pump();
  }

  /** Frees the room of a read that was requested. */
  requested(name: string): void {
    this.#waiting.delete(name);
    this.#bytes -= this.#started.get(name)?.bytes ?? 0;
    this.#started.delete(name);
    this.#pump();
  }

  #pump(): void {
    const now = performance.now();
    for (const [name, { bytes, since }] of this.#started) {
      if (now - since < GIVEN_UP_MS) break;
      this.#bytes -= bytes;
      this.#started.delete(name);
      this.#drop(name);
    }
    for (const [name, { read, since }] of this.#waiting) {
      const bytes = bytesOf(read);
      if (this.#bytes > 0 && this.#bytes + bytes > this.#mostBytes) return;
      this.#waiting.delete(name);
      if (now - since > GIVEN_UP_MS) continue;
      this.#started.set(name, { bytes, since: now });
      this.#bytes += bytes;
      this.#begin(read).catch(() => undefined);
    }
  }
}

/** Key of a read: equal for the same elements or bytes of the same version of a store. */
export function readKey(read: StoreRead): string {
  const { store, newestMs } = read;
  if ("position" in read) return `${store}\n${newestMs}\n${read.position} ${read.length}`;
  return `${store}\n${newestMs} ${read.path}\n${read.offset.join()} ${read.count.join()}`;
}

function bytesOf(read: StoreRead): number {
  return "position" in read ? read.length : read.count.reduce((product, length) => product * length, 8);
}
