/** Finished bodies, kept while no answer can change: until the data changes or the next instance begins, ends or is published. */
import type { Interval } from "../store/store.js";

export interface Page {
  /** Bytes where another thread made them. */
  readonly body: string | Buffer;
  readonly tag: string;
  /** Headers that follow from the content. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface PageCache {
  /** The page of a key, if it is at hand. */
  find(interval: Interval, key: string): Page | undefined;
  /** Keeps a page for the interval it was made in; does nothing when a newer one has begun. */
  keep(interval: Interval, key: string, page: Page): void;
  /** The page of a key, from `make` when it is not at hand. */
  get(interval: Interval, key: string, make: () => Page): Page;
}

/**
 * A cache that holds at most `bytes` (2 per character of text) and drops what was used longest ago.
 *
 * @param bytes 0: nothing is kept
 */
export function pageCache(bytes: number): PageCache {
  const pages = new Map<string, Page>();
  let current: Interval | null = null;
  let held = 0;
  const size = (key: string, { body }: Page) => 2 * key.length + (typeof body === "string" ? 2 : 1) * body.length;
  const find = (interval: Interval, key: string) => {
    if (interval !== current) {
      pages.clear();
      held = 0;
      current = interval;
    }
    const known = pages.get(key);
    if (known) {
      pages.delete(key);
      pages.set(key, known);
    }
    return known;
  };
  const keep = (interval: Interval, key: string, page: Page) => {
    if (interval !== current || pages.has(key) || size(key, page) > bytes) return;
    pages.set(key, page);
    held += size(key, page);
    for (const [oldest, old] of pages) {
      if (held <= bytes) break;
      pages.delete(oldest);
      held -= size(oldest, old);
    }
  };
  return {
    find,
    keep,
    get(interval, key, make) {
      const known = find(interval, key);
      if (known) return known;
      const fresh = make();
      keep(interval, key, fresh);
      return fresh;
    },
  };
}
