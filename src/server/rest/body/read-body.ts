/** Reads the bodies of requests: JSON as a whole, octets and lines as they arrive. */
import type { FastifyRequest } from "fastify";
import type { Operation } from "../../../shared/operations.js";
import { endOf, readAhead } from "../../../text/items-ahead.js";
import type { JsonMember } from "../../../text/json-members.js";
import { type Steps, walk } from "../../../text/steps.js";
import type { Body } from "../../http/body.js";
import { bodyTooLarge } from "../../http/refusal.js";
import type { RequestLife } from "../../http/request-life.js";
import { ownTimesOf } from "../own-times.js";
import { arraysOf, refuse, textsOfJson } from "../parameters.js";
import type { PendingQuery } from "../pending-query.js";
import type { BodyReader } from "./body-reader.js";
import { FloatsReader } from "./floats-reader.js";

/** Media types of request bodies. */
export const REQUEST_TYPES = ["application/json", "application/octet-stream"] as const;

/** Longest JSON body. */
export const JSON_BYTES = 16 * 1024 * 1024;
export const JSON_TOO_LARGE = `: JSON has at most ${JSON_BYTES / 1024 / 1024} MiB; send more points as ${REQUEST_TYPES[1]}`;
/** Points that a query is given before it may make the reader wait. */
const POINTS_AT_ONCE = 8192;

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
    const end = items === undefined ? "" : endOf(items.form);
    const at = end !== "" && since + part.length >= least ? part.lastIndexOf(end, undefined, "latin1") : -1;
    if (items === undefined || at < 0) {
      reader.write(part);
      since += part.length;
      yield* admit();
      continue;
    }
    const cut = at + end.length;
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

/** Reads the body of a request for an operation into its query. */
export async function readQuery(
  request: FastifyRequest,
  operation: Operation,
  pending: PendingQuery,
  life: RequestLife,
): Promise<void> {
  const arrays = arraysOf(operation).map((member) => member.name);
  const [, asOctets] = REQUEST_TYPES;
  const { columns } = request.query as { columns?: string };
  if (!request.headers["content-type"]?.toLowerCase().startsWith(asOctets)) {
    const body = await readWhole(life, JSON_BYTES, JSON_TOO_LARGE);
    return giveMembers(await life.readJson(body, arrays), operation, pending, life.slices);
  }
  const given = arrays.filter((name) => (request.query as Record<string, unknown>)[name] !== "false");
  const own = ownTimesOf(operation);
  const times: string[] | null = own !== null && columns === "xyzt" ? [] : null;
  if (own !== null && times !== null) pending.texts.set(own.list, times);
  const writers = given.map((name) => pending.writer(name));
  await readBody(new FloatsReader(writers, given, times), pending, life);
}

/** Hands the members of a JSON object to a query, in their order. */
export async function giveMembers(
  members: readonly JsonMember[],
  operation: Operation,
  pending: Pick<PendingQuery, "texts" | "writer" | "admit">,
  slices: RequestLife["slices"],
): Promise<void> {
  for (const member of members) {
    const { name } = member;
    if ("text" in member) {
      if (pending.texts.has(name)) throw refuse(name, `${name} is in the query string already.`);
      pending.texts.set(name, textsOfJson(operation, name, member.text));
      continue;
    }
    const writer = pending.writer(name);
    const { triples } = member;
    for (let from = 0; from < triples.length; from += 3 * POINTS_AT_ONCE) {
      const part = triples.subarray(from, from + 3 * POINTS_AT_ONCE);
      writer.addAll(part, part.length / 3);
      await (pending.admit() ?? slices.pause());
    }
    writer.flush();
  }
}

/**
 * Reads the whole body of a request, whose bytes count like points in flight.
 *
 * @param instead what to send instead of more
 * @throws HttpRefusal of more than `most` bytes
 */
export async function readWhole(life: RequestLife, most: number, instead?: string): Promise<Buffer> {
  const body = life.openBody();
  try {
    if (body.remaining > most) throw bodyTooLarge(instead);
    const stated = body.remaining > 0 ? body.remaining : most;
    let whole: Buffer = Buffer.alloc(0);
    let bytes = 0;
    for (let part = body.take(); part !== null; part = body.take()) {
      if (part === undefined) {
        await body.arrival();
        continue;
      }
      // A body that comes in one part needs no copy.
      if (part.length === stated) return part;
      if (bytes + part.length > most) throw bodyTooLarge(instead);
      if (bytes + part.length > whole.length) {
        // Room for what has come, so that slow senders hold little.
        const longer = await life.room(Math.min(stated, 4 * (bytes + part.length)));
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
