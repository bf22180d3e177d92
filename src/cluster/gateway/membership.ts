/** The nodes a gateway knows: what they said last, what they are working on, which of them it may use. */
import { HEARTBEAT_MS, type Heartbeat, MISSED } from "../wire/heartbeat.js";
import { type Placement, place } from "./placement.js";

/** Batches that one thread of a node may have at a time: one to work on and one to go on with. */
const CREDIT = 2;

/** Nodes that a gateway keeps, whatever it hears. */
const MOST_NODES = 1024;

/** A node, as this gateway sees it. */
export interface Member {
  readonly name: string;
  heartbeat: Heartbeat;
  generations: ReadonlySet<string>;
  /** When it was last heard, on the clock of `performance.now`. */
  heardAt: number;
  /** Batches sent to it and neither answered nor given up. */
  outstanding: number;
  /** It has kept a batch waiting for too long and not been heard since. */
  suspect: boolean;
}

export class Membership {
  readonly #members = new Map<string, Member>();
  readonly #replicas: number;
  #placement: Placement | null = null;

  constructor(replicas: number) {
    this.#replicas = replicas;
  }

  /** Takes a heartbeat in; false: it is of one node too many. */
  hear(heartbeat: Heartbeat, now: number): boolean {
    const known = this.#members.get(heartbeat.node);
    const generations = new Set(heartbeat.datasets.map(([, generation]) => generation));
    if (known) {
      if (known.heartbeat.draining !== heartbeat.draining) this.#placement = null;
      Object.assign(known, { heartbeat, generations, heardAt: now, suspect: false });
      return true;
    }
    if (this.#members.size >= MOST_NODES) return false;
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

  /** Forgets a node. */
  remove(name: string): void {
    if (this.#members.delete(name)) this.#placement = null;
  }

  get(name: string): Member | undefined {
    return this.#members.get(name);
  }

  all(): readonly Member[] {
    return [...this.#members.values()];
  }

  /** Nodes that have missed their heartbeats. */
  silent(now: number): readonly Member[] {
    return this.all().filter(({ heardAt }) => now - heardAt > MISSED * HEARTBEAT_MS);
  }

  /** Nodes that take batches on a generation. */
  usable(generation: string): readonly Member[] {
    return this.all().filter(({ heartbeat, generations }) => !heartbeat.draining && generations.has(generation));
  }

  /** Where the slots are, over the nodes that are not draining. */
  placement(): Placement {
    this.#placement ??= place(
      this.all().flatMap(({ name, heartbeat }) => (heartbeat.draining ? [] : [name])),
      this.#replicas,
    );
    return this.#placement;
  }
}

/** Load of a node in relation to its threads, with so many batches more. */
export function loadOf({ outstanding, heartbeat }: Member, more = 0): number {
  return (outstanding + more) / heartbeat.threads;
}

/** Whether a node may be sent another batch. */
export function hasCredit({ outstanding, heartbeat }: Member): boolean {
  return outstanding < CREDIT * heartbeat.threads;
}
