/** Finished bodies, kept while no answer can change: until the data changes or the next instance begins, ends or is published. */
import type { Interval } from "./store.js";

export interface Page {
  readonly body: string;
  readonly tag: string;
  /** Headers that follow from the content. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface PageCache {
  /** The page of a key, from `make` when it is not at hand. */
  get(interval: Interval, key: string, make: () => Page): Page;
}

/**
 * A cache that holds at most `bytes` of text (2 per character) and drops what was used longest ago.
 *
 * @param bytes 0: nothing is kept
 */
export function pageCache(bytes: number): PageCache {
  const pages = new Map<string, Page>();
  let current: Interval | null = null;
  let held = 0;
  const size = (key: string, page: Page) => 2 * (key.length + page.body.length);
  return {
    get(interval, key, make) {
      if (interval !== current) {
        pages.clear();
        held = 0;
        current = interval;
      }
      const known = pages.get(key);
      if (known) {
        pages.delete(key);
        pages.set(key, known);
        return known;
      }
      const fresh = make();
      pages.set(key, fresh);
      held += size(key, fresh);
      for (const [oldest, page] of pages) {
        if (held <= bytes) break;
        pages.delete(oldest);
        held -= size(oldest, page);
      }
      return fresh;
    },
  };
}
