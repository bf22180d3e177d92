/**
 * Admission: slots bound the requests being answered, and a part is reserved for small ones. Fair: the client with the
 * fewest slots first, its shortest request first.
 */
import { SMALL_WORK } from "../../../engine/contract/query.js";
import type { Limits } from "../../../shared/config.js";
import { BusyError, busyStore } from "../../../shared/errors.js";
import { HttpRefusal } from "../refusal.js";
import { waitForGrant } from "./granted.js";
import { MemoryBudget } from "./memory-budget.js";
import { type PointLimits, PointsInFlight } from "./points-in-flight.js";

export type AdmissionLimits = PointLimits & Pick<Limits, "engine.inflight" | "engine.queue">;

/** Fraction of the slots whose requests may wait for one store, and for all stores. */
const STORE_PART = 1 / 4;
const STORES_PART = 1 / 2;
/** Fraction of the slots, and of the queue, for requests that read stores. */
const ALL_STORES_PART = 3 / 4;

const ANALYSIS_BYTES = 128 * 1024 * 1024;

/** Fraction of the slots and of the queue for requests that are not small. */
const LARGE_PART = 3 / 4;
export interface SlotRequest {
  readonly client: unknown;
  readonly work: number;
  readonly store?: string | null;
}

/** A client; forgotten when it has neither slots nor waiting requests. */
interface Client {
  slots: number;
  waiting: number;
  last: number;
}

interface Waiter extends SlotRequest {
  readonly grant: () => void;
}

export class Admission {
  readonly analyses = new MemoryBudget(ANALYSIS_BYTES);
  readonly points: PointsInFlight;
  readonly #limits: AdmissionLimits;
  readonly #waiting = new Set<Waiter>();
  readonly #clients = new Map<unknown, Client>();
  readonly #atStores = new Map<string, number>();
  readonly #slotsOfStores = new Map<string, number>();
  #taken = 0;
  #given = 0;
  #small = 0;

  constructor(limits: AdmissionLimits) {
    this.#limits = limits;
    this.points = new PointsInFlight(limits);
  }

  get taken(): number {
    return this.#taken;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Checks a request on arrival, before its body is read. Slots of large requests cause no refusals. */
  arrive(): void {
    if (this.#small >= this.#limits["engine.inflight"]) {
      throw new HttpRefusal(503, "All slots are taken.", { "retry-after": "1" });
    }
  }

  /** Takes a slot within `waitMs`; returns what gives it back, also twice. Throws BusyError, also if too many wait. */
  async slot(request: SlotRequest, waitMs: number, signal: AbortSignal): Promise<() => void> {
    return this.trySlot(request) ?? this.#wait(request, waitMs, signal);
  }

  /** Takes a free slot; null if none. Throws BusyError if others wait for a store whose requests have their most. */
  trySlot(request: SlotRequest): (() => void) | null {
    if (request.store && this.#isCrowded(request.store)) throw busyStore();
    return this.#mayTake(request) ? this.#take(request) : null;
  }

  #mayTake({ work, store = null }: SlotRequest): boolean {
    if (this.#taken >= this.#most("engine.inflight", work)) return false;
    if (store === null) return true;
    return sum(this.#slotsOfStores) < this.#ofStores("engine.inflight") && !this.#isCrowded(store);
  }

  /** Whether requests wait for a store and its other ones hold all the slots they may: further ones would wait too. */
  #isCrowded(store: string): boolean {
    return this.#atStores.has(store) && (this.#slotsOfStores.get(store) ?? 0) >= this.#ofStore;
  }

  #ofStores(limit: "engine.inflight" | "engine.queue"): number {
    return Math.max(1, Math.floor(this.#limits[limit] * ALL_STORES_PART));
  }

  /** Counts a wait for a store, without a slot; returns what ends it, null if too many wait for it or for all. */
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

  /** Most requests that wait for one store, and most slots of its requests meanwhile. */
  get #ofStore(): number {
    return Math.max(1, this.#limits["engine.inflight"] * STORE_PART);
  }

  /** Takes a slot even if all are taken: the request has waited for a store and must not wait again. */
  takeAgain(request: SlotRequest): () => void {
    return this.#take(request);
  }

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

  #grant(): void {
    for (let next = this.#next(); next !== null; next = this.#next()) next.grant();
  }

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
    const ofStores = [...this.#waiting].filter(({ store }) => store).length;
    const isFull = request.store && ofStores >= this.#ofStores("engine.queue");
    if (isFull || this.#waiting.size >= this.#most("engine.queue", request.work))
      throw new BusyError("Too many requests are waiting.");
    // Requests that wait for slots of stores take none from others.
    const small = request.work <= SMALL_WORK && !request.store ? 1 : 0;
    const late = (): Error => new BusyError("No slot came free before the deadline.");
    return waitForGrant(
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
}

function sum(counts: ReadonlyMap<string, number>): number {
  let all = 0;
  for (const count of counts.values()) all += count;
  return all;
}

function count(counts: Map<string, number>, store: string, more: number): void {
  const now = (counts.get(store) ?? 0) + more;
  if (now === 0) counts.delete(store);
  else counts.set(store, now);
}
