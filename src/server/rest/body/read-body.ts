/** `readBody` feeds the body of a request to a reader as it arrives; `readerFor` chooses one by media type. */
import type { FastifyRequest } from "fastify";
import type { Operation } from "../../../shared/operations.js";
import { readAhead } from "../../../text/items-ahead.js";
import { type Steps, walk } from "../../../text/steps.js";
import type { Body } from "../../http/body.js";
import { bodyTooLarge } from "../../http/refusal.js";
import type { RequestLife } from "../../http/request-life.js";
import { ownTimesOf } from "../own-times.js";
import { arraysOf, refuse, textsOfJson } from "../parameters.js";
import type { PendingQuery } from "../pending-query.js";
import type { BodyReader } from "./body-reader.js";
import { FloatsReader } from "./floats-reader.js";
import { JsonReader } from "./json-reader.js";

/** Media types of request bodies. */
export const REQUEST_TYPES = ["application/json", "application/octet-stream"] as const;

/**
 * Length from which worker threads read a body. If the body does not state its length, or has had an item of unusual
 * form, the main thread reads this many bytes before threads are tried.
 */
const LARGE_BYTES = 256 * 1024;

/** Reads a body to its end; its socket waits while a part is read or too many points are in flight. */
export async function readBody(
  reader: BodyReader,
  pending: Pick<PendingQuery, "admit" | "threads">,
  life: Pick<RequestLife, "openBody">,
): Promise<void> {
  const body = life.openBody();
  try {
    await walk(readParts(reader, pending, body));
    reader.end();
  } finally {
    body.release();
  }
}

/** Reads the parts of a body; threads read the items of a large one, as long as these have the usual form. */
function* readParts(reader: BodyReader, pending: Pick<PendingQuery, "admit" | "threads">, body: Body): Steps<void> {
  const admit = function* (): Steps<void> {
    const wait = pending.admit();
    if (wait) yield wait;
  };
  const deliver = function* (triples: Float32Array, count: number, bytes: number): Steps<void> {
    reader.items?.add(triples, count, bytes);
    yield* admit();
  };
  /** Bytes that are read here before threads are tried, and those read since they were. */
  let least = body.remaining >= LARGE_BYTES ? 0 : LARGE_BYTES;
  let since = 0;
  for (let part = body.take(); part !== null; part = body.take()) {
    if (part === undefined) {
      yield body.arrival();
      continue;
    }
    const { items } = reader;
    const at = items !== undefined && since + part.length >= least ? part.lastIndexOf(items.form.end) : -1;
    if (items === undefined || at < 0) {
      reader.write(part);
      since += part.length;
      yield* admit();
      continue;
    }
    const cut = at + items.form.end.length;
    body.putBack(part.subarray(cut));
    reader.write(part.subarray(0, cut));
    since += cut;
    yield* admit();
    const { threads } = pending;
    if (threads === null) least = Number.POSITIVE_INFINITY;
    const next = reader.items;
    if (threads === null || next === undefined || !next.isNext) continue;
    const isOdd = yield* readAhead(body, next.form, threads, deliver);
    least = Math.max(LARGE_BYTES, isOdd ? 2 * least : 0);
    since = 0;
  }
}

/** The reader for the media type of a request. */
export function readerFor(
  request: FastifyRequest,
  operation: Operation,
  pending: Pick<PendingQuery, "texts" | "writer">,
): BodyReader {
  const arrays = arraysOf(operation).map((member) => member.name);
  const [, asOctets] = REQUEST_TYPES;
  const { columns } = request.query as { columns?: string };
  if (request.headers["content-type"]?.toLowerCase().startsWith(asOctets)) {
    const given = arrays.filter((name) => (request.query as Record<string, unknown>)[name] !== "false");
    const own = ownTimesOf(operation);
    const times: string[] | null = own !== null && columns === "xyzt" ? [] : null;
    if (own !== null && times !== null) pending.texts.set(own.list, times);
    return new FloatsReader(
      given.map((name) => pending.writer(name)),
      given,
      times,
    );
  }
  return new JsonReader(arrays, {
    array: (name) => pending.writer(name),
    member: (name, text) => {
      if (pending.texts.has(name)) throw refuse(name, `${name} is in the query string already.`);
      pending.texts.set(name, textsOfJson(operation, name, text));
    },
  });
}

/**
 * Reads the whole body of a request, whose bytes count like points in flight.
 *
 * @throws HttpRefusal of more than `most` bytes
 */
export async function readWhole(life: RequestLife, most: number): Promise<Buffer> {
  const body = life.openBody();
  try {
    if (body.remaining > most) throw bodyTooLarge();
    // Room for what the request says; if it does not say, for what has come.
    let whole = await life.room(body.remaining);
    let bytes = 0;
    for (let part = body.take(); part !== null; part = body.take()) {
      if (part === undefined) {
        await body.arrival();
        continue;
      }
      if (bytes + part.length > most) throw bodyTooLarge();
      if (bytes + part.length > whole.length) {
        const longer = await life.room(2 * (bytes + part.length));
        whole.copy(longer);
        whole = longer;
      }
      part.copy(whole, bytes);
      bytes += part.length;
    }
    return whole.subarray(0, bytes);
  } finally {
    body.release();
  }
}
