/** The envelope of a collection as JSON text. */
import type { Links } from "../http/links.js";

export interface Envelope {
  /** Member of `_embedded`, e.g. `events`. */
  readonly name: string;
  /** JSON of the items. */
  readonly items: readonly string[];
  /** Template of one member's address. */
  readonly find: string;
  readonly links: Links;
  readonly page: number;
  readonly perPage: number;
  readonly total: number;
}

export function renderEnvelope({ name, items, find, links, page, perPage, total }: Envelope): string {
  const hrefs = {
    find: { href: find, templated: true },
    ...(links.next === null ? {} : { next: { href: links.next } }),
    ...(links.prev === null ? {} : { prev: { href: links.prev } }),
    self: { href: links.self },
  };
  const numbers = `"page":${page},"per_page":${perPage},"return_count":${items.length},"total_available":${total}`;
  return `{"_embedded":{"${name}":[${items.join(",")}]},"_links":${JSON.stringify(hrefs)},${numbers}}`;
}
