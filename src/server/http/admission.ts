/** `Admission` bounds the requests being answered by slots, and the points that all requests hold together. */
import { BusyError } from "../../errors.js";
import { HttpRefusal } from "./refusal.js";

/** Bounds that admission keeps. */
export interface AdmissionLimits {
  readonly "engine.inflight": number;
  readonly "engine.queue": number;
  readonly "engine.pointsInFlight": number;
  readonly "http.requestTimeoutMs": number;
}

/** How long before the request timeout a paused request is refused, so that it hears 503 rather than 408. */
const MARGIN_MS = 100;

interface Waiter {
  readonly grant: () => void;
}

/** One per service; shared by every interface that starts queries. */
export class Admission {
  readonly #limits: AdmissionLimits;
  readonly #waiting = new Set<Waiter>();
  /** Requests that hold points, oldest first, with how many. */
  readonly #holds = new Map<PointsHold, number>();
  readonly #paused = new Map<PointsHold, () => void>();
  #taken = 0;
  #points = 0;

  constructor(limits: AdmissionLimits) {
    this.#limits = limits;
  }

  /** Requests being answered now. */
  get taken(): number {
    return this.#taken;
  }

  /** Requests that wait for a slot. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Points of all requests that are read or answered now. */
  get points(): number {
    return this.#points;
  }

  /** Judges a request on arrival, before its body is read. */
  arrive(): void {
    if (this.#taken >= this.#limits["engine.inflight"]) {
      throw new HttpRefusal(503, "All slots are taken.", { "retry-after": "1" });
    }
  }

  /**
   * Takes a slot for a request whose body has been read, waiting for one up to `waitMs`.
   *
   * @returns gives the slot back; harmless when called twice
   * @throws BusyError when none came free in time or too many wait already
   */
  async slot(waitMs: number, signal: AbortSignal): Promise<() => void> {
    const free = this.trySlot();
    if (free !== null) return free;
    await this.#wait(waitMs, signal);
    return this.#returner();
  }

  /** Takes a slot; null where none is free. */
  trySlot(): (() => void) | null {
    if (this.#taken >= this.#limits["engine.inflight"]) return null;
    this.#taken++;
    return this.#returner();
  }

  #returner(): () => void {
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      const next = this.#waiting.values().next().value;
      if (next === undefined) this.#taken--;
      else next.grant();
    };
  }

  /** A new account of points for one request. */
  hold(): PointsHold {
    return new PointsHold(this);
  }

  /** Adds to an account; a promise where its request has to wait before it reads more. For `PointsHold`. */
  add(hold: PointsHold, count: number): Promise<void> | null {
    this.#points += count;
    this.#holds.set(hold, (this.#holds.get(hold) ?? 0) + count);
    return this.#mayGoOn(hold) ? null : this.#pause(hold);
  }

  /** Closes an account; one that is paused goes on, to find its request over. For `PointsHold`. */
  drop(hold: PointsHold): void {
    this.#points -= this.#holds.get(hold) ?? 0;
    this.#holds.delete(hold);
    this.#paused.get(hold)?.();
    for (const [paused, resume] of this.#paused) if (this.#mayGoOn(paused)) resume();
  }

  /** The oldest request always may: were all to wait for one another, none would end. */
  #mayGoOn(hold: PointsHold): boolean {
    return this.#points <= this.#limits["engine.pointsInFlight"] || this.#holds.keys().next().value === hold;
  }

  #pause(hold: PointsHold): Promise<void> {
    const timeout = this.#limits["http.requestTimeoutMs"];
    const left = timeout - Math.min(MARGIN_MS, timeout / 10) - (performance.now() - hold.since);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#paused.delete(hold);
        reject(new HttpRefusal(503, "Too many points are in flight.", { "retry-after": "1", connection: "close" }));
      }, left);
      this.#paused.set(hold, () => {
        clearTimeout(timer);
        this.#paused.delete(hold);
        resolve();
      });
    });
  }

  async #wait(waitMs: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#waiting.size >= this.#limits["engine.queue"]) throw new BusyError("Too many requests are waiting.");
    return new Promise((resolve, reject) => {
      const settle = (then: () => void): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", leave);
        this.#waiting.delete(waiter);
        then();
      };
      const waiter: Waiter = { grant: () => settle(resolve) };
      const give = (): void => settle(() => reject(new BusyError("No slot came free before the deadline.")));
      const leave = (): void => settle(() => reject(signal.reason));
      const timer = setTimeout(give, waitMs);
      signal.addEventListener("abort", leave, { once: true });
      this.#waiting.add(waiter);
    });
  }
}

/** The points of one request, from the first one read until its answer is out. */
export class PointsHold {
  /** When the request arrived. */
  readonly since = performance.now();
  readonly #admission: Admission;
  #released = false;

  constructor(admission: Admission) {
    this.#admission = admission;
  }

  /** Takes note of points read; a promise where reading has to wait. What is read after `release` counts for nothing. */
  add(count: number): Promise<void> | null {
    return this.#released ? null : this.#admission.add(this, count);
  }

  release(): void {
    this.#released = true;
    this.#admission.drop(this);
  }
}
