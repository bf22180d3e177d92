/** What is kept of answered requests: a log line and the counters. */
import type { Logger } from "pino";
import type { Metrics } from "./metrics.js";
import type { Facts } from "./service.js";
import type { Round } from "./tick.js";

/** A request that has ended. */
export interface EndedRequest {
  readonly facts: Facts;
  readonly outcome: string;
  readonly id: string;
  readonly method: string;
  /** Its route, or "none". */
  readonly path: string;
  readonly status: number;
  /** From its arrival to the end of its answer. */
  readonly ms: number;
}

/** Requests that end in one turn of the event loop are written down together after it. */
export class Journal {
  readonly #metrics: Metrics;
  readonly #log: Logger;
  readonly #round: Round;
  #ended: EndedRequest[] = [];

  constructor(metrics: Metrics, log: Logger, round: Round) {
    this.#metrics = metrics;
    this.#log = log;
    this.#round = round;
  }

  add(request: EndedRequest): void {
    if (this.#ended.push(request) === 1) this.#round.add(() => this.write());
  }

  /** Writes down all that have ended. */
  write(): void {
    const ended = this.#ended;
    this.#ended = [];
    for (const { facts, outcome, id, method, path, status, ms } of ended) {
      const { interface: by, operation, points, token } = facts;
      this.#metrics.observe({ interface: by, operation, outcome, points, seconds: ms / 1000 });
      const took = Math.round(ms * 100) / 100;
      this.#log.info({ reqId: id, method, path, status, interface: by, operation, outcome, points, token, ms: took });
    }
  }
}
