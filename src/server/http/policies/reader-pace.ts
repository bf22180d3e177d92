/** Monitors the reader of an answer, and disconnects a reader that is too slow. */
import { type Limits, LONGEST_MS } from "../../../shared/config.js";
import { BusyError, CancelledError } from "../../../shared/errors.js";
import type { RequestFacts } from "../request-facts.js";
import type { Outgoing, OutgoingAnswer } from "./outgoing.js";

export class ReaderPace implements OutgoingAnswer {
  bytes = 0;
  taken = 0;
  readonly cut: () => void;
  readonly #outgoing: Outgoing;
  readonly #facts: Pick<RequestFacts, "encodeMs">;
  readonly #limits: Limits;
  #readMs = 0;
  /** Time since which there have been bytes to take; null while there are none. */
  #offeredAt: number | null = null;
  #patience: NodeJS.Timeout | null = null;
  #over = false;

  constructor(outgoing: Outgoing, limits: Limits, facts: Pick<RequestFacts, "encodeMs">, cut: () => void) {
    this.#outgoing = outgoing;
    this.#limits = limits;
    this.#facts = facts;
    this.cut = cut;
  }

  get readMs(): number {
    return this.#readMs + (this.#offeredAt === null ? 0 : performance.now() - this.#offeredAt);
  }

  /**
   * Waits for room for an answer. @param due on the clock of `performance.now` @throws BusyError if no room came free
   * by then, CancelledError if the request is over
   */
  async waitForRoom(bytes: number, due: number): Promise<void> {
    this.bytes = bytes;
    // Bytes counted after the end would never be given back.
    while (this.#over || !this.#outgoing.enter(this)) {
      if (this.#over) throw new CancelledError();
      await this.#outgoing.room();
      if (!this.#over && performance.now() > due) throw new BusyError("Too many answers wait for their readers.");
    }
  }

  /** Hands bytes to the reader, who is cut off without taking them in time. */
  handOver(bytes: number): void {
    if (this.#over) return;
    const ms = this.#limits["http.readerGraceMs"] + (1000 * bytes) / this.#limits["http.readerBytesPerSecond"];
    if (this.#patience !== null) clearTimeout(this.#patience);
    this.#patience = setTimeout(this.cut, Math.min(ms, LONGEST_MS));
    this.#offeredAt ??= performance.now();
  }

  handedOver(bytes: number): void {
    if (this.#patience !== null) clearTimeout(this.#patience);
    this.taken += bytes;
    this.#readMs = this.readMs;
    this.#offeredAt = null;
  }

  encoded(ms: number): void {
    this.#facts.encodeMs += ms;
  }

  end(): void {
    this.#over = true;
    this.#outgoing.leave(this);
    if (this.#patience !== null) clearTimeout(this.#patience);
  }
}
