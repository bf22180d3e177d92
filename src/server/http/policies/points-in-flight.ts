/** Bounds the points that all requests hold until their results are complete; a part is reserved for small ones. */
import type { Limits } from "../../../shared/config.js";
import { HttpRefusal } from "../refusal.js";
import { waitForGrant } from "./granted.js";

export type PointLimits = Pick<Limits, "engine.pointsInFlight" | "http.requestTimeoutMs">;

/** Time before its timeout at which a paused request is refused, with 503 rather than 408. */
const MARGIN_MS = 100;

/** Points of a small request, and the additional fraction reserved for small requests. */
const SMALL_POINTS = 4_096;
const SMALL_PART = 1 / 8;

export class PointsInFlight {
  readonly #limits: PointLimits;
  /** Requests that hold points, in the order of their first points. */
  readonly #holds: PointsHold[] = [];
  readonly #paused = new Map<PointsHold, { readonly count: number; readonly resume: () => void }>();
  #held = 0;
  #smallPoints = 0;

  constructor(limits: PointLimits) {
    this.#limits = limits;
  }

  get held(): number {
    return this.#held;
  }

  hold(): PointsHold {
    return new PointsHold(this);
  }

  /** Adds points; a promise if the request has to wait for room. Called by `PointsHold`. */
  add(hold: PointsHold, count: number): Promise<void> | null {
    if (!this.#holds.includes(hold)) this.#holds.push(hold);
    if (!this.#hasRoom(hold, count)) return this.#pause(hold, count);
    this.#count(hold, count);
    return null;
  }

  #count(hold: PointsHold, count: number): void {
    this.#held += count;
    this.#smallPoints += smallPart(hold.held + count) - smallPart(hold.held);
    hold.held += count;
  }

  /** Ends a hold; a paused request continues and finds that it is over. Called by `PointsHold`. */
  drop(hold: PointsHold): void {
    this.#held -= hold.held;
    this.#smallPoints -= smallPart(hold.held);
    hold.held = 0;
    const at = this.#holds.indexOf(hold);
    if (at >= 0) this.#holds.splice(at, 1);
    this.#paused.get(hold)?.resume();
    for (const [paused, { count, resume }] of this.#paused) {
      if (!this.#hasRoom(paused, count)) continue;
      this.#count(paused, count);
      resume();
    }
  }

  /** Whether there is room. The oldest request always has room: if all waited for one another, none would end. */
  #hasRoom(hold: PointsHold, count: number): boolean {
    const most = this.#limits["engine.pointsInFlight"];
    if (this.#held + count <= most || this.#holds[0] === hold) return true;
    const after = hold.held + count;
    return after <= SMALL_POINTS && this.#smallPoints + count <= most * SMALL_PART;
  }

  #pause(hold: PointsHold, count: number): Promise<void> {
    const timeout = this.#limits["http.requestTimeoutMs"];
    const left = timeout - Math.min(MARGIN_MS, timeout / 10) - (performance.now() - hold.since);
    const refuse = (): Error =>
      new HttpRefusal(503, "Too many points are in flight.", { "retry-after": "1", connection: "close" });
    return waitForGrant<void>(
      (grant) => {
        this.#paused.set(hold, { count, resume: () => grant(() => undefined) });
        return () => this.#paused.delete(hold);
      },
      { ms: left, late: refuse },
    );
  }
}

/** Points that count against the reserve: all of a small request, none of a large one. */
function smallPart(points: number): number {
  return points <= SMALL_POINTS ? points : 0;
}

export class PointsHold {
  readonly since = performance.now();
  /** Points held; written by `PointsInFlight`. */
  held = 0;
  readonly #points: PointsInFlight;
  #released = false;

  constructor(points: PointsInFlight) {
    this.#points = points;
  }

  /** Counts points; a promise if reading has to wait. After `release` nothing counts. */
  add(count: number): Promise<void> | null {
    return this.#released ? null : this.#points.add(this, count);
  }

  release(): void {
    this.#released = true;
    this.#points.drop(this);
  }
}
