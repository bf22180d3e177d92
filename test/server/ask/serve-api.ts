/** The interface in an application of its own, without a socket. */
import type { FastifyInstance } from "fastify";
import { pino } from "pino";
import type { Engine } from "../../../src/engine/contract/query.js";
import { apiPlugin } from "../../../src/server/ask/plugin.js";
import { createApp } from "../../../src/server/http/app.js";
import { type Auth, OPEN_AUTH } from "../../../src/server/http/auth.js";
import { loadConfig } from "../../../src/shared/config.js";

export function serveApi(
  engine: Engine,
  { auth = OPEN_AUTH, settings = {} }: { auth?: Auth; settings?: Record<string, string> } = {},
): Promise<FastifyInstance> {
  const config = loadConfig(settings, {});
  return createApp({ config, engine, auth, logger: pino({ level: "silent" }), plugins: [apiPlugin] });
}
