/** Page of a collection: envelope, links to other pages, headers. */
import type { QueryString } from "./query-string.js";
import type { Answer } from "./send.js";

/** Parameters in which commas and blanks are no separators. */
const PLAIN = ["date", "per_page", "single_events", "start_date"];

export interface CollectionPage {
  readonly name: string;
  readonly items: Iterable<string>;
  readonly count: number;
  /** Template of the address of an item. */
  readonly find: string;
  readonly path: string;
  /** Parameters that links repeat. */
  readonly known: readonly string[];
  readonly parameters: QueryString;
  readonly page: number;
  /** In force, if the caller gave one. */
  readonly perPage: number;
  readonly total: number;
}

/** Envelope, `X-Total-Count` and `Link` (RFC 8288). */
export function pageAnswer(content: CollectionPage): Answer {
  const { find, page, perPage, count, total } = content;
  const address = addresses(content);
  const last = Math.ceil(total / perPage);
  const next = page < last ? { next: { href: address(page + 1) } } : {};
  const prev = page > 1 && last > 0 ? { prev: { href: address(Math.min(page - 1, last)) } } : {};
  const links = { find: { href: find, templated: true }, ...next, ...prev, self: { href: address(page) } };
  const numbers = `"page":${page},"per_page":${perPage},"return_count":${count},"total_available":${total}`;
  const tail = `]},"_links":${JSON.stringify(links)},${numbers}}`;
  const link = Object.entries({ ...next, ...prev }).map(([rel, { href }]) => `<${href}>; rel="${rel}"`);
  return {
    parts: partsOf(content, tail),
    headers: { "x-total-count": String(total), ...(link.length === 0 ? {} : { link: link.join(", ") }) },
  };
}

function addresses({ path, known, parameters, perPage }: CollectionPage): (page: number) => string {
  const counts = (name: string, value = "") => (PLAIN.includes(name) ? value !== "" : /[^,\s]/.test(value));
  const given = known.filter((name) => name !== "page" && counts(name, parameters.raw(name)[0]));
  return (page) => {
    const pairs = [...given, "page"].sort().map((name) => {
      const value = name === "page" ? page : name === "per_page" ? perPage : (parameters.raw(name)[0] ?? "");
      return `${name}=${encodeURIComponent(value).replaceAll("%2C", ",")}`;
    });
    return `${path}?${pairs.join("&")}`;
  };
}

function* partsOf({ name, items }: CollectionPage, tail: string): Generator<string> {
  let before = `{"_embedded":{"${name}":[`;
  for (const item of items) {
    yield before + item;
    before = ",";
  }
  yield before === "," ? tail : before + tail;
}
