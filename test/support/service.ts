/** The field service on a free loopback port, with the shipped data and more. */
import { delimiter } from "node:path";
import { fileURLToPath } from "node:url";
import { type Logger, pino } from "pino";
import { afterAll, afterEach } from "vitest";
import { type RunningService, startService } from "../../src/main.js";
import { loadConfig } from "../../src/shared/config.js";
import { eachScratchFolder } from "./scratch.js";

/** The small flow that the package ships; the others would slow every start. */
export const SHIPPED_DATA = fileURLToPath(new URL("../../data/isotropic32", import.meta.url));

/**
 * Starts it with two workers.
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

/** Starts it for the tests of a file. */
export async function useTestData(...settings: Parameters<typeof serveTestData>): Promise<RunningService> {
  const service = await serveTestData(...settings);
  afterAll(() => service.close());
  return service;
}

/** Services with jobs, of which each test has one, with a state folder of its own. */
export class OwnServices {
  folder = "";
  readonly #settings: Readonly<Record<string, string>>;
  readonly #log: Logger;
  #service: RunningService | null = null;

  constructor(settings: Readonly<Record<string, string>>, log = pino({ level: "fatal" })) {
    this.#settings = settings;
    this.#log = log;
    eachScratchFolder((folder) => {
      this.folder = folder;
    });
    afterEach(() => this.close());
  }

  serveIn(state: string, settings: Readonly<Record<string, string>> = {}): Promise<RunningService> {
    const base = { PORT: "0", CACHE_BYTES: `${64 * 2 ** 20}`, DATA: SHIPPED_DATA, STATE: state, EVENTS: "off" };
    return startService(loadConfig({ ...base, ...this.#settings, ...settings }, {}), this.#log);
  }

  /** Starts the service of a test. Resolves with its address. */
  async serve(settings?: Readonly<Record<string, string>>): Promise<string> {
    this.#service = await this.serveIn(this.folder, settings);
    return this.#service.url;
  }

  async close(): Promise<void> {
    await this.#service?.close();
    this.#service = null;
  }
}
