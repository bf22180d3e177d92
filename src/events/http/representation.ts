/** Finished bodies with their entity tags and headers. */
import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";

export interface Representation {
  /** A text, or pieces of a body of more than `WHOLE_BYTES`. */
  readonly body: string | readonly Buffer[];
  readonly tag: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Closing the service cuts off what has been handed over whole, so longer bodies are not. */
const WHOLE_BYTES = 1024 * 1024;
const PIECE_CHARS = 64 * 1024;

export function represent(body: string, headers: Readonly<Record<string, string>> = {}): Representation {
  return { body, tag: `"${createHash("sha1").update(body).digest("base64url")}"`, headers };
}

/** Makes a long body in slices, so that it holds up no other request. */
export async function representParts(
  parts: Iterable<string>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Representation> {
  const hash = createHash("sha1");
  const pieces: Buffer[] = [];
  let length = 0;
  let text = "";
  const close = () => {
    const piece = Buffer.from(text);
    hash.update(piece);
    pieces.push(piece);
    length += piece.length;
    text = "";
  };
  for (const part of parts) {
    text += part;
    if (text.length < PIECE_CHARS) continue;
    close();
    await nextTurn();
  }
  close();
  const body = length > WHOLE_BYTES ? pieces : Buffer.concat(pieces).toString();
  return { body, tag: `"${hash.digest("base64url")}"`, headers };
}

/** Whether an `If-None-Match` names the tag; weak tags compare like strong ones (RFC 9110). */
export function isKnown(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === "*") return true;
  return [...ifNoneMatch.matchAll(/(?:W\/)?("[^"]*")/g)].some((match) => match[1] === tag);
}
