/** Counts worker threads that failed to start in a row, and decides when to try again. */

/** Failures in a row after which tasks start no threads any more until the pause is over. */
const MOST = 10;
/** The pause after a failure, which doubles with each beyond those, and the longest one. */
const FIRST_MS = 250;
const LONGEST_MS = 30_000;

/** The starts of a group of threads. */
export class ThreadStarts {
  readonly #report: (reason: unknown) => void;
  #failures = 0;
  #failedAt = Number.NEGATIVE_INFINITY;

  /** @param report receives the reason of the first failure in a row */
  constructor(report: (reason: unknown) => void) {
    this.#report = report;
  }

  /** Records a thread that ended before it could take tasks. */
  failed(reason: unknown): void {
    if (this.#failures++ === 0) this.#report(reason);
    this.#failedAt = performance.now();
  }

  /** Records a thread that can take tasks. */
  succeeded(): void {
    this.#failures = 0;
  }

  /** Whether the last thread that ended had not started. */
  get failing(): boolean {
    return this.#failures > 0;
  }

  /** Milliseconds from a failure to the next attempt without a request. */
  get pauseMs(): number {
    return Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.max(0, this.#failures - MOST));
  }

  /** Whether a task may start a thread now. */
  get allowed(): boolean {
    return this.#failures < MOST || performance.now() - this.#failedAt >= this.pauseMs;
  }
}
