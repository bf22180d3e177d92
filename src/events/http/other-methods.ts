/** Methods other than GET and HEAD, and paths that lead nowhere, below the routes of the events interface. */
import { METHODS } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { VOCABULARIES } from "../model/records.js";
import { splitTarget } from "./exchange.js";
import { EventsError, notFound } from "./problem.js";

const ALLOW = "GET, HEAD, OPTIONS";

const NAMES = VOCABULARIES.map(({ name }) => name).join("|");
const KNOWN = new RegExp(
  `^/(?:(?:events|${NAMES})(?:/[0-9]{1,15})?|events/[0-9]{1,15}/(?:${NAMES})|(?:${NAMES})/[0-9]{1,15}/events|` +
    "events\\.ics|events/[0-9]{1,15}\\.ics|openapi\\.json|docs)/?$",
);

/** Roots below which every path is answered here. */
const ROOTS = ["/events", ...VOCABULARIES.map(({ name }) => `/${name}`)];
const SINGLE = ["/events.ics", "/openapi.json", "/docs"];

/** Registers the catch-alls: 405 or 204 on known paths for other methods, 404 on all the rest. */
export function refuseOtherMethods(scope: FastifyInstance): void {
  for (const method of METHODS) {
    if (method !== "CONNECT" && !scope.supportedMethods.includes(method)) scope.addHttpMethod(method);
  }
  const others = scope.supportedMethods.filter((method) => method !== "GET" && method !== "HEAD");
  const unknown = () => {
    throw notFound();
  };
  for (const url of [...ROOTS.flatMap((root) => [root, `${root}/*`]), ...SINGLE]) {
    // Answered before any body is read, which has no business here.
    const onRequest = async (request: FastifyRequest, reply: FastifyReply) => refuse(scope.prefix, request, reply);
    scope.route({ method: others, url, schema: { hide: true }, onRequest, handler: unknown });
  }
  for (const root of ROOTS) scope.get(`${root}/*`, { schema: { hide: true } }, unknown);
}

function refuse(prefix: string, request: FastifyRequest, reply: FastifyReply) {
  if (!KNOWN.test(splitTarget(request).path.slice(prefix.length))) throw notFound();
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
