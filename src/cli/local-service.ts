/** A service for one command: this process, a free port of the loopback interface, gone when the command is done. */
import { loadConfig } from "../config.js";
import { createLog, startService } from "../main.js";

/** Settings that say how a service meets the world and its peers; none concerns one that only this process talks to. */
const PUBLIC = /^FIELDPROBE_(TOKENS?|ANONYMOUS|TLS|BASE_URL|HTTP|EVENTS|ROLE|NATS)(_|$)/;

/**
 * Starts the service with the configured data folders, runs `use` with its address and ends it.
 *
 * @param data data folders that win over the configured ones, separated by the platform's path delimiter
 * @throws ConfigError, and what `use` throws
 */
export async function withLocalService<T>(data: string | undefined, use: (url: string) => Promise<T>): Promise<T> {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !PUBLIC.test(name)));
  const overrides = { HOST: "127.0.0.1", PORT: "0", ...(data !== undefined && { DATA: data }) };
  const config = loadConfig(overrides, { FIELDPROBE_LOG_LEVEL: "warn", ...env });
  const service = await startService(config, createLog(config), true);
  try {
    return await use(service.url);
  } finally {
    await service.close();
  }
}
