/** The slot of a request, released to others while its query waits for a store. */
import { SMALL_WORK } from "../../../engine/contract/query.js";
import { CancelledError } from "../../../shared/errors.js";
import type { RequestFacts } from "../request-facts.js";
import type { Admission } from "./admission.js";

export class RequestSlot {
  readonly #admission: Admission;
  readonly #facts: RequestFacts;
  readonly #client: () => unknown;
  /** Null while the slot is not held. */
  #release: (() => void) | null = null;
  /** Whether the slot is lent until no query waits for a store. */
  #isLent = false;
  readonly #storeWaits = new Set<() => void>();
  /** The last store that the request read. */
  #store: string | null = null;
  #taken: { readonly work: number; readonly store: string | null } = { work: 0, store: null };
  #waiting: AbortController | null = null;
  /** Time of entry; null without a slot, and once the results are complete. */
  #enteredAt: number | null = null;
  #over = false;

  constructor(admission: Admission, facts: RequestFacts, client: () => unknown) {
    this.#admission = admission;
    this.#facts = facts;
    this.#client = client;
  }

  /** Whether the slot was taken for work of this size, small or large, and for the store of the request. */
  isFor(work: number): boolean {
    const isTaken = this.#release !== null || this.#isLent;
    const isSize = work <= SMALL_WORK === this.#taken.work <= SMALL_WORK;
    return isTaken && isSize && this.#store === this.#taken.store;
  }

  /** Waits for a slot. `due`: on the clock of `performance.now`. */
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

  /** Makes the listener for waits of a query for a store, during which the request has no slot. */
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

  leave(): void {
    this.#isLent = false;
    if (this.#release === null) return;
    this.endComputing();
    this.#release();
    this.#release = null;
  }

  endComputing(): void {
    if (this.#enteredAt !== null) this.#facts.computeMs += performance.now() - this.#enteredAt;
    this.#enteredAt = null;
  }

  end(): void {
    this.#over = true;
    this.#waiting?.abort(new CancelledError());
    this.leave();
    for (const end of this.#storeWaits) end();
  }
}
