/** Runs a service for one command, in this process, on a free port of the loopback interface. */
import { type Logger, pino } from "pino";
import { loadConfig } from "../config.js";
import { startService } from "../main.js";

/** Settings of a public service or a cluster, which do not apply to a service for this process alone. */
const PUBLIC = /^FIELDPROBE_(TOKENS?|ANONYMOUS|TLS|BASE_URL|HTTP|EVENTS|ROLE|NATS)(_|$)/;

/** Prints log entries from `level` on as plain lines, without those about datasets other than `dataset`. */
function plainLog(level: string, dataset: string | undefined): Logger {
  const write = (line: string): void => {
    const entry = JSON.parse(line) as { readonly msg: string; readonly dataset?: string };
    const about = entry.dataset?.toLowerCase();
    if (about !== undefined && about !== dataset?.toLowerCase()) return;
    process.stderr.write(`fieldprobe: ${about === undefined ? "" : `${entry.dataset}: `}${entry.msg}\n`);
  };
  return pino({ level, base: null }, { write });
}

/**
 * Starts the service with the configured data folders, runs `use` with its address and ends it.
 *
 * @param data    data folders that win over the configured ones, separated by the platform's path delimiter
 * @param dataset name of the dataset that will be asked, whose warnings are shown
 * @throws ConfigError, and what `use` throws
 */
export async function withLocalService<T>(
  data: string | undefined,
  dataset: string | undefined,
  use: (url: string) => Promise<T>,
): Promise<T> {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !PUBLIC.test(name)));
  const overrides = { HOST: "127.0.0.1", PORT: "0", ...(data !== undefined && { DATA: data }) };
  const config = loadConfig(overrides, { FIELDPROBE_LOG_LEVEL: "warn", ...env });
  const service = await startService(config, plainLog(config.logLevel, dataset), true);
  try {
    return await use(service.url);
  } finally {
    await service.close();
  }
}
