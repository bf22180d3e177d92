/** Links of a collection: the caller's own parameters, sorted, with the page set. */
import type { QueryString } from "./query-string.js";

export interface Links {
  readonly self: string;
  readonly next: string | null;
  readonly prev: string | null;
}

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

/** Parameters that are not lists, in which commas and blanks are no separators. */
const PLAIN = ["date", "per_page", "single_events", "start_date"];

/** Whether a value counts as given: a list of nothing but commas and blanks does not. */
function counts(name: string, value: string): boolean {
  return PLAIN.includes(name) ? value !== "" : /[^,\s]/.test(value);
}

/** @param total number of items in all pages */
export function collectionLinks(
  address: (page: number) => string,
  page: number,
  perPage: number,
  total: number,
): Links {
  const last = Math.ceil(total / perPage);
  return {
    self: address(page),
    next: page < last ? address(page + 1) : null,
    prev: page > 1 && last > 0 ? address(Math.min(page - 1, last)) : null,
  };
}

/** Value of the `Link` header (RFC 8288), or null when there is neither a next page nor a previous one. */
export function linkHeader(links: Links): string | null {
  const values = [
    ...(links.next === null ? [] : [`<${links.next}>; rel="next"`]),
    ...(links.prev === null ? [] : [`<${links.prev}>; rel="prev"`]),
  ];
  return values.length === 0 ? null : values.join(", ");
}
