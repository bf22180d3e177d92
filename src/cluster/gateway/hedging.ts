/** When a batch has taken so long that it is sent to a second node, and how often that may be. */
import type { Try } from "./shipment.js";

/** Share of batches that may be sent twice, and how many that is at once when there were none for a while. */
const SHARE = 0.05;
const BURST = 32;
/** A batch that takes so many times what its kind usually takes is late. */
const FACTOR = 2;
/** Kinds that are remembered. */
const KINDS = 1000;
/** Weight of the newest time in what a kind usually takes. */
const NEWEST = 0.2;

export class Hedging {
  readonly #delayMs: number;
  /** Milliseconds per unit of work, by kind. */
  readonly #usual = new Map<string, number>();
  #left = BURST;

  /** @param delayMs no batch is late before */
  constructor(delayMs: number) {
    this.#delayMs = delayMs;
  }

  get allowed(): boolean {
    return this.#left >= 1;
  }

  /** A batch has been sent. */
  earn(): void {
    this.#left = Math.min(BURST, this.#left + SHARE);
  }

  /** A batch has been sent a second time. */
  spend(): void {
    this.#left--;
  }

  /** Notes how long an answered batch took. */
  learn({ parcel: { kind, work }, sentAt }: Try, now: number): void {
    const time = (now - sentAt) / work;
    const usual = this.#usual.get(kind);
    if (usual === undefined && this.#usual.size >= KINDS) this.#usual.clear();
    this.#usual.set(kind, usual === undefined ? time : usual + NEWEST * (time - usual));
  }

  /** Whether a batch is late. */
  due({ parcel: { kind, work }, sentAt }: Try, now: number): boolean {
    return now - sentAt > Math.max(this.#delayMs, FACTOR * (this.#usual.get(kind) ?? 0) * work);
  }
}
