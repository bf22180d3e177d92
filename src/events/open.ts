/** Opens the events interface from the configuration: calendar, sample, watch, nightly expansion, plugin. */
import { type StatsListener, unwatchFile, watchFile } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { FastifyInstance } from "fastify";
import type { Config } from "../shared/config.js";
import { unavailable } from "./http/events-error.js";
import { eventsPlugin } from "./http/events-plugin.js";
import { configuredFor, eventsSettings } from "./http/events-settings.js";
import { EventIndex } from "./store/event-index.js";
import { signatureOf } from "./store/stored-calendar.js";
import { type Clock, fixedClock, nightly, processTimer, systemClock, type Timer } from "./time/clock.js";
import { loadInThread } from "./worker.js";

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

/** Time after which an unusable calendar is read again. */
const RETRY_MS = 60_000;
/** Time between looks at the file. */
const WATCH_MS = 500;

/**
 * The events module of a service. It is a guest: its routes exist from the start and answer 503 while there is no
 * calendar. An unusable file is logged and read again, and never ends the service; the calendar that was read before
 * stays.
 */
export class EventsModule {
  readonly #config: Config;
  readonly #logger: EventsLogger;
  readonly #timer: Timer;
  readonly #clock: Clock;
  #index: EventIndex | null = null;
  /** State of the file that the index was made from. */
  #signature = "";
  /** Reason why the last attempt failed; null if it did not. */
  #failure: string | null = null;
  /** Attempts to read the calendar, one after the other. */
  #work: Promise<void> = Promise.resolve();
  #cancelRetry = (): void => undefined;
  #cancelNights = (): void => undefined;
  #watch: StatsListener | null = null;
  #closed = false;

  constructor(config: Config, logger: EventsLogger, timer: Timer = processTimer, clock: Clock = systemClock) {
    const { now } = config.events;
    this.#config = config;
    this.#logger = logger;
    this.#timer = timer;
    this.#clock = now === null ? clock : fixedClock(now);
  }

  get state(): EventsState {
    if (this.#index !== null) return "ready";
    return this.#failure === null ? "opening" : "unavailable";
  }

  /** Registers the routes on the instance of the service, and closes the module with it. */
  readonly plugin = async (app: FastifyInstance): Promise<void> => {
    const { events } = this.#config;
    const index = () => {
      if (this.#index === null) throw unavailable(this.state === "opening" ? 1 : RETRY_MS / 1000);
      return this.#index;
    };
    app.addHook("onClose", () => this.close());
    // The site of the documents is at /docs.
    const page = events.prefix === "" ? "/events/docs" : "/docs";
    await app.register(eventsPlugin({ index, clock: this.#clock, config: eventsSettings(this.#config), page }));
  };

  /** Reads the calendar unless it has been read as it is; resolves when that has worked or failed. */
  open(): Promise<void> {
    const { file } = this.#config.events;
    if (this.#watch === null && !this.#closed) {
      this.#watch = () => void this.open();
      watchFile(file, { interval: WATCH_MS, persistent: false }, this.#watch);
    }
    return this.#enqueue(async () => {
      if (this.#index === null || signatureOf(file) !== this.#signature) await this.#load();
    });
  }

  /** Ends watch and timers once the thread has ended: native code of a database is not cut off. Safe to call twice. */
  close(): Promise<void> {
    this.#closed = true;
    if (this.#watch !== null) unwatchFile(this.#config.events.file, this.#watch);
    this.#cancelRetry();
    this.#cancelNights();
    return this.#work;
  }

  #enqueue(work: () => Promise<void>): Promise<void> {
    this.#work = this.#work.then(() => (this.#closed ? undefined : work()));
    return this.#work;
  }

  async #load(): Promise<void> {
    const { file, db } = this.#config.events;
    const first = this.#index === null;
    const sample = this.#config.data.includes(dirname(SAMPLE)) ? SAMPLE : null;
    this.#cancelRetry();
    try {
      const configured = configuredFor(this.#config, this.#clock());
      const { arrays, failed, signature, imported } = await loadInThread({ file, db, first, sample, configured });
      this.#index = new EventIndex(arrays);
      this.#signature = signature;
      if (imported > 0) this.#logger.info({ events: imported }, "sample events imported");
      for (const failure of failed) this.#logger.warn(failure, "event is shown without its rule");
      if (this.#failure !== null) this.#logger.info({}, "the events are available again");
      this.#failure = null;
    } catch (error) {
      if (String(error) !== this.#failure) this.#complain(error, first);
      this.#failure = String(error);
    }
    if (this.#closed) return;
    if (this.#index === null) this.#cancelRetry = this.#timer(() => void this.open(), RETRY_MS);
    else if (first) this.#startNights(this.#index);
  }

  /** Moves the horizon after each midnight of the site. */
  #startNights(first: EventIndex): void {
    const zone = () => (this.#index ?? first).calendar.zone;
    this.#cancelNights = nightly(this.#clock, zone, this.#timer, () => void this.#enqueue(() => this.#load()));
  }

  #complain(err: unknown, first: boolean): void {
    const message = first
      ? "the events cannot be read: /events answers 503, fields are still served"
      : "the events cannot be read: those that were read before are still served";
    this.#logger.error({ err }, message);
  }
}
