/**
 * Postpones work while connections wait. Node accepts one connection per turn of the event loop, so behind 200 callers
 * a new one waits for 200 turns, which must be short.
 */

const MAX_MS = 50;

export class Accepting {
  /** Longest time in which every turn accepted a connection: others may have waited as long. */
  longestMs = 0;
  /** Start of the current run of such turns; null if there is none. */
  #since: number | null = null;
  #putOffSince: number | null = null;
  #turn = 0;

  accepted(): void {
    const now = performance.now();
    this.#since ??= now;
    this.longestMs = Math.max(this.longestMs, now - this.#since);
    const turn = ++this.#turn;
    // Work of this turn may follow the first of these callbacks.
    setImmediate(() => setImmediate(() => this.#endTurn(turn)));
  }

  /** Whether work should wait for the next turn; after `MAX_MS` it runs once. */
  get comesFirst(): boolean {
    if (this.#since === null) return false;
    const now = performance.now();
    this.#putOffSince ??= now;
    if (now - this.#putOffSince < MAX_MS) return true;
    this.#putOffSince = null;
    return false;
  }

  #endTurn(turn: number): void {
    if (turn !== this.#turn) return;
    this.#since = null;
    this.#putOffSince = null;
  }
}
