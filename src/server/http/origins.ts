/** Protection from other web sites: refuses foreign host names, and costly requests from foreign origins. */
import type { FastifyInstance, FastifyReply } from "fastify";
import { type Config, isLoopbackHost } from "../../shared/config.js";
import { HttpRefusal } from "./refusal.js";
import { addVary } from "./send-answer.js";

const HARMLESS = ["GET", "HEAD", "OPTIONS"];
/** Values of Sec-Fetch-Site from other sites; ports do not distinguish sites. */
const FOREIGN_SITES = ["cross-site", "same-site"];
const EXPOSED = [
  "Fieldprobe-Shape, Fieldprobe-Times, Fieldprobe-Columns, Fieldprobe-Assumed, Fieldprobe-Axes, Fieldprobe-Origin",
  "Fieldprobe-Spacing, Fieldprobe-Range, Fieldprobe-Version, Fieldprobe-Manifest, Fieldprobe-Options",
  "Fieldprobe-Frames, Fieldprobe-Manifests, ETag, X-Request-Id, Retry-After",
].join(", ");

/**
 * Checks `Host` and `Origin` before anything else. A service on loopback answers only to loopback names, the name of
 * `BASE_URL` and those of `ALLOWED_HOSTS`, against DNS rebinding: 421. A costly request with a foreign `Origin` that is
 * not in `CORS_ORIGINS` gets 403.
 */
export function guardOrigins(
  app: FastifyInstance,
  config: Pick<Config, "host" | "baseUrl" | "allowedHosts" | "corsOrigins">,
): void {
  const base = config.baseUrl === null ? null : new URL(config.baseUrl);
  const names = new Set(config.allowedHosts.map((name) => name.toLowerCase()));
  if (base !== null) names.add(base.hostname.toLowerCase());
  const guarded = isLoopbackHost(config.host);
  const allowed = new Set(config.corsOrigins);
  // Callers send the same `Host` with every request.
  let lastKnown: string | undefined;
  app.addHook("onRequest", (request, reply, done) => {
    const { host, origin } = request.headers;
    if (guarded && host !== lastKnown && host !== undefined) {
      const name = host.replace(/:\d*$/, "").toLowerCase();
      const isLoopback = isLoopbackHost(name.replace(/^\[(.*)\]$/, "$1")) || name.endsWith(".localhost");
      if (!isLoopback && !names.has(name)) {
        throw new HttpRefusal(421, "This service does not answer to that host name; ALLOWED_HOSTS can add it.", {
          connection: "close",
        });
      }
      lastKnown = host;
    }
    if (allowed.size > 0) addVary(reply, "Origin");
    if (origin === undefined) return done();
    if (allowed.has(origin)) {
      permit(origin, reply);
      if (request.method === "OPTIONS" && request.headers["access-control-request-method"] === "POST") {
        reply.code(204).send();
        return;
      }
    } else if (!HARMLESS.includes(request.method) && !isOwn(origin, host, base)) {
      throw new HttpRefusal(403, "Pages of this origin may not send requests to this service.");
    }
    done();
  });
}

/** Refuses costly GET from images and scripts of other sites on loopback, but not links that open in a tab. */
export function guardReads(app: FastifyInstance, { host, corsOrigins }: Pick<Config, "host" | "corsOrigins">): void {
  if (!isLoopbackHost(host)) return;
  const allowed = new Set(corsOrigins);
  app.addHook("onRequest", (request, reply, done) => {
    const { origin, ...headers } = request.headers;
    const opens = headers["sec-fetch-mode"] === "navigate" && headers["sec-fetch-dest"] === "document";
    const isForeign = FOREIGN_SITES.includes(String(headers["sec-fetch-site"])) && !opens;
    if (isForeign && (origin === undefined || !allowed.has(origin)))
      throw new HttpRefusal(403, "Pages of other sites may not read from this service.");
    reply.header("cross-origin-resource-policy", "same-origin");
    done();
  });
}

/** Whether a page belongs to this service, by the requested address or the public one. */
function isOwn(origin: string, host: string | undefined, base: URL | null): boolean {
  if (origin === base?.origin) return true;
  return URL.canParse(origin) && new URL(origin).host === host?.toLowerCase();
}

function permit(origin: string, reply: FastifyReply): void {
  reply.headers({
    "access-control-allow-origin": origin,
    "access-control-allow-methods": "GET, HEAD, POST",
    "access-control-allow-headers": "Authorization, Content-Type, SOAPAction, Accept",
    "access-control-expose-headers": EXPOSED,
    "access-control-max-age": "600",
  });
}
