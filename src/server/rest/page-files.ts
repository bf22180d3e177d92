/** `pagePlugin` serves the page at `/`: the files that Vite built, with the content policy they were built for. */
import { existsSync } from "node:fs";
import { relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import fastifyStatic from "@fastify/static";
import type { Plugin } from "../life/service.js";

/** Allows nothing from elsewhere, only the page's own code, and no markup from strings. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "font-src 'self'",
  "worker-src 'self'",
  "img-src 'self' blob: data:",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "object-src 'none'",
  "require-trusted-types-for 'script'",
].join("; ");

const HEADERS = {
  "content-security-policy": POLICY,
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
} as const;

/** Files under `assets` carry a hash of their content in their names. */
const FOREVER = "public, max-age=31536000, immutable";
const FRESH = "no-cache";

/** The folder where the page is built: the same place seen from the compiled file and from the source. */
const FOLDER = fileURLToPath(new URL("../../../dist/web", import.meta.url));

/** The time for which a file of the page may be kept without asking, by its place in the folder. */
export function cachingOf(path: string, folder: string = FOLDER): string {
  return relative(folder, path).startsWith(`assets${sep}`) ? FOREVER : FRESH;
}

/** Adds the page to the service. */
export const pagePlugin: Plugin = async (app, { config }) => {
  if (!existsSync(FOLDER)) {
    app.log.warn("the page is not built: npm run build makes it");
    return;
  }
  await app.register(fastifyStatic, {
    root: FOLDER,
    decorateReply: false,
    wildcard: false,
    cacheControl: false,
    // The build leaves a compressed copy next to each large file.
    preCompressed: config.gzip !== "off",
    setHeaders(reply, path) {
      for (const [name, value] of Object.entries(HEADERS)) reply.header(name, value);
      reply.header("cache-control", cachingOf(path));
    },
  });
};
