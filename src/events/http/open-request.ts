/** Reads callback, key and preferences of a request, and sends its answer or error. */
import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import { names, preferred } from "../../server/http/negotiate.js";
import { PROBLEM_TYPE } from "../../server/http/problem.js";
import { EventsError, errorBody, problemBody } from "./events-error.js";
import { type EventsSettings, isKey } from "./events-settings.js";
import { isCallback, wrapChunks, wrapJsonp } from "./jsonp.js";
import { QueryString } from "./query-string.js";
import { checkVersion, refuseUnknown, UNLINKED } from "./read-query.js";
import { isKnown, type Representation, represent } from "./representation.js";

declare module "fastify" {
  interface FastifyRequest {
    /** A checked name of JSONP; null: the answer is not wrapped. */
    eventsCallback: string | null;
  }
}

export interface EventsRequest {
  readonly parameters: QueryString;
  /** `Prefer: handling=strict` */
  readonly strict: boolean;
}

export function splitTarget(request: FastifyRequest): { path: string; query: string } {
  const [path = "", ...query] = (request.raw.url ?? "").split("?");
  return { path, query: query.join("?") };
}

/** Reads what every route takes. @param known names besides those @throws EventsError 401 without a configured key */
export function openRequest(
  request: FastifyRequest,
  settings: EventsSettings,
  known: readonly string[],
): EventsRequest {
  const parameters = new QueryString(splitTarget(request).query);
  const callbacks = parameters.raw("callback").filter((name) => name !== "");
  const callback = callbacks.length === 1 ? (callbacks[0] ?? null) : null;
  request.eventsCallback = callback !== null && isCallback(callback) ? callback : null;
  checkKey(request, parameters, settings.keys);
  const name = parameters.text("callback");
  if (name !== null && !isCallback(name)) {
    parameters.fault("callback", "must be the name of a function", undefined, "invalid_callback");
  }
  checkVersion(parameters);
  parameters.text("key");
  const strict = /(?:^|[,;])\s*handling\s*=\s*"?strict"?\s*(?:$|[,;])/i.test(String(request.headers.prefer ?? ""));
  if (strict) refuseUnknown(parameters, [...known, ...UNLINKED, "id"]);
  return { parameters, strict };
}

function checkKey(request: FastifyRequest, parameters: QueryString, keys: readonly string[]): void {
  if (keys.length === 0) return;
  const header = request.headers["x-api-key"];
  const given = header === undefined ? parameters.raw("key") : [header].flat();
  if (given.length === 1 && isKey(keys, given[0] ?? "")) return;
  throw new EventsError(401, "unauthorized", "A valid API key is needed.", [], { "www-authenticate": "ApiKey" });
}

/** For the rate limit: the key if there is one, else the address. */
export function callerOf(request: FastifyRequest, settings: EventsSettings): string {
  const header = [request.headers["x-api-key"]].flat()[0];
  const key = header ?? new URLSearchParams(splitTarget(request).query).get("key");
  return key && isKey(settings.keys, key) ? `key ${key}` : `address ${request.ip}`;
}

export function sendJson(request: FastifyRequest, reply: FastifyReply, page: Representation, settings: EventsSettings) {
  const callback = request.eventsCallback;
  if (callback === null) return sendAs(jsonType(request), request, reply, page, settings);
  if (typeof page.body === "string") {
    const script = represent(wrapJsonp(callback, page.body), page.headers);
    return sendAs("text/javascript", request, reply, script, settings);
  }
  // A long body is wrapped as it is sent: its tag follows from body and name.
  const tag = `${page.tag.slice(0, -1)}.${callback}"`;
  if (sendHead(request, reply, { ...page, tag }, settings)) return reply.code(304).send();
  const chunks = wrapChunks(callback, chunksOf(page.body));
  return reply.type("text/javascript; charset=utf-8").send(Readable.from(chunks));
}

function jsonType(request: FastifyRequest): string {
  return preferred(request.headers.accept, ["application/json", "application/hal+json"]) ?? "application/json";
}

/** Sends a page, or 304 when the caller has it. */
export function sendAs(
  type: string,
  request: FastifyRequest,
  reply: FastifyReply,
  page: Representation,
  settings: EventsSettings,
) {
  if (sendHead(request, reply, page, settings)) return reply.code(304).send();
  const { body } = page;
  reply.type(`${type}; charset=utf-8`);
  if (typeof body === "string") return reply.send(body);
  const length = body.reduce((sum, piece) => sum + piece.length, 0);
  return reply.header("content-length", length).send(Readable.from(chunksOf(body)));
}

/** Sets headers; true when the caller has the representation. */
function sendHead(
  request: FastifyRequest,
  reply: FastifyReply,
  { headers, tag }: Omit<Representation, "body">,
  settings: EventsSettings,
): boolean {
  reply.headers(headers).headers({
    vary: "Accept, Accept-Encoding",
    "cache-control": `${settings.keys.length > 0 ? "private" : "public"}, max-age=60`,
    etag: tag,
  });
  return isKnown(request.headers["if-none-match"], tag);
}

const CHUNK_BYTES = 64 * 1024;

function* chunksOf(pieces: readonly Buffer[]): Generator<Buffer> {
  for (const piece of pieces)
    for (let from = 0; from < piece.length; from += CHUNK_BYTES) yield piece.subarray(from, from + CHUNK_BYTES);
}

/** Sends an error in the form that the caller accepts. */
export function sendError(request: FastifyRequest, reply: FastifyReply, error: EventsError) {
  const { accept } = request.headers;
  // Naming the type of problems means it, even with the same weight as JSON.
  const problem = names(accept, PROBLEM_TYPE) && preferred(accept, [PROBLEM_TYPE, "application/json"]) === PROBLEM_TYPE;
  const body = JSON.stringify(problem ? problemBody(error, splitTarget(request).path) : errorBody(error));
  const callback = request.eventsCallback;
  const type = callback !== null ? "text/javascript" : problem ? PROBLEM_TYPE : "application/json";
  reply.code(error.status).headers(error.headers).header("cache-control", "no-store");
  reply.header("vary", "Accept, Accept-Encoding").type(`${type}; charset=utf-8`);
  return reply.send(callback === null ? body : wrapJsonp(callback, body));
}
