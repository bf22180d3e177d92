/** The peers that a gateway knows: their last heartbeat, their outstanding shipments, and which of them may be used. */
import { HEARTBEAT_MS, type Heartbeat, MISSED } from "../wire/heartbeat.js";
import { type Placement, place } from "./placement.js";

/** Shipments per thread of a peer: one that runs and one that waits. */
const CREDIT = 2;

/** Largest number of peers that a gateway keeps. */
const MOST_PEERS = 1024;

/** A peer as this gateway sees it. */
export interface Member {
  readonly name: string;
  heartbeat: Heartbeat;
  generations: ReadonlySet<string>;
  /** When it was last heard, on the clock of `performance.now`. */
  heardAt: number;
  /** Shipments sent to it and neither answered nor given up. */
  outstanding: number;
  /** It has exceeded the time of a shipment and has not been heard since. */
  suspect: boolean;
}

/** The peers of a cluster and where the shards are. */
export class Membership {
  readonly #members = new Map<string, Member>();
  readonly #replicas: number;
  #placement: Placement | null = null;

  constructor(replicas: number) {
    this.#replicas = replicas;
  }

  /** Takes a heartbeat in; false when the list of peers is full. */
  hear(heartbeat: Heartbeat, now: number): boolean {
    const known = this.#members.get(heartbeat.node);
    const generations = new Set(heartbeat.datasets.map(([, generation]) => generation));
    if (known) {
      if (known.heartbeat.draining !== heartbeat.draining) this.#placement = null;
      Object.assign(known, { heartbeat, generations, heardAt: now, suspect: false });
      return true;
    }
    if (this.#members.size >= MOST_PEERS) return false;
    this.#placement = null;
    this.#members.set(heartbeat.node, {
      name: heartbeat.node,
      heartbeat,
      generations,
      heardAt: now,
      outstanding: 0,
      suspect: false,
    });
    return true;
  }

  /** Forgets a peer. */
  remove(name: string): void {
    if (this.#members.delete(name)) this.#placement = null;
  }

  get(name: string): Member | undefined {
    return this.#members.get(name);
  }

  all(): readonly Member[] {
    return [...this.#members.values()];
  }

  /** Peers that have missed their heartbeats. */
  silent(now: number): readonly Member[] {
    return this.all().filter(({ heardAt }) => now - heardAt > MISSED * HEARTBEAT_MS);
  }

  /** Peers that take shipments on a generation of a dataset. */
  usable(generation: string): readonly Member[] {
    return this.all().filter(({ heartbeat, generations }) => !heartbeat.draining && generations.has(generation));
  }

  /** The placement of slots over the peers that are not draining. */
  placement(): Placement {
    this.#placement ??= place(
      this.all().flatMap(({ name, heartbeat }) => (heartbeat.draining ? [] : [name])),
      this.#replicas,
    );
    return this.#placement;
  }
}

/** Outstanding shipments per thread of a peer, with `more` added. */
export function loadOf({ outstanding, heartbeat }: Member, more = 0): number {
  return (outstanding + more) / heartbeat.threads;
}

/** Whether a peer may be sent another shipment. */
export function hasCredit({ outstanding, heartbeat }: Member): boolean {
  return outstanding < CREDIT * heartbeat.threads;
}
