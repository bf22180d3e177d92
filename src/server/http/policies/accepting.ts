/**
 * `Accepting` puts other work off while connections wait to be accepted. Node accepts one connection a turn of the
 * event loop, so behind 200 callers a new one would wait for 200 turns; these have to be short.
 */

/** Longest time for which work is put off. */
const MOST_MS = 50;

/** One per service. */
export class Accepting {
  /** Longest time, in milliseconds, for which each turn accepted a connection: others may have waited so long. */
  longestMs = 0;
  /** The time of the first of the turns without a break; null while none is accepted. */
  #since: number | null = null;
  /** The time since which work has been put off. */
  #putOffSince: number | null = null;
  #turn = 0;

  /** Records that a connection has been accepted. */
  accepted(): void {
    const now = performance.now();
    this.#since ??= now;
    this.longestMs = Math.max(this.longestMs, now - this.#since);
    const turn = ++this.#turn;
    // Work of this turn may come after the first of these.
    setImmediate(() => setImmediate(() => this.#endTurn(turn)));
  }

  /** Whether work should wait for the next turn. If it has waited for long, it is done once. */
  get comesFirst(): boolean {
    if (this.#since === null) return false;
    const now = performance.now();
    this.#putOffSince ??= now;
    if (now - this.#putOffSince < MOST_MS) return true;
    this.#putOffSince = null;
    return false;
  }

  #endTurn(turn: number): void {
    if (turn !== this.#turn) return;
    this.#since = null;
    this.#putOffSince = null;
  }
}
