/**
 * `Outgoing` bounds the bytes of computed answers that wait for their readers; if there is no room, the slowest
 * reader is cut off.
 */

/** A reader that has taken this many times the slowest allowed rate is not cut off for others. */
const GOOD_RATE = 16;
/** The interval at which waiting answers check for room without being woken. */
const LOOK_MS = 1_000;

/** An answer on its way to its reader. */
export interface OutgoingAnswer {
  /** Bytes that it keeps until it is out. */
  readonly bytes: number;
  /** Milliseconds for which its reader has had bytes to take; the time of making its text does not count. */
  readonly readMs: number;
  /** Bytes that its reader has taken. */
  readonly taken: number;
  /** Ends it and its connection. */
  cut(): void;
}

/** One per service. */
export class Outgoing {
  readonly #limit: number;
  readonly #graceMs: number;
  /** Bytes per millisecond from which on a reader is left alone. */
  readonly #good: number;
  readonly #answers = new Set<OutgoingAnswer>();
  #bytes = 0;
  /** Woken when an answer has been sent. */
  #waiting: (() => void)[] = [];

  /**
   * @param limit   bytes of all answers together; a single answer may be larger
   * @param graceMs how long a reader is not cut off for others, however slow it is
   * @param rate    bytes per second, the slowest that is allowed
   */
  constructor(limit: number, graceMs: number, rate: number) {
    this.#limit = limit;
    this.#graceMs = graceMs;
    this.#good = (GOOD_RATE * rate) / 1000;
  }

  /** Bytes of the answers on their way. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Adds an answer. False if there is no room: then `room` must be awaited. */
  enter(answer: OutgoingAnswer): boolean {
    if (this.#bytes > 0 && this.#bytes + answer.bytes > this.#limit) return false;
    this.#answers.add(answer);
    this.#bytes += answer.bytes;
    return true;
  }

  /**
   * Cuts off the slowest reader if that is allowed, and resolves when an answer has been sent or some time has passed.
   */
  room(): Promise<void> {
    this.#slowest()?.cut();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, LOOK_MS);
      this.#waiting.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  /** The answer has been sent, or its reader has left. */
  leave(answer: OutgoingAnswer): void {
    if (!this.#answers.delete(answer)) return;
    this.#bytes -= answer.bytes;
    for (const wake of this.#waiting.splice(0)) wake();
  }

  #slowest(): OutgoingAnswer | null {
    let slowest: OutgoingAnswer | null = null;
    let lowest = this.#good;
    for (const answer of this.#answers) {
      const rate = answer.taken / answer.readMs;
      if (answer.readMs === 0 || answer.readMs < this.#graceMs || rate >= lowest) continue;
      slowest = answer;
      lowest = rate;
    }
    return slowest;
  }
}
