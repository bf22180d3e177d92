/**
 * `ReaderPace` follows how a caller takes its answer: the bytes that wait are counted, and a caller that is too slow
 * is cut off.
 */
import { type Limits, LONGEST_MS } from "../../shared/config.js";
import { BusyError, CancelledError } from "../../shared/errors.js";
import type { Outgoing, OutgoingAnswer } from "./outgoing.js";

/** The reader of the answer to one request. */
export class ReaderPace {
  readonly #outgoing: Outgoing;
  readonly #limits: Limits;
  readonly #cut: () => void;
  /** The answer, once it is computed and large enough to be counted. */
  #answer: OutgoingAnswer | null = null;
  /** Bytes of the answer that were taken, and milliseconds for which there were some to take. */
  #takenBytes = 0;
  #readMs = 0;
  /** The time since which there have been bytes to take; null while there are none. */
  #offeredAt: number | null = null;
  /** Ends a reader that is too slow. */
  #patience: NodeJS.Timeout | null = null;
  #over = false;

  /** @param cut ends the connection of a reader that is too slow */
  constructor(outgoing: Outgoing, limits: Limits, cut: () => void) {
    this.#outgoing = outgoing;
    this.#limits = limits;
    this.#cut = cut;
  }

  /**
   * Waits for room for an answer, and counts its bytes.
   *
   * @param due the time at which the answer is due, on the clock of `performance.now`
   * @throws BusyError if no room came free by then, CancelledError if the request is over
   */
  async waitForRoom(bytes: number, due: number): Promise<void> {
    const pace = this;
    const answer: OutgoingAnswer = {
      bytes,
      get taken() {
        return pace.#takenBytes;
      },
      get readMs() {
        return pace.#readMs + pace.#offeredMs;
      },
      cut: this.#cut,
    };
    // Bytes counted after the end would never be given back.
    if (this.#over) throw new CancelledError();
    while (!this.#outgoing.enter(answer)) {
      await this.#outgoing.room();
      if (this.#over) throw new CancelledError();
      if (performance.now() > due) throw new BusyError("Too many answers wait for their readers.");
    }
    this.#answer = answer;
  }

  /** Records bytes that are handed to the socket; a reader that does not take them in time is cut off. */
  offer(bytes: number): void {
    if (this.#over) return;
    const ms = this.#limits["http.readerGraceMs"] + (1000 * bytes) / this.#limits["http.readerBytesPerSecond"];
    if (this.#patience !== null) clearTimeout(this.#patience);
    this.#patience = setTimeout(this.#cut, Math.min(ms, LONGEST_MS));
    this.#offeredAt ??= performance.now();
  }

  /** Records bytes that the socket has taken. */
  taken(bytes: number): void {
    if (this.#patience !== null) clearTimeout(this.#patience);
    this.#takenBytes += bytes;
    this.#readMs += this.#offeredMs;
    this.#offeredAt = null;
  }

  get #offeredMs(): number {
    return this.#offeredAt === null ? 0 : performance.now() - this.#offeredAt;
  }

  /** Gives the bytes back: the answer has been sent, or the caller has left. */
  end(): void {
    this.#over = true;
    if (this.#answer !== null) this.#outgoing.leave(this.#answer);
    if (this.#patience !== null) clearTimeout(this.#patience);
  }
}
