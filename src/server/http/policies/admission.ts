/**
 * Admission of requests: bounds those being answered, by slots, of which a part is reserved for small requests. Waiting
 * requests are served fairly: the client with the fewest slots first, its shortest request first.
 */
import { SMALL_WORK } from "../../../engine/contract/query.js";
import type { Limits } from "../../../shared/config.js";
import { BusyError, busyStore } from "../../../shared/errors.js";
import { HttpRefusal } from "../refusal.js";
import { granted } from "./granted.js";
import { MemoryBudget } from "./memory-budget.js";
import { type PointLimits, PointsInFlight } from "./points-in-flight.js";

/** Bounds that admission keeps. */
export type AdmissionLimits = PointLimits & Pick<Limits, "engine.inflight" | "engine.queue">;

/** How many requests may wait for one store, and for all stores together, as a part of the number of slots. */
const STORE_PART = 1 / 4;
const STORES_PART = 1 / 2;
/** The part of the slots, and of the queue, that requests that read stores may have together. */
const ALL_STORES_PART = 3 / 4;

/** Memory that all analyses may have together, besides what is counted elsewhere. */
const ANALYSIS_BYTES = 128 * 1024 * 1024;

/** The part of the slots and of the queue that requests may take that are not small; the rest is a reserve. */
const LARGE_PART = 3 / 4;
/** A request that asks for a slot. */
export interface SlotRequest {
  /** The client, whose turn depends on the slots that it has; compared by identity. */
  readonly client: unknown;
  /** Evaluations of a field that the request takes. */
  readonly work: number;
  /** The store that it reads; null for none. */
  readonly store?: string | null;
}

/** A client's slots and waiting requests; forgotten when there are none. */
interface Client {
  slots: number;
  waiting: number;
  /** Number of the last slot that it was given. */
  last: number;
}

interface Waiter extends SlotRequest {
  readonly grant: () => void;
}

/** One per service; shared by every interface that starts queries. */
export class Admission {
  readonly analyses = new MemoryBudget(ANALYSIS_BYTES);
  readonly points: PointsInFlight;
  readonly #limits: AdmissionLimits;
  readonly #waiting = new Set<Waiter>();
  readonly #clients = new Map<unknown, Client>();
  /** Requests that wait for stores, by store. */
  readonly #atStores = new Map<string, number>();
  /** Slots of requests that read stores, by store. */
  readonly #slotsOfStores = new Map<string, number>();
  #taken = 0;
  /** Slots given so far. */
  #given = 0;
  /** Slots of small requests, and small requests that wait. */
  #small = 0;

  constructor(limits: AdmissionLimits) {
    this.#limits = limits;
    this.points = new PointsInFlight(limits);
  }

  /** Requests being answered now. */
  get taken(): number {
    return this.#taken;
  }

  /** Requests that wait for a slot. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Checks a request on arrival, before its body is read: slots of large requests do not cause refusals. */
  arrive(): void {
    if (this.#small >= this.#limits["engine.inflight"]) {
      throw new HttpRefusal(503, "All slots are taken.", { "retry-after": "1" });
    }
  }

  /**
   * Takes a slot for a request whose body has been read, waiting for one up to `waitMs`.
   *
   * @returns gives the slot back; harmless when called twice
   * @throws BusyError when none came free in time or too many wait already
   */
  async slot(request: SlotRequest, waitMs: number, signal: AbortSignal): Promise<() => void> {
    return this.trySlot(request) ?? this.#wait(request, waitMs, signal);
  }

  /**
   * Takes a slot; null if there is none that the request may have.
   *
   * @throws BusyError if others wait for the store that it reads, and its requests have as many slots as they may
   */
  trySlot(request: SlotRequest): (() => void) | null {
    if (request.store && this.#isCrowded(request.store)) throw busyStore();
    return this.#mayTake(request) ? this.#take(request) : null;
  }

  /** Whether a request may have one of the slots that are free. Some are left to requests that read no store. */
  #mayTake({ work, store = null }: SlotRequest): boolean {
    if (this.#taken >= this.#most("engine.inflight", work)) return false;
    if (store === null) return true;
    return sum(this.#slotsOfStores) < this.#ofStores("engine.inflight") && !this.#isCrowded(store);
  }

  /**
   * Whether requests wait for a store and others that read it have as many slots as they may meanwhile: whoever reads
   * it is likely to wait too, and holds a slot until that shows.
   */
  #isCrowded(store: string): boolean {
    return this.#atStores.has(store) && (this.#slotsOfStores.get(store) ?? 0) >= this.#ofStore;
  }

  /** Slots, or places in the queue, that requests that read stores may have together. */
  #ofStores(limit: "engine.inflight" | "engine.queue"): number {
    return Math.max(1, Math.floor(this.#limits[limit] * ALL_STORES_PART));
  }

  /**
   * Counts a request against the store that its query waits for; meanwhile it needs no slot.
   *
   * @returns ends the wait, harmless when called twice; null if too many requests wait for the store, or for all stores
   */
  waitForStore(store: string): (() => void) | null {
    const slots = this.#limits["engine.inflight"];
    const waiting = this.#atStores.get(store) ?? 0;
    if (waiting >= this.#ofStore || sum(this.#atStores) >= Math.max(1, slots * STORES_PART)) return null;
    count(this.#atStores, store, 1);
    let waits = true;
    return () => {
      if (!waits) return;
      waits = false;
      count(this.#atStores, store, -1);
      this.#grant();
    };
  }

  /** Requests that may wait for one store, and the slots that its requests may have meanwhile. */
  get #ofStore(): number {
    return Math.max(1, this.#limits["engine.inflight"] * STORE_PART);
  }

  /** Takes the slot of a request that has waited for a store, even if all are taken: it must not wait again. */
  takeAgain(request: SlotRequest): () => void {
    return this.#take(request);
  }

  /** Slots or places in the queue that may be taken when a request of so much work takes one. */
  #most(limit: "engine.inflight" | "engine.queue", work: number): number {
    return Math.max(1, Math.floor(this.#limits[limit] * (work <= SMALL_WORK ? 1 : LARGE_PART)));
  }

  #take({ client, work, store = null }: SlotRequest): () => void {
    const small = work <= SMALL_WORK ? 1 : 0;
    this.#taken++;
    if (store !== null) count(this.#slotsOfStores, store, 1);
    this.#small += small;
    this.#change(client, { slots: 1 }).last = ++this.#given;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#taken--;
      if (store !== null) count(this.#slotsOfStores, store, -1);
      this.#small -= small;
      this.#change(client, { slots: -1 });
      this.#grant();
    };
  }

  /** Gives free slots to requests that wait and may have one. */
  #grant(): void {
    for (let next = this.#next(); next !== null; next = this.#next()) next.grant();
  }

  /** The next request to get a slot; null if none of the waiting ones may have one. */
  #next(): Waiter | null {
    let next: Waiter | null = null;
    for (const waiter of this.#waiting) {
      if (!this.#mayTake(waiter)) continue;
      if (next === null || this.#isBefore(waiter, next)) next = waiter;
    }
    return next;
  }

  #isBefore(one: Waiter, other: Waiter): boolean {
    if (one.client === other.client) return one.work < other.work;
    const [a, b] = [this.#change(one.client), this.#change(other.client)];
    return a.slots === b.slots ? a.last < b.last : a.slots < b.slots;
  }

  /** Counts slots and waiting requests of a client, and returns what it has. */
  #change(client: unknown, { slots = 0, waiting = 0 } = {}): Client {
    const known = this.#clients.get(client) ?? { slots: 0, waiting: 0, last: 0 };
    known.slots += slots;
    known.waiting += waiting;
    if (known.slots + known.waiting > 0) this.#clients.set(client, known);
    else this.#clients.delete(client);
    return known;
  }

  #wait(request: SlotRequest, waitMs: number, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#waiting.size >= this.#most("engine.queue", request.work) || this.#isQueueFull(request))
      throw new BusyError("Too many requests are waiting.");
    // Requests that wait for slots of stores take none from others.
    const small = request.work <= SMALL_WORK && !request.store ? 1 : 0;
    const late = (): Error => new BusyError("No slot came free before the deadline.");
    return granted(
      (grant) => {
        const waiter = { ...request, grant: () => grant(() => this.#take(request)) };
        const count = (one: 1 | -1): void => {
          this.#small += one * small;
          this.#change(request.client, { waiting: one });
        };
        this.#waiting.add(waiter);
        count(1);
        return () => {
          this.#waiting.delete(waiter);
          count(-1);
        };
      },
      { ms: waitMs, signal, late },
    );
  }

  /** Whether this request reads a store, and such requests have all the places in the queue that they may have. */
  #isQueueFull({ store }: SlotRequest): boolean {
    if (!store) return false;
    const waiting = [...this.#waiting].filter((waiter) => waiter.store);
    return waiting.length >= this.#ofStores("engine.queue");
  }
}

/** The sum of the counts of all stores. */
function sum(counts: ReadonlyMap<string, number>): number {
  let all = 0;
  for (const count of counts.values()) all += count;
  return all;
}

/** Adds to a count, which is forgotten when it is 0. */
function count(counts: Map<string, number>, store: string, more: number): void {
  const now = (counts.get(store) ?? 0) + more;
  if (now === 0) counts.delete(store);
  else counts.set(store, now);
}
