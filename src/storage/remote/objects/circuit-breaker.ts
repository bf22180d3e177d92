/** Circuit breaker of a host: opens once several of its objects have failed in a row. */
import type { FetchClock } from "./fetch-clock.js";

/** Time for which it stays open, unless the host asks for another. */
const OPEN_MS = 5000;
/** Different objects that must fail without an answer in between: a single object may be damaged. */
const SEVERAL = 2;

export class CircuitBreaker {
  readonly #clock: FetchClock;
  readonly #failed = new Set<string>();
  #openUntil: number | null = null;

  constructor(clock: FetchClock) {
    this.#clock = clock;
  }

  /** Milliseconds for which no requests are sent to the host; 0: the circuit is closed. */
  get openMs(): number {
    return this.#openUntil === null ? 0 : Math.max(0, this.#openUntil - this.#clock.now());
  }

  /** Whether the host has not answered since the circuit opened: then a single attempt tests it. */
  get isOnTrial(): boolean {
    return this.#openUntil !== null;
  }

  /** Records that all attempts for an object failed. `retryMs`: wait requested by the host. */
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
