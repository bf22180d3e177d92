/** `RequestLife` follows one computing request from its arrival to the end of its answer: what it may do, what it holds, how it ends. */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Evaluation, Query } from "../../engine/query.js";
import { CancelledError, DeadlineError } from "../../errors.js";
import type { PointsHold } from "./admission.js";
import { Body } from "./body.js";
import { bodyTooLarge, refuseEncoded } from "./refusal.js";
import type { Service } from "./service.js";

/** How many points a request may have, and the name of the limit that says so. */
export interface PointLimit {
  readonly points: number;
  readonly name: string;
}

/**
 * The life of a request, in this order: arrival, `authorise`, `openBody` with `admit` and `start`, `enter`, the answer. What it
 * holds is given back when its answer is out or its caller has left, whichever step it has come to.
 */
export class RequestLife {
  readonly #service: Service;
  readonly #request: FastifyRequest;
  readonly #reply: FastifyReply;
  readonly #hold: PointsHold;
  readonly #releases: (() => void)[] = [];
  readonly #evaluations = new Set<Evaluation>();
  /** Points that the token admits; 0 for any number. */
  #tokenPoints = 0;
  #body: Body | null = null;
  /** Set while the request waits for a slot. */
  #waiting: AbortController | null = null;
  /** When the result is due, on the clock of `performance.now`; counts from the end of the body. */
  #deadline: number | null = null;
  #gone = false;
  #over = false;

  /**
   * Judges a request on arrival, before its body is read.
   *
   * @param name of the interface, for log and counters
   * @throws HttpRefusal of a compressed or too large body, and where all slots are taken
   */
  constructor(service: Service, request: FastifyRequest, reply: FastifyReply, name: string) {
    this.#service = service;
    this.#request = request;
    this.#reply = reply;
    const { headers } = request;
    refuseEncoded(headers["content-encoding"]);
    if (Number(headers["content-length"] ?? 0) > service.config.limits["http.bodyBytes"]) throw bodyTooLarge();
    service.admission.arrive();
    request.facts.interface = name;
    this.#hold = service.admission.hold();
    reply.raw.on("close", () => this.#end());
  }

  /** Judges the token, null where the request has none. @throws AuthError, LimitError `token.concurrent` */
  authorise(token: string | null): void {
    const { facts } = this.#request;
    const grant = this.#service.auth.authorise(token, (id) => {
      facts.token = id;
    });
    facts.token = grant.id;
    this.#tokenPoints = grant.points;
    this.onEnd(() => grant.release());
  }

  /** The smaller of a limit and that of the token. */
  limit(other: PointLimit): PointLimit {
    const points = this.#tokenPoints;
    return points > 0 && points < other.points ? { points, name: "token.points" } : other;
  }

  /** Begins to read the body. */
  openBody(): Body {
    const { config, slices, tick } = this.#service;
    this.#body = new Body(this.#request.raw, config.limits["http.bodyBytes"], slices, tick);
    return this.#body;
  }

  /** Takes note of points read; a promise where reading has to wait. */
  admit(count: number): Promise<void> | null {
    this.#request.facts.points += count;
    return count > 0 ? this.#hold.add(count) : null;
  }

  /** Begins a query; it is aborted when the caller leaves. */
  start(query: Query): Evaluation {
    const { engine, config } = this.#service;
    const deadlineMs = this.#deadline === null ? config.limits["query.deadlineMs"] : this.#deadline - performance.now();
    if (deadlineMs <= 0) throw new DeadlineError();
    const evaluation = engine.start(query, { deadlineMs });
    this.#evaluations.add(evaluation);
    if (this.#gone) evaluation.abort();
    return evaluation;
  }

  /** Waits for a slot to be answered in, once the body has been read. */
  async enter(): Promise<void> {
    if (this.#gone) throw new CancelledError();
    const { admission, config } = this.#service;
    const waitMs = config.limits["query.deadlineMs"];
    this.#deadline = performance.now() + waitMs;
    let release = admission.trySlot();
    if (release === null) {
      this.#waiting = new AbortController();
      release = await admission.slot(waitMs, this.#waiting.signal);
    }
    this.onEnd(release);
  }

  /** Calls back when the request is over: at once if it is. */
  onEnd(release: () => void): void {
    if (this.#over) release();
    else this.#releases.push(release);
  }

  /** Stops the queries of the request. */
  abort(): void {
    for (const evaluation of this.#evaluations) evaluation.abort();
  }

  /**
   * Gives a failed request up where no answer can say so: its caller has left, or its answer has begun.
   *
   * @returns false when the error is still to be answered
   */
  giveUp(error: unknown): boolean {
    this.abort();
    const left = this.#gone || error instanceof CancelledError;
    if (!left && !this.#reply.raw.headersSent) return false;
    const { facts, id, log } = this.#request;
    facts.outcome = left ? "cancelled" : "Internal";
    if (!left) log.error({ reqId: id, err: error }, "an answer could not be completed");
    this.#reply.hijack();
    this.#reply.raw.destroy();
    return true;
  }

  /** The answer is out, or the caller has left. */
  #end(): void {
    if (!this.#reply.raw.writableFinished) {
      this.#gone = true;
      this.#body?.close();
      this.#waiting?.abort(new CancelledError());
      this.abort();
    }
    this.#over = true;
    this.#hold.release();
    for (const release of this.#releases.splice(0)) release();
  }
}
