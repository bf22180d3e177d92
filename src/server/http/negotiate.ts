/** Media type and coding of an answer by the headers of its request (RFC 9110, 12.5). */
import Negotiator from "negotiator";
import { RequestError } from "../../shared/errors.js";

export class NotAcceptableError extends RequestError {}

/**
 * The media type with the highest weight; among equal ones the first offered. A blank header accepts everything.
 * @throws NotAcceptableError if the header excludes all types
 */
export function negotiate<T extends string>(header: string | undefined, offered: readonly [T, ...T[]]): T {
  const chosen = preferred(header, offered);
  if (chosen === null) throw new NotAcceptableError("InvalidRequest", `This is answered as ${offered.join(", ")}.`);
  return chosen;
}

/** As `negotiate`; null if the header excludes everything. */
export function preferred<T extends string>(header: string | undefined, offered: readonly [T, ...T[]]): T | null {
  if (header === undefined || header.trim() === "") return offered[0];
  const ranked = rank(header, offered);
  if (ranked[0] === offered[0]) return offered[0];
  const accepted = offered.filter((type) => ranked.includes(type));
  return accepted.find((type) => !accepted.some((other) => outweighs(header, other, type))) ?? null;
}

export function names(header: string | undefined, type: string): boolean {
  return header?.toLowerCase().includes(type) ?? false;
}

export function acceptsGzip(header: string | string[] | undefined): boolean {
  const negotiator = new Negotiator({ headers: { "accept-encoding": String(header ?? "") } });
  return negotiator.encodings(["gzip"]).length > 0;
}

/** Media types in order of weight; the library breaks ties by the order of the header. */
function rank(header: string, types: readonly string[]): string[] {
  return new Negotiator({ headers: { accept: header } }).mediaTypes([...types]);
}

/** Whether `type` has the larger weight, whatever the order of the header. */
function outweighs(header: string, type: string, other: string): boolean {
  const backwards = header.split(",").reverse().join(",");
  return type !== other && [header, backwards].every((text) => rank(text, [other, type])[0] === type);
}
