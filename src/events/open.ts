/** The events interface as a plug-in: calendar, sample, watch, nightly expansion, routes. */
import { type StatsListener, unwatchFile, watchFile } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { FastifyInstance } from "fastify";
import type { Plugin } from "../server/http/service.js";
import type { Config } from "../shared/config.js";
import { unavailable } from "./http/events-error.js";
import { eventsInterface } from "./http/events-plugin.js";
import { configuredFor, eventsSettings } from "./http/events-settings.js";
import { EventIndex } from "./store/event-index.js";
import { signatureOf } from "./store/stored-calendar.js";
import { type Clock, fixedClock, processTimer, systemClock, type Timer, untilTomorrow } from "./time/clock.js";
import { loadInThread } from "./worker.js";

export interface EventsLogger {
  info(context: object, message: string): void;
  warn(context: object, message: string): void;
  error(context: object, message: string): void;
}

export type EventsState = "opening" | "ready" | "unavailable";

/** Imported if the data shipped with it is served. */
const SAMPLE = fileURLToPath(new URL("../../data/events.json", import.meta.url));

const RETRY_MS = 60_000;
const WATCH_MS = 500;

/**
 * Routes exist from the start and answer 503 without a calendar. A file that cannot be read is logged and tried again,
 * and the calendar that was read before stays.
 */
export class EventsModule {
  readonly #config: Config;
  readonly #logger: EventsLogger;
  readonly #timer: Timer;
  readonly #clock: Clock;
  #index: EventIndex | null = null;
  /** State of the file that the index was made from. */
  #signature = "";
  #failure: string | null = null;
  #work: Promise<void> = Promise.resolve();
  #cancelNext = (): void => undefined;
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

  readonly plugin = async (app: FastifyInstance): Promise<void> => {
    const { events } = this.#config;
    const index = () => {
      if (this.#index === null) throw unavailable(this.state === "opening" ? 1 : RETRY_MS / 1000);
      return this.#index;
    };
    app.addHook("onClose", () => this.close());
    const page = events.prefix === "" ? "/events/docs" : "/docs";
    await app.register(eventsInterface({ index, clock: this.#clock, config: eventsSettings(this.#config), page }));
  };

  /** Reads the calendar unless it is unchanged; resolves also if reading failed. */
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

  /** Waits for the thread: native code of a database must not be cut off. Safe to call twice. */
  close(): Promise<void> {
    this.#closed = true;
    if (this.#watch !== null) unwatchFile(this.#config.events.file, this.#watch);
    this.#cancelNext();
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
    try {
      const configured = configuredFor(this.#config, this.#clock());
      const { calendar, failed, signature, imported } = await loadInThread({ file, db, first, sample, configured });
      this.#index = new EventIndex(calendar);
      this.#signature = signature;
      if (imported > 0) this.#logger.info({ events: imported }, "sample events imported");
      for (const failure of failed) this.#logger.warn(failure, "event is shown without its rule");
      if (this.#failure !== null) this.#logger.info({}, "the events are available again");
      this.#failure = null;
    } catch (error) {
      if (String(error) !== this.#failure) this.#complain(error, first);
      this.#failure = String(error);
    }
    this.#cancelNext();
    if (!this.#closed) this.#cancelNext = this.#timer(() => void this.#enqueue(() => this.#load()), this.#nextMs());
  }

  /** Until a calendar is tried again, or expanded for another day. */
  #nextMs(): number {
    return this.#index === null ? RETRY_MS : 1000 * untilTomorrow(this.#clock(), this.#index.calendar.zone);
  }

  #complain(err: unknown, first: boolean): void {
    const message = first
      ? "the events cannot be read: /events answers 503, fields are still served"
      : "the events cannot be read: those that were read before are still served";
    this.#logger.error({ err }, message);
  }
}

export const eventsPlugin: Plugin = async (app, { config, optional }) => {
  const events = new EventsModule(config, app.log);
  optional.set("events", { state: () => events.state, open: () => events.open() });
  await events.plugin(app);
};
