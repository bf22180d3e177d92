/** Opens the events interface from the configuration: store, sample, nightly upkeep, plugin. */
import { fileURLToPath } from "node:url";
import type { FastifyInstance } from "fastify";
import { type Config, ConfigError } from "../config.js";
import { eventsPlugin } from "./http/events-plugin.js";
import { configuredFor, eventsSettings } from "./http/events-settings.js";
import { openStore } from "./store/store.js";
import { fixedClock, nightly, processTimer, systemClock, type Timer } from "./time/clock.js";
import { isZone } from "./time/zone.js";
import { maintainInThread, type Upkeep } from "./upkeep.js";

/** The methods of a logger that the module calls. */
export interface EventsLogger {
  info(context: object, message: string): void;
  warn(context: object, message: string): void;
  error(context: object, message: string): void;
}

/** The opened module. */
export interface OpenEvents {
  /** To be registered on the fastify instance of the service; closes everything with it. */
  readonly plugin: (app: FastifyInstance) => Promise<void>;
  /** Ends upkeep and closes the store; safe to call twice. */
  close(): Promise<void>;
}

/** The shipped sample. */
export const SAMPLE = fileURLToPath(new URL("../../data/events.json", import.meta.url));

/**
 * Opens the store, imports the sample when it has no events, brings the horizon to today and keeps it there.
 *
 * @throws ConfigError or DataError in one line when the events cannot be served
 */
export async function openEvents(
  config: Config,
  logger: EventsLogger,
  timer: Timer = processTimer,
): Promise<OpenEvents> {
  const { db, zone, now } = config.events;
  if (zone !== null && !isZone(zone)) throw new ConfigError([`FIELDPROBE_EVENTS_ZONE: no such zone`]);
  const clock = now === null ? systemClock : fixedClock(now);
  const upkeep = async (sample: string | null) => {
    const done = await maintainInThread({ file: db, sample, configured: configuredFor(config, clock()) });
    report(done, logger);
  };
  await upkeep(SAMPLE);
  const store = openStore(db);
  let running = Promise.resolve();
  const readZone = () => store.view(clock(), (view) => view.snapshot.zone);
  let known = readZone();
  // Asked at midnight, outside of any request: a store that cannot be read then must not end the service.
  const siteZone = () => {
    try {
      known = readZone();
    } catch (error) {
      logger.error({ err: error }, "the events store cannot be read");
    }
    return known;
  };
  const stop = nightly(clock, siteZone, timer, () => {
    const failed = (error: unknown) => logger.error({ err: error }, "events horizon was not extended");
    running = running.then(() => upkeep(null)).catch(failed);
  });
  let closed: Promise<void> | null = null;
  const close = () => {
    closed ??= (async () => {
      stop();
      await running;
      store.close();
    })();
    return closed;
  };
  const routes = eventsPlugin({ store, clock, config: eventsSettings(config), db });
  const plugin = async (app: FastifyInstance) => {
    app.addHook("onClose", close);
    await app.register(routes);
  };
  return { plugin, close };
}

function report({ imported, extension }: Upkeep, logger: EventsLogger): void {
  if (imported > 0) logger.info({ events: imported }, "sample events imported");
  if (extension.events > 0) logger.info({ events: extension.events }, "events horizon extended");
  for (const failure of extension.failed) logger.warn(failure, "event keeps its old instances");
}
