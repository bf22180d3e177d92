/** Represents one page of a collection: envelope, links to other pages, headers. */
import type { QueryString } from "./query-string.js";
import { type Representation, representParts } from "./representation.js";

/** `encodeURIComponent` with commas left as they are. */
function encode(value: string): string {
  return encodeURIComponent(value).replaceAll("%2C", ",");
}

/**
 * Makes the address of any page of a collection.
 *
 * @param path       prefix included
 * @param names      parameters of the collection; others are not repeated
 * @param perPage    the number in force when the caller gave one
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

/** Parameters that are not lists, in which commas and blanks are not separators. */
const PLAIN = ["date", "per_page", "single_events", "start_date"];

/** Whether a value counts as given: a list of nothing but commas and blanks does not. */
function counts(name: string, value: string): boolean {
  return PLAIN.includes(name) ? value !== "" : /[^,\s]/.test(value);
}

/** The content of a page. */
export interface CollectionPage {
  /** Member of `_embedded`, e.g. `events`. */
  readonly name: string;
  /** JSON of the items. */
  readonly items: Iterable<string>;
  readonly count: number;
  /** Template of one member's address. */
  readonly find: string;
  /** Address of any page. */
  readonly address: (page: number) => string;
  readonly page: number;
  readonly perPage: number;
  /** Number of items in all pages. */
  readonly total: number;
}

/** Represents a page with its envelope, `X-Total-Count` and `Link` (RFC 8288). */
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
