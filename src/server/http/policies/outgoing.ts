/** Bounds the bytes of answers that wait for their readers; cuts the slowest reader off if there is no room. */

/** Readers that exceed the least rate by this factor are not cut off for others. */
const GOOD_RATE = 16;
const LOOK_MS = 1_000;

export interface OutgoingAnswer {
  readonly bytes: number;
  /** Milliseconds in which its reader had bytes to take. */
  readonly readMs: number;
  readonly taken: number;
  cut(): void;
}

export class Outgoing {
  readonly #limit: number;
  readonly #graceMs: number;
  readonly #good: number;
  readonly #answers = new Set<OutgoingAnswer>();
  #bytes = 0;
  #waiting: (() => void)[] = [];

  /**
   * @param limit   bytes of all answers; a single one may be larger
   * @param graceMs time in which no reader is cut off for others
   * @param rate    least rate, in bytes per second
   */
  constructor(limit: number, graceMs: number, rate: number) {
    this.#limit = limit;
    this.#graceMs = graceMs;
    this.#good = (GOOD_RATE * rate) / 1000;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Admits an answer; false without room: then await `room`. */
  enter(answer: OutgoingAnswer): boolean {
    if (this.#bytes > 0 && this.#bytes + answer.bytes > this.#limit) return false;
    this.#answers.add(answer);
    this.#bytes += answer.bytes;
    return true;
  }

  /** Cuts the slowest reader off if allowed; resolves when an answer has been sent, or after a while. */
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
