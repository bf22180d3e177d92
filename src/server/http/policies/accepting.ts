/**
 * Puts work off while connections wait: Node accepts one a turn of the event loop, so behind 200 callers a new one
 * waits for 200 turns, which have to be short.
 */

const MOST_MS = 50;

export class Accepting {
  /** Longest time for which each turn accepted a connection: others may have waited so long. */
  longestMs = 0;
  /** First of the turns without a break; null while none is accepted. */
  #since: number | null = null;
  #putOffSince: number | null = null;
  #turn = 0;

  accepted(): void {
    const now = performance.now();
    this.#since ??= now;
    this.longestMs = Math.max(this.longestMs, now - this.#since);
    const turn = ++this.#turn;
    // Work of this turn may come after the first of these.
    setImmediate(() => setImmediate(() => this.#endTurn(turn)));
  }

  /** Whether work should wait for the next turn; after `MOST_MS`, it is done once. */
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
