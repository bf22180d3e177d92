/** The field service on a free loopback port, with the shipped data and more. */
import { delimiter } from "node:path";
import { fileURLToPath } from "node:url";
import { pino } from "pino";
import { type RunningService, startService } from "../../src/main.js";
import { loadConfig } from "../../src/shared/config.js";

/** The small flow that the package ships; the others would slow every start. */
export const SHIPPED_DATA = fileURLToPath(new URL("../../data/isotropic32", import.meta.url));

/**
 * Starts it with two workers.
 *
 * @param data     data folders beside the shipped one
 * @param settings further settings by variable name without prefix
 * @param fieldsOnly whether it has neither jobs nor events
 */
export function serveTestData(
  data: readonly string[] = [],
  settings: Readonly<Record<string, string>> = {},
  fieldsOnly = true,
): Promise<RunningService> {
  const base = {
    PORT: "0",
    WORKERS: "2",
    CACHE_BYTES: `${256 * 1024 * 1024}`,
    DATA: [SHIPPED_DATA, ...data].join(delimiter),
  };
  return startService(loadConfig({ ...base, ...settings }, {}), pino({ level: "warn" }), fieldsOnly);
}
