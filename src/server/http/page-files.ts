/**
 * `pagePlugin` serves what was built for browsers, each with the content policy that it was built for: the page at `/`
 * and `/view/NAME`, and the site of the documents at `/docs`.
 */
import { existsSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import fastifyStatic from "@fastify/static";
import type { FastifyInstance } from "fastify";
import { type Config, pathOfBase } from "../../shared/config.js";
import { previewOf } from "./link-preview.js";
import type { Plugin, Service } from "./service.js";

/** Content policy of the page: nothing from elsewhere, only its own code, and no markup from strings. */
const POLICY = {
  "default-src": "'none'",
  "script-src": "'self'",
  // The digest of the only style sheet that charts contain.
  "style-src": "'self' 'sha256-zrfVyvY1E/5V+DXZunsRZW8XTqTsuIZzp8dBDThhSn8='",
  "connect-src": "'self'",
  "font-src": "'self'",
  "worker-src": "'self'",
  "img-src": "'self' blob: data:",
  "base-uri": "'none'",
  "form-action": "'self'",
  "frame-ancestors": "'none'",
  "object-src": "'none'",
  "require-trusted-types-for": "'script'",
};

/** Content policy of the documents: highlighted code has inline styles, and pages are set by `innerHTML`. */
const SITE_POLICY = { ...POLICY, "style-src": "'self' 'unsafe-inline'", "require-trusted-types-for": undefined };

type PolicyRules = Readonly<Record<string, string | undefined>>;

function headersOf(policy: PolicyRules): Readonly<Record<string, string>> {
  const rules = Object.entries(policy).filter(([, value]) => value !== undefined);
  return {
    "content-security-policy": rules.map(([name, value]) => `${name} ${value}`).join("; "),
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
  };
}

/** Files under `assets` carry a hash of their content in their names. */
const FOREVER = "public, max-age=31536000, immutable";
const FRESH = "no-cache";

/** The folder of the built page, from the compiled file or from the source. */
const FOLDER = fileURLToPath(new URL("../../../dist/web", import.meta.url));

const SITE = fileURLToPath(new URL("../../../dist/site", import.meta.url));

/** How long a file of the page may be cached, by its path in the folder. */
export function cachingOf(path: string, folder: string = FOLDER): string {
  return relative(folder, path).startsWith(`assets${sep}`) ? FOREVER : FRESH;
}

/** Sends the page at the address of each link, `/view/NAME`; its files lie one folder above. */
async function addViews(app: FastifyInstance, service: Service, policy: PolicyRules): Promise<void> {
  const page = readFileSync(join(FOLDER, "index.html"), "utf8").replaceAll('="./', '="../');
  const headers = { ...headersOf(policy), "cache-control": FRESH };
  for (const path of ["/view/", "/view/:name"])
    app.get<{ Params: { name?: string } }>(path, ({ params: { name = "" }, url }, reply) => {
      const preview = previewOf(service, name, url.split("?", 2)[1] ?? "");
      return reply
        .headers(headers)
        .type("text/html; charset=utf-8")
        .send(page.replace("<title>", () => `${preview}<title>`));
    });
}

async function addFolder(app: FastifyInstance, root: string, policy: PolicyRules, options: object): Promise<void> {
  const headers = headersOf(policy);
  await app.register(fastifyStatic, {
    root,
    decorateReply: false,
    cacheControl: false,
    setHeaders(reply, path) {
      for (const [name, value] of Object.entries(headers)) reply.header(name, value);
      reply.header("cache-control", cachingOf(path, root));
    },
    ...options,
  });
}

/** Adds the page to the service, and the documents if they are built. */
export const pagePlugin: Plugin = async (app, service) => {
  const { config } = service;
  if (!existsSync(FOLDER)) {
    app.log.warn("the page is not built: npm run build makes it");
    return;
  }
  // The build stores a compressed copy next to each large file.
  await addFolder(app, FOLDER, POLICY, { wildcard: false, preCompressed: config.gzip !== "off" });
  await addViews(app, service, POLICY);
  if (existsSync(SITE)) await app.register(async (scope) => addSite(scope, config));
};

/**
 * Adds the documents. Their addresses begin with `/docs/`; below the path of `BASE_URL`, that path comes first. Pages
 * are found without `.html` too.
 */
export async function addSite(app: FastifyInstance, { baseUrl }: Pick<Config, "baseUrl">, site = SITE): Promise<void> {
  const scripts = JSON.parse(readFileSync(join(site, "scripts.json"), "utf8")) as readonly string[];
  const base = pathOfBase(baseUrl);
  if (base !== "") {
    app.addHook("onSend", async (_request, reply, payload) => {
      const text = /html|javascript/.test(`${reply.getHeader("content-type")}`);
      if (!text || reply.statusCode !== 200 || !(payload instanceof Readable)) return payload;
      reply.removeHeader("content-length");
      const chunks: Buffer[] = [];
      for await (const chunk of payload) chunks.push(Buffer.from(chunk as Uint8Array));
      return Buffer.concat(chunks).toString().replaceAll('"/docs/', `"${base}/docs/`);
    });
  }
  const allowed = ["'self'", ...scripts.map((digest) => `'${digest}'`)].join(" ");
  app.get("/docs", (_request, reply) => reply.redirect(`${base}/docs/`));
  await addFolder(app, site, { ...SITE_POLICY, "script-src": allowed }, { prefix: "/docs/", extensions: ["html"] });
}
