/** Sends answers with their entity tags, as JSON, scripts and other types, and errors. */
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { FastifyReply, FastifyRequest } from "fastify";
import { names, preferred } from "../../server/http/negotiate.js";
import { PROBLEM_TYPE } from "../../server/http/problem.js";
import { isNamed } from "../../server/http/validators.js";
import { type EventsError, errorBody, problemBody } from "./events-error.js";
import { wrapJsonp } from "./jsonp.js";
import { splitTarget } from "./open-request.js";
import type { Resources } from "./resources.js";

export interface Answer {
  /** Absent: JSON, of the type that the caller prefers, or a script. */
  readonly type?: string;
  readonly parts: Iterable<string>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Made after other long ones: each may hold tens of megabytes. */
  readonly isLong?: boolean;
}

const VARY = "Accept, Accept-Encoding";
const PIECE_CHARS = 64 * 1024;
/** Closing the service cuts off what has been handed over whole, so longer bodies are not. */
const WHOLE_BYTES = 1024 * 1024;

/** Answers with 200, or 304 when the caller has the body. */
export async function sendAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  { settings, longBodies }: Pick<Resources, "settings" | "longBodies">,
  { type, parts, headers = {}, isLong = false }: Answer,
) {
  const callback = type === undefined ? request.eventsCallback : null;
  const make = () => makeBody(callback === null ? parts : wrapJsonp(callback, parts));
  const { pieces, length, tag } = await (isLong ? longBodies.run(make) : make());
  const scope = settings.keys.length > 0 ? "private" : "public";
  reply.headers({ ...headers, vary: VARY, "cache-control": `${scope}, max-age=60`, etag: tag });
  if (isNamed(request.headers["if-none-match"], tag)) return reply.code(304).send();
  reply.type(`${type ?? (callback === null ? jsonType(request) : "text/javascript")}; charset=utf-8`);
  if (length <= WHOLE_BYTES) return reply.send(Buffer.concat(pieces));
  return reply.header("content-length", length).send(Readable.from(pieces));
}

function jsonType(request: FastifyRequest): string {
  return preferred(request.headers.accept, ["application/json", "application/hal+json"]) ?? "application/json";
}

/** Makes a long body in slices, so that it holds up no other request. */
async function makeBody(parts: Iterable<string>) {
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
  return { pieces, length, tag: `"${hash.digest("base64url")}"` };
}

/** Sends an error in the form that the caller accepts. */
export function sendError(request: FastifyRequest, reply: FastifyReply, error: EventsError) {
  const { accept } = request.headers;
  // Naming the type of problems means it, even with the same weight as JSON.
  const problem = names(accept, PROBLEM_TYPE) && preferred(accept, [PROBLEM_TYPE, "application/json"]) === PROBLEM_TYPE;
  const body = JSON.stringify(problem ? problemBody(error, splitTarget(request).path) : errorBody(error));
  const callback = request.eventsCallback;
  const type = callback !== null ? "text/javascript" : problem ? PROBLEM_TYPE : "application/json";
  reply.code(error.status).headers({ ...error.headers, "cache-control": "no-store", vary: VARY });
  return reply
    .type(`${type}; charset=utf-8`)
    .send(callback === null ? body : [...wrapJsonp(callback, [body])].join(""));
}
