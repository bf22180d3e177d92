/** One request from admission to the end of its answer: token, slot, points held, and what is released when it is over. */
import { setMaxListeners } from "node:events";
import type { FastifyReply, FastifyRequest } from "fastify";
import { CancelledError } from "../../errors.js";
import type { Operation } from "../../operations.js";
import type { TripleLimit } from "../rest/triple-writer.js";
import type { PointsHold } from "./admission.js";
import type { Grant } from "./auth.js";
import type { Service } from "./service.js";

/** The token of a request, by `Authorization: Bearer`; null without that header, and what is no bearer token is one nobody has. */
function tokenOf(request: FastifyRequest): string | null {
  const header = request.headers.authorization;
  if (header === undefined) return null;
  return /^Bearer +(\S+) *$/i.exec(header)?.[1] ?? header;
}

/** How many points a token may ask for, the global limit included. */
function limitOf(grant: Grant, global: number): TripleLimit {
  return grant.points > 0 && grant.points < global
    ? { points: grant.points, name: "token.points" }
    : { points: global, name: "query.points" };
}

export class Visit {
  /** Points the caller may ask for. */
  readonly limit: TripleLimit;
  /** When the answer must be complete, on the clock of `performance.now`. */
  readonly deadline: number;
  readonly #service: Service;
  readonly #request: FastifyRequest;
  readonly #gone = new AbortController();
  readonly #hold: PointsHold;
  readonly #releases: (() => void)[] = [];
  #over = false;

  /**
   * Judges a request on arrival, before its body is read.
   *
   * @throws HttpRefusal where all slots are taken, AuthError or LimitError by its token
   */
  constructor(service: Service, operation: Operation, request: FastifyRequest, reply: FastifyReply) {
    this.#service = service;
    this.#request = request;
    request.facts.interface = "api";
    request.facts.operation = operation.name;
    service.admission.arrive();
    const grant = service.auth.authorise(tokenOf(request));
    request.facts.token = grant.id;
    // Every query of a list of times listens.
    setMaxListeners(0, this.#gone.signal);
    const { limits } = service.config;
    this.limit = limitOf(grant, limits["query.points"]);
    this.deadline = performance.now() + limits["query.deadlineMs"];
    this.#hold = service.admission.hold();
    this.onEnd(() => grant.release());
    this.onEnd(() => this.#hold.release());
    reply.raw.once("close", () => {
      if (!reply.raw.writableFinished) this.#gone.abort(new CancelledError());
      this.#end();
    });
  }

  /** Aborts when the caller goes away before the answer is out. */
  get signal(): AbortSignal {
    return this.#gone.signal;
  }

  /** Takes note of points; a promise where reading has to wait. */
  admit(count: number): Promise<void> | undefined {
    this.#request.facts.points += count;
    return this.#hold.add(count);
  }

  /** Waits for a slot to be answered in. */
  async enter(): Promise<void> {
    const left = Math.max(0, this.deadline - performance.now());
    this.onEnd(await this.#service.admission.slot(left, this.signal));
  }

  /** Does something when the request is over: at once if it is. */
  onEnd(release: () => void): void {
    if (this.#over) release();
    else this.#releases.push(release);
  }

  #end(): void {
    this.#over = true;
    for (const release of this.#releases.splice(0)) release();
  }
}
