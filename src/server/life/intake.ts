/** `Intake` shares the reading of bodies among the ticks of the event loop; one per service. */

/**
 * Time from the first bytes of a tick after which senders rest until a later one. A socket alone may hold two megabytes
 * that arrive without a pause between them, which take about a millisecond; forty take forty.
 */
const TICK_MS = 2;
/** Senders that go on in a tick after a rest. */
const MOST_RESUMED = 4;

/** Tells senders when to rest, and lets them go on in the order of their rests. */
export class Intake {
  /** The time of the first bytes of this tick; null: none have arrived. */
  #since: number | null = null;
  readonly #resting: (() => void)[] = [];

  /** Whether a sender whose bytes have just arrived should rest. */
  get isOver(): boolean {
    const now = performance.now();
    if (this.#since === null) {
      this.#since = now;
      setImmediate(() => {
        this.#since = null;
      });
    }
    return now - this.#since >= TICK_MS;
  }

  /** Calls back in a later tick. */
  rest(goOn: () => void): void {
    if (this.#resting.push(goOn) === 1) setImmediate(() => this.#next());
  }

  #next(): void {
    for (const goOn of this.#resting.splice(0, MOST_RESUMED)) goOn();
    if (this.#resting.length > 0) setImmediate(() => this.#next());
  }
}
