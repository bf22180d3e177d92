/** A representation is a finished body with its entity tag and headers; a cache keeps it while it is valid. */
import { createHash } from "node:crypto";
import type { Interval } from "../store/store.js";

/** A finished body. */
export interface Representation {
  /** Bytes if a worker thread made them. */
  readonly body: string | Buffer;
  /** Strong entity tag of the exact bytes. */
  readonly tag: string;
  /** Headers that follow from the content. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Adds the entity tag to a body. */
export function represent(body: string, headers: Readonly<Record<string, string>> = {}): Representation {
  return { body, tag: `"${createHash("sha1").update(body).digest("base64url")}"`, headers };
}

/** Whether an `If-None-Match` names the tag, by `*` or in a list; weak tags compare like strong ones (RFC 9110). */
export function isKnown(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === "*") return true;
  return [...ifNoneMatch.matchAll(/(?:W\/)?("[^"]*")/g)].some((match) => match[1] === tag);
}

/** Keeps representations by key until the data changes or the next instance begins, ends or is published. */
export class RepresentationCache {
  readonly #bytes: number;
  readonly #kept = new Map<string, Representation>();
  #interval: Interval | null = null;
  #held = 0;

  /** @param bytes most memory for bodies and keys, 2 per character of text; what was used longest ago is dropped */
  constructor(bytes: number) {
    this.#bytes = bytes;
  }

  /** The representation of a key, undefined if it is not kept. */
  find(interval: Interval, key: string): Representation | undefined {
    if (interval !== this.#interval) {
      this.#kept.clear();
      this.#held = 0;
      this.#interval = interval;
    }
    const known = this.#kept.get(key);
    if (known) {
      this.#kept.delete(key);
      this.#kept.set(key, known);
    }
    return known;
  }

  /** Keeps a representation for the interval it was made in; does nothing when a newer one has begun. */
  keep(interval: Interval, key: string, made: Representation): void {
    if (interval !== this.#interval || this.#kept.has(key) || sizeOf(key, made) > this.#bytes) return;
    this.#kept.set(key, made);
    this.#held += sizeOf(key, made);
    for (const [oldest, old] of this.#kept) {
      if (this.#held <= this.#bytes) break;
      this.#kept.delete(oldest);
      this.#held -= sizeOf(oldest, old);
    }
  }

  /** The representation of a key, from `make` if it is not kept. */
  get(interval: Interval, key: string, make: () => Representation): Representation {
    const known = this.find(interval, key);
    if (known) return known;
    const made = make();
    this.keep(interval, key, made);
    return made;
  }
}

function sizeOf(key: string, { body }: Representation): number {
  return 2 * key.length + (typeof body === "string" ? 2 : 1) * body.length;
}
