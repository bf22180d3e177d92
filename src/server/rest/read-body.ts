/** `readBody` feeds the body of a request to a reader as it arrives; `readerFor` chooses one by media type. */
import type { FastifyRequest } from "fastify";
import type { Operation } from "../../operations.js";
import type { RequestLife } from "../http/request-life.js";
import type { Service } from "../http/service.js";
import { FloatsReader } from "./floats-reader.js";
import { JsonReader } from "./json-reader.js";
import { arraysOf, refuse, textsOfJson } from "./parameters.js";
import type { PendingQuery } from "./pending-query.js";

/** Media types of request bodies. */
export const REQUEST_TYPES = ["application/json", "application/octet-stream"] as const;

/** A reader for the body of a request: `write` every part, then `end`. */
export interface BodyReader {
  write(part: Buffer): void;
  end(): void;
}

/** Reads a body to its end; its socket waits while a part is read or too many points are in flight. */
export async function readBody(
  reader: BodyReader,
  pending: PendingQuery,
  life: RequestLife,
  { slices }: Service,
): Promise<void> {
  const body = life.openBody();
  slices.begin();
  try {
    for (let part = body.take(); part !== null; part = body.take()) {
      if (part === undefined) await body.arrival();
      else {
        reader.write(part);
        const wait = pending.admit();
        if (wait) await slices.outside(wait);
      }
    }
    reader.end();
  } finally {
    slices.end();
    body.release();
  }
}

/** The reader for the media type of a request. */
export function readerFor(request: FastifyRequest, operation: Operation, pending: PendingQuery): BodyReader {
  const arrays = arraysOf(operation).map((member) => member.name);
  const [, asOctets] = REQUEST_TYPES;
  if (request.headers["content-type"]?.toLowerCase().startsWith(asOctets)) {
    const given = arrays.filter((name) => (request.query as Record<string, unknown>)[name] !== "false");
    return new FloatsReader(
      given.map((name) => pending.writer(name)),
      given,
    );
  }
  return new JsonReader(arrays, {
    array: (name) => pending.writer(name),
    member: (name, text) => {
      if (pending.texts.has(name)) throw refuse(name, `${name} stands in the query string too.`);
      pending.texts.set(name, textsOfJson(operation, name, text));
    },
  });
}
