/** Circuit breaker of a host: once several of its objects have failed in a row, requests wait for a while. */
import type { FetchClock } from "./fetch-clock.js";

/** Time for which a host that fails gets no requests, unless it asks for another one. */
const OPEN_MS = 5000;
/** Different objects that must fail, with no answer in between: one object may be damaged by itself. */
const SEVERAL = 2;

export class CircuitBreaker {
  readonly #clock: FetchClock;
  /** Addresses that failed since the host answered last. */
  readonly #failed = new Set<string>();
  #openUntil: number | null = null;

  constructor(clock: FetchClock) {
    this.#clock = clock;
  }

  /** Milliseconds for which the host gets no requests; 0: it may be asked. */
  get openMs(): number {
    return this.#openUntil === null ? 0 : Math.max(0, this.#openUntil - this.#clock.now());
  }

  /** Whether the host has not answered since the breaker opened: then one attempt tells whether it is back. */
  get isOnTrial(): boolean {
    return this.#openUntil !== null;
  }

  /** Notes that all attempts for an object have failed. @param retryMs time that the host asks to wait for, if it does */
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
