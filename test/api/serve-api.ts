/** The interface in an application of its own, without a socket. */
import type { FastifyInstance } from "fastify";
import { loadConfig } from "../../src/config.js";
import type { Engine } from "../../src/engine/query.js";
import { apiPlugin } from "../../src/server/api/plugin.js";
import { createApp } from "../../src/server/app.js";
import { type Auth, OPEN_AUTH } from "../../src/server/auth.js";

/** An application with the interface under `/api`. */
export function serveApi(
  engine: Engine,
  { auth = OPEN_AUTH, settings = {} }: { auth?: Auth; settings?: Record<string, string> } = {},
): Promise<FastifyInstance> {
  const config = loadConfig(settings, {});
  return createApp({ config, engine, auth, logger: { level: "silent" }, plugins: [apiPlugin] });
}
