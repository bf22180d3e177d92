/** Circuit breaker of a host: opens once several of its objects have failed in a row. */
import type { FetchClock } from "./fetch-clock.js";

/** Time for which it stays open, unless the host asks for another one. */
const OPEN_MS = 5000;
/** Different objects that must fail, with no answer in between: one object may be damaged by itself. */
const SEVERAL = 2;

export class CircuitBreaker {
  readonly #clock: FetchClock;
  readonly #failed = new Set<string>();
  #openUntil: number | null = null;

  constructor(clock: FetchClock) {
    this.#clock = clock;
  }

  /** Milliseconds for which the host gets no requests; 0: it may be asked. */
  get openMs(): number {
    return this.#openUntil === null ? 0 : Math.max(0, this.#openUntil - this.#clock.now());
  }

  /** Whether the host has not answered since it opened: then one attempt tells whether it is back. */
  get isOnTrial(): boolean {
    return this.#openUntil !== null;
  }

  /** Records that all attempts for an object have failed. @param retryMs time that the host asks to wait */
  failed(address: string, retryMs: number | null): void {
    if (this.#failed.size < SEVERAL) this.#failed.add(address);
    if (!retryMs && this.#failed.size < SEVERAL) return;
    this.#openUntil = Math.max(this.#openUntil ?? 0, this.#clock.now() + (retryMs || OPEN_MS));
  }

  answered(): void {
    this.#failed.clear();
    this.#openUntil = null;
  }
}
