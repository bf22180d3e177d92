/** Slot in which one request is answered; lent to others while a query waits for a store. */
import { CancelledError } from "../../../shared/errors.js";
import type { RequestFacts } from "../request-facts.js";
import type { Admission } from "./admission.js";

/** The slot of one request: none, held or lent. */
export class RequestSlot {
  readonly #admission: Admission;
  readonly #facts: RequestFacts;
  readonly #client: () => unknown;
  /** Gives the slot back; null while it is not held. */
  #release: (() => void) | null = null;
  /** Whether it has been given back until no query waits for a store. */
  #isLent = false;
  /** Ends of the waits of queries for stores. */
  readonly #storeWaits = new Set<() => void>();
  /** The store that the request reads, the last one of several; null for none. */
  #store: string | null = null;
  /** What the slot was taken for: evaluations of a field, and the store. */
  #taken: { readonly work: number; readonly store: string | null } = { work: 0, store: null };
  /** Set once the request has waited for a slot. */
  #waiting: AbortController | null = null;
  /**
   * The time at which the slot was taken, on the clock of `performance.now`; null without one, and once the results are
   * complete.
   */
  #enteredAt: number | null = null;
  #over = false;

  /** @param client the client whose share of the slots is used */
  constructor(admission: Admission, facts: RequestFacts, client: () => unknown) {
    this.#admission = admission;
    this.#facts = facts;
    this.#client = client;
  }

  /** Whether the slot was taken for this much work and the store that the request reads by now. */
  isFor(work: number): boolean {
    const isTaken = this.#release !== null || this.#isLent;
    return isTaken && work === this.#taken.work && this.#store === this.#taken.store;
  }

  /**
   * Waits for a slot.
   *
   * @param work evaluations of a field that it is for
   * @param due  the time at which the result is due, on the clock of `performance.now`
   */
  async take(work: number, due: number): Promise<void> {
    const since = performance.now();
    this.#taken = { work, store: this.#store };
    const request = { client: this.#client(), ...this.#taken };
    let release = this.#admission.trySlot(request);
    if (release === null) {
      this.#waiting = new AbortController();
      release = await this.#admission.slot(request, due - since, this.#waiting.signal);
      this.#facts.queueMs += performance.now() - since;
    }
    this.#enteredAt = performance.now();
    this.#release = release;
    if (this.#over) this.leave();
    else if (this.#storeWaits.size > 0) this.#lend();
  }

  /**
   * Hears of one query that it waits for a store; while any does, the request has no slot.
   *
   * @param store that it reads; null for none
   */
  storeWait(store: string | null): (store: string | null) => boolean {
    // A query that reads no store may follow one that does, or run at the same time.
    this.#store = store ?? this.#store;
    let end: (() => void) | null = null;
    return (waited) => {
      if (end !== null) this.#storeWaits.delete(end);
      end?.();
      end = waited === null || this.#over ? null : this.#admission.waitForStore(waited);
      if (end === null) {
        this.#takeAgain();
        return waited === null || this.#over;
      }
      this.#storeWaits.add(end);
      this.#lend();
      return true;
    };
  }

  #lend(): void {
    if (this.#release === null) return;
    this.#release();
    this.#release = null;
    this.#isLent = true;
  }

  #takeAgain(): void {
    if (!this.#isLent || this.#storeWaits.size > 0) return;
    this.#isLent = false;
    this.#release = this.#admission.takeAgain({ client: this.#client(), ...this.#taken });
  }

  /** Gives the slot back. */
  leave(): void {
    this.#isLent = false;
    if (this.#release === null) return;
    this.endComputing();
    this.#release();
    this.#release = null;
  }

  /** Says that the results are complete. */
  endComputing(): void {
    if (this.#enteredAt !== null) this.#facts.computeMs += performance.now() - this.#enteredAt;
    this.#enteredAt = null;
  }

  /** Gives everything back for good. */
  end(): void {
    this.#over = true;
    this.#waiting?.abort(new CancelledError());
    this.leave();
    for (const end of this.#storeWaits) end();
  }
}
