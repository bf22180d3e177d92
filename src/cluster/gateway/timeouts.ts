/** Looks after what is under way while nothing is heard of it: a second node, an enquiry, the end of patience. */

import type { UnderWay } from "./attempts.js";
import type { Try } from "./shipment.js";

/** Between two looks. */
const TICK_MS = 5;
/** How long a batch may be quiet before its node is asked about it. */
const ENQUIRE_MS = 200;
/** Time between two looks that counts: a gateway that was held up for longer may have answers that it has not read. */
const COUNTED_MS = 250;

/** Who is told what is seen. */
export interface Looked {
  /** Whether batches wait for a node. */
  waiting(): boolean;
  /** A try has not been answered yet; it is asked at each look whether that is long. */
  pending(one: Try, now: number): void;
  /** Nothing was heard of a try for too long. */
  silent(one: Try, reason: string): void;
  /** It has been looked at everything. */
  after(now: number): void;
}

export class Lookout {
  readonly #underWay: UnderWay;
  readonly #timeoutMs: number;
  readonly #looked: Looked;
  #ticker: NodeJS.Timeout | null = null;
  #lookedAt = 0;

  constructor(underWay: UnderWay, timeoutMs: number, looked: Looked) {
    this.#underWay = underWay;
    this.#timeoutMs = timeoutMs;
    this.#looked = looked;
  }

  /** Looks until nothing is under way and nothing waits. */
  start(): void {
    if (this.#ticker) return;
    this.#lookedAt = performance.now();
    this.#ticker = setInterval(() => this.#tick(), TICK_MS);
  }

  stop(): void {
    if (this.#ticker) clearInterval(this.#ticker);
    this.#ticker = null;
  }

  #tick(): void {
    if (this.#underWay.size === 0 && !this.#looked.waiting()) {
      this.stop();
      return;
    }
    const now = performance.now();
    const uncounted = now - this.#lookedAt - COUNTED_MS;
    this.#lookedAt = now;
    for (const one of this.#underWay.all()) {
      if (uncounted > 0) moveOn(one, uncounted, now);
      this.#attend(one, now);
    }
    this.#looked.after(now);
  }

  #attend(one: Try, now: number): void {
    const quiet = now - one.heardAt;
    if (quiet > this.#timeoutMs) {
      this.#looked.silent(one, `no word of it for ${this.#timeoutMs} ms`);
      return;
    }
    this.#looked.pending(one, now);
    if (Math.min(quiet, now - one.enquiredAt) > ENQUIRE_MS) {
      one.enquiredAt = now;
      this.#underWay.ask(one, "enquire");
    }
  }
}

/** Moves the times of a try, as if some milliseconds had not been. */
function moveOn(one: Try, ms: number, now: number): void {
  for (const name of ["sentAt", "heardAt", "enquiredAt"] as const) one[name] = Math.min(now, one[name] + ms);
}
