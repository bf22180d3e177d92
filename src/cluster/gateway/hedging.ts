/** Hedging sends a late shipment to a second peer, within a budget. */
import type { Attempt } from "./shipment.js";

/** Share of shipments that may be sent twice, and the number that may be at once after a quiet time. */
const SHARE = 0.05;
const BURST = 32;
/** A shipment is late when it has taken this many times the usual time of its cost key. */
const FACTOR = 2;
/** Cost keys that are remembered. */
const COST_KEYS = 1000;
/** Weight of the newest time in the moving average. */
const NEWEST = 0.2;

/** Learns how long shipments take, and keeps the budget. */
export class Hedging {
  readonly #delayMs: number;
  /** Milliseconds per unit of work, by cost key. */
  readonly #usual = new Map<string, number>();
  #left = BURST;

  /** @param delayMs no shipment is late before this time */
  constructor(delayMs: number) {
    this.#delayMs = delayMs;
  }

  get allowed(): boolean {
    return this.#left >= 1;
  }

  /** Adds the share of a shipment that was sent to the budget. */
  earn(): void {
    this.#left = Math.min(BURST, this.#left + SHARE);
  }

  /** Takes a second sending from the budget. */
  spend(): void {
    this.#left--;
  }

  /** Notes how long an answered shipment took. */
  learn({ shipment: { costKey, work }, sentAt }: Attempt, now: number): void {
    const time = (now - sentAt) / work;
    const usual = this.#usual.get(costKey);
    if (usual === undefined && this.#usual.size >= COST_KEYS) this.#usual.clear();
    this.#usual.set(costKey, usual === undefined ? time : usual + NEWEST * (time - usual));
  }

  /** Whether a shipment is late. */
  due({ shipment: { costKey, work }, sentAt }: Attempt, now: number): boolean {
    return now - sentAt > Math.max(this.#delayMs, FACTOR * (this.#usual.get(costKey) ?? 0) * work);
  }
}
