/** Life of one computing request, from its arrival to the end of its answer: its rights, its resources and its end. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { isInStore, storeOf } from "../../engine/contract/dataset.js";
import type { Engine, Evaluation, LentMemory, Query, Result } from "../../engine/contract/query.js";
import { LONGEST_MS } from "../../shared/config.js";
import { CancelledError, DeadlineError, excerpt, tooManyPoints, unknownDataset } from "../../shared/errors.js";
import { operationOf } from "../../shared/operations.js";
import { readJsonBody } from "../../text/json-body.js";
import type { Grant } from "./auth.js";
import { Body } from "./body.js";
import type { PointsHold } from "./policies/points-in-flight.js";
import { ReaderPace } from "./policies/reader-pace.js";
import { RequestSlot } from "./policies/request-slot.js";
import type { TimeSlices } from "./policies/time-slices.js";
import { bodyTooLarge, refuseEncoded } from "./refusal.js";
import type { Service, ServiceTask } from "./service.js";

/** Size below which answers are not counted: their text goes to the socket in one write. */
const UNCOUNTED_BYTES = 16 * 1024;

/** Bytes that count as one point in flight: three float32. */
const BYTES_OF_POINT = 12;

/** Length up to which a JSON text is read at once; a worker thread reads longer ones. */
const SHORT_BYTES = 4 * 1024;
const LONG_BYTES = 256 * 1024;

/** Least cost of a query, in evaluations of a field. */
const QUERY_WORK = 16;

/** Header of answers that depend on accepted guesses. */
const ASSUMED_HEADER = "fieldprobe-assumed";

/** A dataset and the subjects of its accepted guesses with their axes: `u: order, spacing of x y z`. */
function assumedText({ name, assumed }: NonNullable<ReturnType<Engine["find"]>>): string {
  const subjects = assumed.map(({ about, axes }) => `${about}${axes === undefined ? "" : ` of ${axes.join(" ")}`}`);
  return subjects.length === 0 ? "" : `${name}: ${[...new Set(subjects)].join(", ")}`;
}

/** Header with the secret by which the service recognises the tasks of its jobs. */
export const TASK_HEADER = "fieldprobe-task";

/** Most points of a request, and the name of the limit that sets it. */
export type PointLimit = Evaluation["limit"];

/**
 * The life of a request, in this order: `authorise`, `openBody` with `admit` and `start`, `enter`, `computed`,
 * the answer to its `reader`. A slot is held from `enter` to `computed`, points are held until `computed`, and from
 * then on the answer counts by its bytes. Everything is given back when the caller leaves, at whatever step.
 */
export class RequestLife {
  /** The clock of the event loop, for work of the request on it. */
  readonly slices: TimeSlices;
  /** Its caller, who reads the answer. */
  readonly reader: ReaderPace;
  readonly #service: Service;
  readonly #request: FastifyRequest;
  readonly #reply: FastifyReply;
  readonly #hold: PointsHold;
  readonly #slot: RequestSlot;
  readonly #releases: (() => void)[] = [];
  readonly #evaluations = new Set<Evaluation>();
  readonly #datasets = new Map<string, NonNullable<ReturnType<Engine["find"]>>>();
  /** The task of a job that the service itself sends; null for a request of a caller. */
  readonly task: ServiceTask | null;
  #background: boolean;
  /** What ends a rehearsal where it would compute; null: there is none. */
  #rehearsal: Error | null = null;
  /** Most points of a task, for the queries so far. */
  taskPoints: number;
  /** Points that the token admits; 0 for any number. */
  #tokenPoints = 0;
  /** Rights of the token; null until it is checked. */
  #grant: Grant | null = null;
  /** Points and nodes of earlier queries of the request. */
  #settled = 0;
  /** Nodes of the searches and cutouts of the request. */
  #nodes = 0;
  #body: Body | null = null;
  /** Work of ended queries: many small ones are a large request. */
  #done = 0;
  /** See `foresee`. */
  #foreseen = 0;
  /** Records, beyond one per point, that count as points in flight. */
  #records = 0;
  /** Deadline of the result on the clock of `performance.now`; counts from the end of the body. */
  #deadline: number | null = null;
  #gone = false;
  #over = false;
  /** Whether a step of the request still runs. */
  #goesOn = false;
  readonly #lent: LentMemory[] = [];
  /** Memory admitted for the analysis of the request. */
  #memory: { readonly bytes: number; readonly giveBack: () => void } = { bytes: 0, giveBack: () => undefined };

  /**
   * Checks a request on arrival, before its body is read. Earlier requests of its connection are answered, so no
   * connection has more than one slot.
   * @param name of the interface, for log and counters
   * @throws HttpRefusal of a compressed or too large body, or if all slots are taken
   */
  constructor(service: Service, request: FastifyRequest, reply: FastifyReply, name: string) {
    this.slices = service.slices;
    this.task = service.tasks.get(String(request.headers[TASK_HEADER])) ?? null;
    this.#background = this.task !== null;
    this.taskPoints = service.config.limits["query.points"];
    this.#service = service;
    this.#request = request;
    this.#reply = reply;
    const { headers } = request;
    refuseEncoded(headers["content-encoding"]);
    if (Number(headers["content-length"] ?? 0) > service.config.limits["http.bodyBytes"]) throw bodyTooLarge();
    if (!this.#background) service.admission.arrive();
    request.facts.interface = this.#background ? "jobs" : name;
    this.#hold = service.admission.points.hold();
    this.#slot = new RequestSlot(service.admission, request.facts, () => this.#client);
    this.reader = new ReaderPace(service.outgoing, service.config.limits, request.facts, () => this.#cut());
    reply.raw.on("close", () => this.#end());
  }

  /** Checks the token, null if the request has none. @throws AuthError, LimitError `token.concurrent` */
  authorise(token: string | null): void {
    // The token of a job was checked when the job was accepted; its limit comes with the task.
    if (this.task !== null) {
      this.#tokenPoints = this.task.limit;
      return;
    }
    const { facts } = this.#request;
    const grant = this.#service.auth.authorise(token, (id) => {
      facts.token = id;
    });
    facts.token = grant.id;
    this.#tokenPoints = grant.points;
    this.#grant = grant;
    this.#service.connections.know(this.#request.raw.socket);
    this.onEnd(() => grant.release());
  }

  /** The owner of the request: the name of its token, or null; for a task, the owner of its job. */
  get owner(): string | null {
    return this.task === null ? (this.#request.facts.token ?? null) : this.task.owner;
  }

  /** Most points of its token; 0: any number. */
  get tokenPoints(): number {
    return this.#tokenPoints;
  }

  /** Whether its token may see and confirm data that wait. */
  get manages(): boolean {
    return this.#grant?.manage ?? false;
  }

  /** The smaller of a limit and that of the token, less what queries before the last `settle` have used. */
  limit(other: PointLimit): PointLimit {
    const token = this.#tokenPoints;
    const limit = token > 0 && token < other.points ? { points: token, name: "token.points" } : other;
    return { ...limit, points: Math.max(0, limit.points - this.#settled) };
  }

  /** Counts the points so far against the limits of the queries that follow. */
  settle(): void {
    this.#settled = this.#request.facts.points + this.#nodes;
  }

  /** Announces the total work of a request in evaluations of a field; its slot is for no less. */
  foresee(work: number): void {
    this.#foreseen = Math.max(work, this.#foreseen);
  }

  /** Counts a further query of the request against the rate of its token. @throws AuthError `RateLimited` */
  another(): void {
    this.#grant?.another();
  }

  /** Begins to read the body. */
  openBody(): Body {
    const { config, slices } = this.#service;
    this.#body = new Body(this.#request.raw, config.limits["http.bodyBytes"], slices);
    return this.#body;
  }

  /** Counts points read, by the records of their answers; a promise if reading has to wait. */
  admit(count: number): Promise<void> | null {
    this.#request.facts.points += count;
    let records = 1;
    for (const { pointRecords = 1 } of this.#evaluations) records = Math.max(records, pointRecords);
    return count > 0 && !this.#background ? this.#hold.add(Math.ceil(count * records)) : null;
  }

  /** @throws LimitError for more points than a request may have */
  checkPoints(count: number): void {
    const { points, name } = this.limit({ points: this.#service.config.limits["query.points"], name: "query.points" });
    if (count > points) throw tooManyPoints(name, count, points);
  }

  /**
   * Counts points that the service makes itself, and waits for room for what it keeps.
   * @param records of three float32 kept for each point
   * @throws LimitError for more points than a request may have
   */
  async reserve(points: number, records: number): Promise<void> {
    this.checkPoints(points);
    this.#request.facts.points += points;
    await this.#holdMore(Math.ceil(points * records));
  }

  /**
   * Waits until the memory of an analysis is admitted, in place of a smaller earlier admission; freed when the request
   * is over. The request holds no slot meanwhile.
   * @throws BusyError if others hold the memory until the deadline, CancelledError if the caller leaves
   */
  async admitMemory(bytes: number): Promise<void> {
    if (this.#gone) throw new CancelledError();
    if (this.#rehearsal !== null || bytes <= this.#memory.bytes) return;
    this.#memory.giveBack();
    this.#slot.leave();
    const left = new AbortController();
    this.onEnd(() => left.abort(new CancelledError()));
    const since = performance.now();
    const { "query.deadlineMs": patience } = this.#service.config.limits;
    const waitMs = this.#background ? LONGEST_MS : (this.#deadline ?? since + patience) - since;
    const giveBack = await this.#service.admission.analyses.take(bytes, waitMs, left.signal);
    this.#request.facts.queueMs += performance.now() - since;
    this.#memory = { bytes, giveBack };
    this.onEnd(giveBack);
  }

  /** Waits for room for bytes of the body that are kept, and lends it as `floats` does. */
  async room(bytes: number): Promise<Buffer> {
    await this.#holdMore(Math.ceil(bytes / BYTES_OF_POINT));
    const { buffer, byteOffset } = this.#lend(bytes);
    return Buffer.from(buffer, byteOffset, bytes);
  }

  /** Reads a JSON body (`readJsonBody`): a long one on a worker thread, others here. @throws RequestError */
  async readJson(bytes: Buffer): Promise<unknown> {
    if (bytes.length > LONG_BYTES) return this.#service.engine.readJson(bytes, this.#client, this.#background);
    if (bytes.length > SHORT_BYTES) await this.slices.pause();
    return readJsonBody(bytes);
  }

  /** Runs the steps of the request, which may take memory by `room`, `floats` and `doubles`. */
  async run<T>(steps: () => Promise<T>): Promise<T> {
    this.#goesOn = true;
    try {
      return await steps();
    } finally {
      this.#goesOn = false;
      this.#giveBack();
    }
  }

  /** Runs the steps of a task up to where it would compute. @throws what refuses it before */
  async rehearse(steps: () => Promise<unknown>): Promise<void> {
    const end = new Error("computing would begin");
    [this.#rehearsal, this.#background] = [end, true];
    try {
      await steps();
    } catch (error) {
      if (error !== end) throw error;
    } finally {
      this.abort();
      [this.#rehearsal, this.#background] = [null, false];
    }
  }

  /**
   * Lends uninitialised shared memory until the request is over and no step of it runs: a step may still write after
   * the caller has left.
   * @throws CancelledError when the caller has left
   */
  floats(count: number): Float32Array<SharedArrayBuffer> {
    const { buffer, byteOffset } = this.#lend(4 * count);
    return new Float32Array(buffer, byteOffset, count);
  }

  /** As `floats`, for numbers of eight bytes. */
  doubles(count: number): Float64Array<SharedArrayBuffer> {
    const { buffer, byteOffset } = this.#lend(8 * count);
    return new Float64Array(buffer, byteOffset, count);
  }

  #lend(bytes: number): Uint8Array<SharedArrayBuffer> {
    if (this.#gone) throw new CancelledError();
    const lent = this.#service.engine.lend(bytes);
    this.#lent.push(lent);
    return lent.bytes;
  }

  #giveBack(): void {
    if (!this.#over || this.#goesOn) return;
    for (const lent of this.#lent.splice(0)) lent.giveBack();
  }

  async #holdMore(points: number): Promise<void> {
    if (points > 0 && !this.#background) await this.#hold.add(points);
    if (this.#gone) throw new CancelledError();
  }

  /** The dataset of a name, in the version that the request met first, for all of its queries and labels. */
  find(name: string): ReturnType<Engine["find"]> {
    const known = this.#datasets.get(name) ?? this.#service.engine.find(name);
    if (known) this.#datasets.set(name, known).set(known.name, known);
    if (known && known.assumed.length > 0) this.#reportAssumed();
    return known;
  }

  /** As `find`. @throws NotFoundError if there is none of that name */
  dataset(name: string): NonNullable<ReturnType<Engine["find"]>> {
    const found = this.find(name);
    if (found === undefined) throw unknownDataset(name, this.datasets());
    return found;
  }

  /** All datasets that are served. */
  datasets(): ReturnType<Engine["datasets"]> {
    return this.#service.engine.datasets();
  }

  /** Reports the assumptions about the requested datasets in a header, which other clients ignore. */
  #reportAssumed(): void {
    const texts = new Set([...this.#datasets.values()].map(assumedText).filter((text) => text !== ""));
    this.#reply.header(ASSUMED_HEADER, [...texts].join("; "));
  }

  /** Begins a query, whose result may be a stream if `stream` is set; it is aborted when the caller leaves. */
  start(query: Query, stream = false): Evaluation {
    const { engine, config } = this.#service;
    const patienceMs = this.#background ? LONGEST_MS : config.limits["query.deadlineMs"];
    const deadlineMs = this.#deadline === null ? patienceMs : this.#deadline - performance.now();
    if (deadlineMs <= 0) throw new DeadlineError();
    const requested = this.#withDataset(query);
    this.#noteDataset(requested.dataset);
    const dataset = requested.dataset === undefined ? undefined : this.find(requested.dataset);
    const onStoreWait = this.#slot.storeWait(dataset === undefined || !isInStore(dataset) ? null : storeOf(dataset));
    const common = { deadlineMs, client: this.#client, stream, onStoreWait, background: this.#background };
    const evaluation = engine.start(requested, { ...common, ...(dataset ? { dataset } : {}) });
    this.taskPoints = Math.min(this.taskPoints, evaluation.taskPoints ?? evaluation.limit.points);
    this.#evaluations.add(evaluation);
    this.#nodes += evaluation.nodes;
    const { points, name } = this.limit({ points: Number.POSITIVE_INFINITY, name: "query.points" });
    if (evaluation.nodes > points) throw tooManyPoints(name, evaluation.nodes, points);
    if (this.#gone) evaluation.abort();
    return evaluation;
  }

  /** Names the dataset of a query without one: `DEFAULT_DATASET`, or the only one that is served. */
  #withDataset(query: Query): Query {
    if (query.dataset !== undefined && query.dataset !== "") return query;
    if (operationOf(query.operation).family === "echo") return query;
    const served = this.datasets();
    const dataset = this.#service.config.defaultDataset ?? (served.length === 1 ? served[0]?.name : undefined);
    return dataset === undefined ? query : { ...query, dataset };
  }

  /** Names the dataset in the access log; all queries of a list of times have the same one. */
  #noteDataset(name: string | undefined): void {
    const { facts } = this.#request;
    if (name === undefined) facts.dataset = null;
    else if (name !== facts.dataset) facts.dataset = excerpt(name);
  }

  /** Forgets a query that has ended. */
  forget(evaluation: Evaluation): void {
    if (this.#evaluations.delete(evaluation)) this.#done += Math.max(QUERY_WORK, evaluation.work);
  }

  /**
   * Waits for a slot once the body has been read. A request that is no longer small, by all of its queries, takes a new
   * slot: large ones may have to wait longer.
   * @param more evaluations of a field besides those of the queries so far
   * @param particleRecords records of their answers, beyond one per point
   */
  async enter(more = 0, particleRecords = 0): Promise<void> {
    if (this.#gone) throw new CancelledError();
    // A bad query has no work, and its end says what is wrong.
    if (this.#rehearsal !== null && [...this.#evaluations].every(({ work }) => work > 0)) throw this.#rehearsal;
    if (this.#background) return;
    this.#deadline ??= performance.now() + this.#service.config.limits["query.deadlineMs"];
    let work = this.#done + more;
    for (const evaluation of this.#evaluations) work += evaluation.work;
    work = Math.max(work, this.#foreseen);
    // Many small queries, evaluated at once, would make one long turn of the event loop.
    if (this.#done > 0) await this.slices.pause();
    if (this.#slot.isFor(work)) return;
    this.#slot.leave();
    await this.#holdRecords(particleRecords);
    await this.#slot.take(work, this.#deadline);
  }

  /**
   * Counts the records of the queries so far as points, beyond the one per point that is counted: answers consist of
   * records. Holds no slot while it waits for room.
   */
  async #holdRecords(more: number): Promise<void> {
    let records = more;
    for (const { particleRecords } of this.#evaluations) records += particleRecords;
    const wait = records > this.#records ? this.#hold.add(records - this.#records) : null;
    this.#records = Math.max(records, this.#records);
    if (wait === null) return;
    const since = performance.now();
    await wait;
    this.#request.facts.queueMs += performance.now() - since;
    if (this.#gone) throw new CancelledError();
  }

  /** The client whose share of slots and worker threads the request uses: its token or its connection. */
  get #client(): unknown {
    return this.#request.facts.token ?? this.#request.raw.socket;
  }

  /**
   * Gives slot and points back: the results are complete, or are streams that count by what they hold. Waits for room
   * among the answers that wait for their readers.
   * @throws BusyError when no room came free before the deadline, CancelledError when the caller has left
   */
  async computed(results: readonly Pick<Result, "values" | "heldBytes">[]): Promise<void> {
    this.#slot.endComputing();
    let bytes = 0;
    for (const { values, heldBytes = 0 } of results) {
      bytes += heldBytes;
      for (const part of values) bytes += part.byteLength;
    }
    if (bytes > UNCOUNTED_BYTES && !this.#background) await this.reader.waitForRoom(bytes, this.#deadline ?? 0);
    this.#slot.leave();
    this.#hold.release();
  }

  /** Marks the answer as computed while it is read: after `computed`, the reader sets the pace. */
  stream(): void {
    this.#deadline = null;
  }

  /** Calls `release` when the request is over, at once if it is. */
  onEnd(release: () => void): void {
    if (this.#over) release();
    else this.#releases.push(release);
  }

  /** Stops the queries of the request. */
  abort(): void {
    for (const evaluation of this.#evaluations) evaluation.abort();
  }

  /**
   * Gives a failed request up if no answer is possible: its caller has left, or its answer has begun.
   * @returns false if the error is still to be answered
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

  #cut(): void {
    this.#request.facts.outcome = "slow";
    this.#reply.raw.destroy();
  }

  /** Ends the life: the answer has been sent, or the caller has left. */
  #end(): void {
    if (!this.#reply.raw.writableFinished) {
      this.#gone = true;
      this.#body?.close();
      this.abort();
    }
    this.#over = true;
    this.#slot.end();
    this.#hold.release();
    this.reader.end();
    for (const release of this.#releases.splice(0)) release();
    this.#giveBack();
  }
}
