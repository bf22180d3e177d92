/** Refuses unsupported methods on known paths, and unknown paths. */
import { METHODS } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { UNDOCUMENTED } from "../../server/http/api-docs.js";
import { VOCABULARIES } from "../model/entities.js";
import { EventsError, notFound } from "./events-error.js";
import { splitTarget } from "./open-request.js";

const ALLOW = "GET, HEAD, OPTIONS";
const NAMES = VOCABULARIES.map(({ name }) => name);
const SUBCOLLECTIONS = new Map<string, readonly string[]>([
  ["events", NAMES],
  ...NAMES.map((name) => [name, ["events"]] as const),
]);
const SINGLE = ["/events.ics", "/openapi.json"];

/**
 * Answers 405 or 204 to other methods on known paths, 404 on unknown paths. @param page path of the page about the
 * interface
 */
export function refuseOthers(scope: FastifyInstance, page: string, isKnown: (path: string) => boolean): void {
  for (const method of METHODS) {
    if (method !== "CONNECT" && !scope.supportedMethods.includes(method)) scope.addHttpMethod(method);
  }
  const others = scope.supportedMethods.filter((method) => method !== "GET" && method !== "HEAD");
  const onRequest = async (request: FastifyRequest, reply: FastifyReply) => {
    if (!isKnown(splitTarget(request).path)) throw notFound();
    return answerMethod(request, reply);
  };
  const roots = [...SUBCOLLECTIONS.keys()].map((name) => `/${name}`);
  for (const url of [...roots.flatMap((root) => [root, `${root}/*`]), ...SINGLE, page]) {
    scope.route({ method: others, url, schema: UNDOCUMENTED, onRequest, handler: () => undefined });
  }
  for (const [root, allowed] of SUBCOLLECTIONS) {
    scope.get(`/${root}/*`, { schema: UNDOCUMENTED }, (request) => {
      const below = (request.params as { readonly "*": string })["*"];
      throw notFound(/^[^/]+\/[^/]+\/?$/.test(below) ? [{ reason: "unknown subcollection", allowed }] : []);
    });
  }
}

function answerMethod(request: FastifyRequest, reply: FastifyReply) {
  if (request.method !== "OPTIONS") {
    throw new EventsError(405, "method_not_allowed", "Only GET, HEAD and OPTIONS are allowed here.", [], {
      allow: ALLOW,
    });
  }
  reply.code(204).header("allow", ALLOW);
  if (request.headers["access-control-request-method"] !== undefined) {
    reply.headers({
      "access-control-allow-methods": ALLOW,
      "access-control-allow-headers": "Accept, If-None-Match, Prefer, X-API-Key",
      "access-control-max-age": "86400",
    });
  }
  return reply.send();
}
