/** Entity tags and the precondition on them (RFC 9110 8.8.3, 13.1.2). */
import { createHash } from "node:crypto";

/** A strong tag of the exact bytes of a body. */
export function entityTag(body: string | Buffer): string {
  return `"${createHash("sha1").update(body).digest("base64url")}"`;
}

/** Whether an `If-None-Match` names the tag: `*`, or a list in which weak tags compare like strong ones. */
export function isKnown(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === "*") return true;
  return [...ifNoneMatch.matchAll(/(?:W\/)?("[^"]*")/g)].some((match) => match[1] === tag);
}
