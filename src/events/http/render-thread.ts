/** Hands long representations to a worker thread, so that they hold up no other request. */
import { builtFile } from "../../built-file.js";
import { OneThread } from "../../one-thread.js";
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
  /** Path with which links begin. */
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

const ENTRY = builtFile(new URL("../worker.js", import.meta.url));

/** Renders one representation at a time; the thread starts with the first. */
export class RenderThread {
  readonly #thread: OneThread;
  readonly #asked = new Map<string, { readonly interval: Interval; readonly made: Promise<Representation> }>();

  /** @param warn told when the thread has ended with a page, which another thread then makes */
  constructor(setup: RenderSetup, warn?: (line: string) => void) {
    const options = { filename: ENTRY, name: "render", workerData: setup, maxQueue: WAITING };
    this.#thread = new OneThread({ ...options, makes: "pages of events" }, warn);
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
    if (this.#thread.waiting >= WAITING) {
      throw new EventsError(503, "unavailable", "Too many pages are being made.", [], { "retry-after": "1" });
    }
    const outcome = await this.#thread.run<RenderOutcome>(task);
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
    await this.#thread.close();
  }
}
