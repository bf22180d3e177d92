/** Entity tags of answers to GET (RFC 9110, 13). */
import { createHash } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { digestBuild } from "../../engine/contract/build-digest.js";
import type { Dataset } from "../../engine/contract/dataset.js";
import type { Config } from "../../shared/config.js";
import { HttpRefusal } from "./refusal.js";

/** Strong tags: digests of the data, the code that computes, the settings that change numbers, and the request. */
export class Tags {
  readonly #fd8Legacy: boolean;
  /** Digest of the code that computes, read for the first tag. */
  #build: string | null = null;

  constructor({ fd8Legacy }: Config) {
    this.#fd8Legacy = fd8Legacy;
  }

  /** @param request everything that this answer about the dataset depends on */
  of({ name, digest }: Dataset, request: unknown): string {
    this.#build ??= digestBuild();
    const text = JSON.stringify([this.#build, this.#fd8Legacy, name, digest, request]);
    return `"${createHash("sha256").update(text).digest("hex").slice(0, 32)}"`;
  }
}

/** Whether an `If-None-Match` names a tag; weak tags compare like strong ones (RFC 9110). */
export function isNamed(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === "*") return true;
  return [...ifNoneMatch.matchAll(/(?:W\/)?("[^"]*")/g)].some(([, named]) => named === tag);
}

/** Whether the caller holds the answer of a tag, so that 304 suffices. @throws HttpRefusal if `If-Match` names others */
export function isHeld({ headers }: Pick<FastifyRequest, "headers">, tag: string): boolean {
  const expected = headers["if-match"];
  if (expected !== undefined && (/W\//.test(expected) || !isNamed(expected, tag)))
    throw new HttpRefusal(412, "If-Match names another answer: ask without it.");
  return isNamed(headers["if-none-match"], tag);
}

export function isFresh(request: FastifyRequest, reply: FastifyReply, { cacheControl }: Config, tag: string): boolean {
  reply.header("etag", tag).header("cache-control", cacheControl);
  return isHeld(request, tag);
}
