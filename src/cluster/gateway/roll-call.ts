/** Keeps the membership by what is heard: a node is one while its heartbeats come. */
import type { Logger } from "pino";
import { decodeHeartbeat } from "../wire/heartbeat.js";
import { SUBJECTS } from "../wire/subjects.js";
import type { Transport } from "../wire/transport.js";
import type { Member, Membership } from "./membership.js";

/** Between two looks at the heartbeats. */
const SWEEP_MS = 250;

/** Whom a roll call tells what. */
export interface Roll {
  readonly membership: Membership;
  /** A node was heard. */
  heard(): void;
  /** A node has missed its heartbeats. */
  missed(member: Member): void;
  /** Whether heartbeats can be expected to arrive at all. */
  settled(now: number): boolean;
}

export class RollCall {
  readonly #roll: Roll;
  readonly #sweeper: NodeJS.Timeout;
  #sweptAt = performance.now();
  /** The last heartbeat was of a node too many. */
  #full = false;

  constructor(transport: Transport, log: Logger, roll: Roll) {
    this.#roll = roll;
    transport.subscribe(SUBJECTS.heartbeats, ({ data }) => {
      const heartbeat = decodeHeartbeat(data);
      if (!heartbeat) return;
      const known = roll.membership.hear(heartbeat, performance.now());
      if (!known && !this.#full) log.warn({ node: heartbeat.node }, "more nodes than a gateway keeps");
      this.#full = !known;
      roll.heard();
    });
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_MS);
  }

  close(): void {
    clearInterval(this.#sweeper);
  }

  /** Finds nodes that are gone; a gateway that was held up itself first reads what has arrived. */
  #sweep(): void {
    const now = performance.now();
    const held = now - this.#sweptAt > 4 * SWEEP_MS;
    this.#sweptAt = now;
    if (held || !this.#roll.settled(now)) return;
    for (const member of this.#roll.membership.silent(now)) this.#roll.missed(member);
  }
}
