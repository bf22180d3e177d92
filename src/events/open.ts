/** Opens the events interface from the configuration: store, sample, nightly upkeep, plugin. */
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { FastifyInstance } from "fastify";
import type { Config } from "../config.js";
import { storeUnavailable } from "./http/events-error.js";
import { eventsPlugin } from "./http/events-plugin.js";
import { configuredFor, eventsSettings } from "./http/events-settings.js";
import { openStore, type Store } from "./store/store.js";
import { type Clock, fixedClock, nightly, processTimer, systemClock, type Timer } from "./time/clock.js";
import { maintainInThread, type Upkeep } from "./upkeep.js";

/** The methods of a logger that the module calls. */
export interface EventsLogger {
  info(context: object, message: string): void;
  warn(context: object, message: string): void;
  error(context: object, message: string): void;
}

/** The state of the module, as `/readyz` reports it. */
export type EventsState = "opening" | "ready" | "unavailable";

/** The shipped sample, imported if the data shipped with it is served. */
const SAMPLE = fileURLToPath(new URL("../../data/events.json", import.meta.url));

/** Time after which an unavailable store is tried again. */
const RETRY_MS = 60_000;

/**
 * The events module of a service. It is a guest: its routes exist from the start and answer 503 while there is no
 * store; an unusable store is logged and tried again, and never ends the service.
 */
export class EventsModule {
  readonly #config: Config;
  readonly #logger: EventsLogger;
  readonly #timer: Timer;
  readonly #clock: Clock;
  #store: Store | null = null;
  /** Reason why the store is unavailable; null before the first attempt. */
  #failure: string | null = null;
  /** Work on the store: attempts to open it, and upkeep, one after the other. */
  #work: Promise<void> = Promise.resolve();
  #cancelTimer = (): void => undefined;
  #closed: Promise<void> | null = null;

  constructor(config: Config, logger: EventsLogger, timer: Timer = processTimer) {
    const { now } = config.events;
    this.#config = config;
    this.#logger = logger;
    this.#timer = timer;
    this.#clock = now === null ? systemClock : fixedClock(now);
  }

  get state(): EventsState {
    if (this.#store !== null) return "ready";
    return this.#failure === null ? "opening" : "unavailable";
  }

  /** Registers the routes on the instance of the service, and closes the module with it. */
  readonly plugin = async (app: FastifyInstance): Promise<void> => {
    const { events } = this.#config;
    const store: Store = {
      view: (now, work) => {
        if (this.#store === null) throw storeUnavailable(this.state === "opening" ? 1 : RETRY_MS / 1000);
        return this.#store.view(now, work);
      },
      close: () => undefined,
    };
    app.addHook("onClose", () => this.close());
    const config = eventsSettings(this.#config);
    // The site of the documents is at /docs.
    const page = events.prefix === "" ? "/events/docs" : "/docs";
    await app.register(eventsPlugin({ store, clock: this.#clock, config, db: events.db, page }));
  };

  /** Opens the store, unless it is open; resolves when that has worked or failed. */
  open(): Promise<void> {
    return this.#enqueue(async () => {
      if (this.#store !== null || this.#closed !== null) return;
      this.#cancelTimer();
      try {
        const sample = this.#config.data.includes(dirname(SAMPLE)) ? SAMPLE : null;
        await this.#maintain(sample);
        const store = openStore(this.#config.events.db);
        this.#cancelTimer = nightly(this.#clock, siteZone(store, this.#clock, this.#logger), this.#timer, () => {
          void this.#enqueue(() => this.#maintain(null).catch((error) => this.#complain(error, "extended")));
        });
        this.#store = store;
        if (this.#failure !== null) this.#logger.info({}, "the events store is available again");
        this.#failure = null;
      } catch (error) {
        if (String(error) !== this.#failure) this.#complain(error, "opened");
        this.#failure = String(error);
        this.#cancelTimer = this.#timer(() => void this.open(), RETRY_MS);
      }
    });
  }

  /** Ends upkeep and closes the store; safe to call twice. Native code of the store's threads is not cut off. */
  close(): Promise<void> {
    this.#closed ??= this.#enqueue(async () => {
      this.#cancelTimer();
      this.#store?.close();
    });
    return this.#closed;
  }

  #enqueue(work: () => Promise<void>): Promise<void> {
    this.#work = this.#work.then(work);
    return this.#work;
  }

  async #maintain(sample: string | null): Promise<void> {
    const task = { file: this.#config.events.db, sample, configured: configuredFor(this.#config, this.#clock()) };
    report(await maintainInThread(task), this.#logger);
  }

  #complain(error: unknown, what: "opened" | "extended"): void {
    const message =
      what === "opened"
        ? "the events store cannot be opened: /events answers 503, fields are still served"
        : "the horizon of the events was not extended";
    this.#logger.error({ err: error }, message);
  }
}

/** The zone of the site, asked at midnight, outside of any request; it stays if the store cannot be read. */
function siteZone(store: Store, clock: Clock, logger: EventsLogger): () => string {
  const read = () => store.view(clock(), (view) => view.snapshot.zone);
  let known = read();
  return () => {
    try {
      known = read();
    } catch (error) {
      logger.error({ err: error }, "the events store cannot be read");
    }
    return known;
  };
}

function report({ imported, extension }: Upkeep, logger: EventsLogger): void {
  if (imported > 0) logger.info({ events: imported }, "sample events imported");
  if (extension.events > 0) logger.info({ events: extension.events }, "events horizon extended");
  for (const failure of extension.failed) logger.warn(failure, "event keeps its old instances");
}
