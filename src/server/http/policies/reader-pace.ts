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
  #cutTimer: NodeJS.Timeout | null = null;
  #isOver = false;

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
   * Waits for room for an answer until `due`, on the clock of `performance.now`.
   * @throws BusyError without room by then, CancelledError if the request is over
   */
  async waitForRoom(bytes: number, due: number): Promise<void> {
    this.bytes = bytes;
    // Bytes counted after the end would never be given back.
    while (this.#isOver || !this.#outgoing.enter(this)) {
      if (this.#isOver) throw new CancelledError();
      await this.#outgoing.room();
      if (!this.#isOver && performance.now() > due) throw new BusyError("Too many answers wait for their readers.");
    }
  }

  /** Begins to write bytes; cuts the reader off unless `endWrite` follows in time. */
  beginWrite(bytes: number): void {
    if (this.#isOver) return;
    const ms = this.#limits["http.readerGraceMs"] + (1000 * bytes) / this.#limits["http.readerBytesPerSecond"];
    if (this.#cutTimer !== null) clearTimeout(this.#cutTimer);
    this.#cutTimer = setTimeout(this.cut, Math.min(ms, LONGEST_MS));
    this.#offeredAt ??= performance.now();
  }

  endWrite(bytes: number): void {
    if (this.#cutTimer !== null) clearTimeout(this.#cutTimer);
    this.taken += bytes;
    this.#readMs = this.readMs;
    this.#offeredAt = null;
  }

  encoded(ms: number): void {
    this.#facts.encodeMs += ms;
  }

  end(): void {
    this.#isOver = true;
    this.#outgoing.leave(this);
    if (this.#cutTimer !== null) clearTimeout(this.#cutTimer);
  }
}
