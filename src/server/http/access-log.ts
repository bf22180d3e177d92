/** The access log writes a line for every answered request and counts it. */
import type { Logger } from "pino";
import type { Tick } from "./event-loop.js";
import type { Metrics } from "./metrics.js";
import type { Facts } from "./service.js";

/** A request whose answer is out, or whose caller has left. */
export interface EndedRequest {
  readonly facts: Facts;
  readonly outcome: string;
  readonly id: string;
  /** Address of the caller; behind a trusted proxy that of the proxy's caller. */
  readonly client: string;
  /** Bytes sent on the connection while the request was answered. */
  readonly bytes: number;
  readonly method: string;
  /** Its route, or "none". */
  readonly path: string;
  readonly status: number;
  /** From its arrival to the end of its answer. */
  readonly ms: number;
}

/** Writes down the requests that end in one tick together, after it. */
export class AccessLog {
  readonly #metrics: Metrics;
  readonly #log: Logger;
  readonly #tick: Tick;
  #ended: EndedRequest[] = [];

  constructor(metrics: Metrics, log: Logger, tick: Tick) {
    this.#metrics = metrics;
    this.#log = log;
    this.#tick = tick;
  }

  add(request: EndedRequest): void {
    if (this.#ended.push(request) === 1) this.#tick.add(() => this.write());
  }

  /** Writes down all that have ended. */
  write(): void {
    const ended = this.#ended;
    this.#ended = [];
    for (const { facts, outcome, id, client, bytes, method, path, status, ms } of ended) {
      const { interface: by, operation, dataset, points, token } = facts;
      this.#metrics.observe({ interface: by, operation, outcome, points, token, seconds: ms / 1000 });
      const waited = Math.round(facts.queueMs * 100) / 100;
      const took = Math.round(ms * 100) / 100;
      const asked = {
        reqId: id,
        client,
        method,
        path,
        status,
        interface: by,
        operation,
        dataset,
        outcome,
        points,
        token,
      };
      this.#log.info({ ...asked, bytes, queueMs: waited, ms: took });
    }
  }
}
