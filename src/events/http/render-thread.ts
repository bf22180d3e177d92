/** Hands long representations to a worker thread, so that they hold up no other request. */
import { Piscina } from "piscina";
import { builtFile } from "../../built-file.js";
import type { Interval } from "../store/store.js";
import { EventsError, type EventsErrorCode, type EventsErrorDetail, storeUnavailable } from "./events-error.js";
import type { EventsSettings } from "./events-settings.js";
import type { EventsAsk } from "./read-query.js";
import type { Representation } from "./representation.js";

/** Parameters with which the thread is started. */
export interface RenderSetup {
  /** Store file. */
  readonly db: string;
  readonly settings: EventsSettings;
  /** Path under which the routes are mounted. */
  readonly prefix: string;
}

/** One representation to render. */
export interface RenderTask {
  readonly form: "events" | "event" | "linked" | "calendar";
  readonly ask: EventsAsk;
  /** Query string of the request. */
  readonly search: string;
  /** Epoch seconds. */
  readonly now: number;
}

/** A finished task; of an EventsError its parts, since cloning drops its class. */
export type RenderOutcome =
  | { readonly body: Uint8Array; readonly tag: string; readonly headers: Representation["headers"] }
  /** The reason why the store cannot be read. */
  | { readonly unavailable: string }
  | {
      readonly refusal: {
        readonly status: number;
        readonly code: EventsErrorCode;
        readonly message: string;
        readonly details: readonly EventsErrorDetail[];
      };
    };

/** Tasks that may wait. */
const WAITING = 64;
/** Time after which an idle thread ends. */
const IDLE_MS = 60_000;

/** The messages of the pool for a thread that has ended in a task. */
const ENDED = /^(worker exited|Worker terminated|The worker has been terminated)|memory limit/i;

const ENTRY = builtFile(new URL("../worker.js", import.meta.url));

/** Renders one representation at a time; the thread starts with the first. */
export class RenderThread {
  readonly #pool: Piscina;
  readonly #asked = new Map<string, { readonly interval: Interval; readonly made: Promise<Representation> }>();

  readonly #warn: (line: string) => void;

  /** @param warn told when the thread has ended with a page, which another thread then makes */
  constructor(setup: RenderSetup, warn: (line: string) => void = () => undefined) {
    this.#warn = warn;
    this.#pool = new Piscina({
      filename: ENTRY,
      name: "render",
      workerData: setup,
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: IDLE_MS,
      maxQueue: WAITING,
    });
  }

  /**
   * Renders the representation of a key; callers who ask for the same one while it waits or is made share it.
   *
   * @throws EventsError 503 when too many tasks wait, and what rendering throws
   */
  make(interval: Interval, key: string, task: RenderTask): Promise<Representation> {
    const known = this.#asked.get(key);
    if (known?.interval === interval) return known.made;
    const entry = { interval, made: this.#run(task) };
    this.#asked.set(key, entry);
    const forget = () => {
      if (this.#asked.get(key) === entry) this.#asked.delete(key);
    };
    entry.made.then(forget, forget);
    return entry.made;
  }

  async #run(task: RenderTask): Promise<Representation> {
    if (this.#pool.queueSize >= WAITING) {
      throw new EventsError(503, "unavailable", "Too many pages are being made.", [], { "retry-after": "1" });
    }
    const outcome: RenderOutcome = await this.#pool.run(task).catch((error: Error) => {
      if (!ENDED.test(error.message)) throw error;
      this.#warn(`the thread that makes pages of events has ended (${error.message}); another makes the page again`);
      return this.#pool.run(task);
    });
    if ("unavailable" in outcome) throw storeUnavailable(5, outcome.unavailable);
    if ("refusal" in outcome) {
      const { status, code, message, details } = outcome.refusal;
      throw new EventsError(status, code, message, details);
    }
    const { body, tag, headers } = outcome;
    return { body: Buffer.from(body.buffer, body.byteOffset, body.byteLength), tag, headers };
  }

  /** Ends the thread once all requested pages are made: native code of its store must not be cut off. */
  async close(): Promise<void> {
    await Promise.allSettled([...this.#asked.values()].map(({ made }) => made));
    await this.#pool.destroy();
  }
}
