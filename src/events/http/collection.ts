/** Page of a collection: envelope, links to other pages, headers. */
import type { QueryString } from "./query-string.js";
import { type Representation, representParts } from "./representation.js";

function encode(value: string): string {
  return encodeURIComponent(value).replaceAll("%2C", ",");
}

/**
 * Addresses of the pages of a collection. @param names parameters that links repeat @param perPage in force if the
 * caller gave one
 */
export function pageAddress(
  path: string,
  names: readonly string[],
  parameters: QueryString,
  perPage: number,
): (page: number) => string {
  const given = names.filter((name) => name !== "page" && counts(name, parameters.raw(name)[0] ?? ""));
  return (page) => {
    const pairs = [...given, "page"].sort().map((name) => {
      const value = name === "page" ? String(page) : name === "per_page" ? String(perPage) : parameters.raw(name)[0];
      return `${name}=${encode(value ?? "")}`;
    });
    return `${path}?${pairs.join("&")}`;
  };
}

/** Parameters in which commas and blanks are no separators. */
const PLAIN = ["date", "per_page", "single_events", "start_date"];

function counts(name: string, value: string): boolean {
  return PLAIN.includes(name) ? value !== "" : /[^,\s]/.test(value);
}

export interface CollectionPage {
  readonly name: string;
  readonly items: Iterable<string>;
  readonly count: number;
  readonly find: string;
  readonly address: (page: number) => string;
  readonly page: number;
  readonly perPage: number;
  readonly total: number;
}

/** Envelope, `X-Total-Count` and `Link` (RFC 8288). */
export function representPage(content: CollectionPage): Promise<Representation> {
  const { find, address, page, perPage, count, total } = content;
  const last = Math.ceil(total / perPage);
  const next = page < last ? { next: { href: address(page + 1) } } : {};
  const prev = page > 1 && last > 0 ? { prev: { href: address(Math.min(page - 1, last)) } } : {};
  const links = { find: { href: find, templated: true }, ...next, ...prev, self: { href: address(page) } };
  const numbers = `"page":${page},"per_page":${perPage},"return_count":${count},"total_available":${total}`;
  const tail = `]},"_links":${JSON.stringify(links)},${numbers}}`;
  const header = Object.entries({ ...next, ...prev }).map(([rel, { href }]) => `<${href}>; rel="${rel}"`);
  return representParts(partsOf(content, tail), {
    "x-total-count": String(total),
    ...(header.length === 0 ? {} : { link: header.join(", ") }),
  });
}

function* partsOf({ name, items }: CollectionPage, tail: string): Generator<string> {
  let before = `{"_embedded":{"${name}":[`;
  for (const item of items) {
    yield before + item;
    before = ",";
  }
  yield before === "," ? tail : before + tail;
}
