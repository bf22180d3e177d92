/** Lifecycle of one compute request, from its arrival to the end of its answer: authorisation, resources, clean-up. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { isInStore, storeOf } from "../../engine/contract/dataset.js";
import type { Engine, Evaluation, LentMemory, Query, Result } from "../../engine/contract/query.js";
import type { ReducedParts } from "../../engine/contract/reduced-parts.js";
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

/** Minimum cost of a query, in evaluations of a field. */
const QUERY_WORK = 16;

/** Header of answers that depend on accepted guesses. */
const ASSUMED_HEADER = "fieldprobe-assumed";

/** A dataset with the subjects of its accepted guesses and their axes: `u: order, spacing of x y z`. */
function assumedText({ name, assumed }: NonNullable<ReturnType<Engine["find"]>>): string {
  const subjects = assumed.map(({ about, axes }) => `${about}${axes === undefined ? "" : ` of ${axes.join(" ")}`}`);
  return subjects.length === 0 ? "" : `${name}: ${[...new Set(subjects)].join(", ")}`;
}

/** Header with the secret by which the service recognises the tasks of its jobs. */
export const TASK_HEADER = "fieldprobe-task";

/** Most points of a request, and the name of the limit that sets it. */
export type PointLimit = Evaluation["limit"];

/**
 * One compute request. Its steps are `authorise`, `openBody` with `countPoints` and `start`, `acquireSlot`,
 * `finishComputing`, and the answer to its `reader`. It holds a slot from `acquireSlot` to `finishComputing`. Until then
 * its points count as in flight, afterwards the bytes of its answer do. All is released when the client disconnects.
 */
export class RequestLife {
  /** Time slices for work of the request on the event loop. */
  readonly slices: TimeSlices;
  /** Sends the answer at the pace at which the caller reads it. */
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
  taskPoints: number;
  /** Point limit of the token; 0: unlimited. */
  tokenPoints = 0;
  #grant: Grant | null = null;
  #carriedOver = 0;
  #nodesRead = 0;
  #body: Body | null = null;
  /** Work of ended queries: many small queries make a large request. */
  #completedWork = 0;
  #declaredWork = 0;
  /** Records, beyond one per point, that count as points in flight. */
  #countedRecords = 0;
  /** Deadline of the result on the clock of `performance.now`; counts from the end of the body. */
  #deadline: number | null = null;
  #isDisconnected = false;
  #isEnded = false;
  #isRunning = false;
  readonly #lentBlocks: LentMemory[] = [];
  #memory: { readonly bytes: number; readonly giveBack: () => void } = { bytes: 0, giveBack: () => undefined };

  /**
   * Checks a request on arrival, before its body is read. Earlier requests of its connection are answered, so no
   * connection has more than one slot.
   * @param name of the interface, for log and counters
   * @throws HttpRefusal if the body is compressed or too large, or if all slots are taken
   */
  constructor(service: Service, request: FastifyRequest, reply: FastifyReply, name: string) {
    this.slices = service.slices;
    this.task = service.tasks.get(String(request.headers[TASK_HEADER])) ?? null;
    this.#background = this.task !== null;
    this.taskPoints = service.config.limits["query.points"];
    this.#service = service;
    this.#request = request;
    this.#reply = reply;
    refuseEncoded(request.headers["content-encoding"]);
    if (Number(request.headers["content-length"] ?? 0) > service.config.limits["http.bodyBytes"]) throw bodyTooLarge();
    if (!this.#background) service.admission.arrive();
    request.facts.interface = this.#background ? "jobs" : name;
    this.#hold = service.admission.points.hold();
    this.#slot = new RequestSlot(service.admission, request.facts, () => this.#client);
    this.reader = new ReaderPace(service.outgoing, service.config.limits, request.facts, () => {
      // The reader of a task is this process, which may have been paused.
      if (this.task !== null) return;
      request.facts.outcome = "slow";
      reply.raw.destroy();
    });
    reply.raw.on("close", () => this.#end());
  }

  /** Checks the token; null means none. Throws AuthError, LimitError `token.concurrent`. */
  authorise(token: string | null): void {
    // The token of a job was checked when the job was accepted; its limit comes with the task.
    if (this.task !== null) {
      this.tokenPoints = this.task.limit;
      return;
    }
    const { facts } = this.#request;
    const grant = this.#service.auth.authorise(token, (id) => {
      facts.token = id;
    });
    facts.token = grant.id;
    this.tokenPoints = grant.points;
    this.#grant = grant;
    this.#service.connections.know(this.#request.raw.socket);
    this.onEnd(() => grant.release());
  }

  /** The owner of the request: the name of its token, or null; for a task, the owner of its job. */
  get owner(): string | null {
    return this.task === null ? (this.#request.facts.token ?? null) : this.task.owner;
  }

  /** Whether its token may see and confirm data that awaits confirmation. */
  get canManageData(): boolean {
    return this.#grant?.manage ?? false;
  }

  /** The smaller of a limit and the token's limit, less what earlier queries have used (`carryOverPoints`). */
  limit(other: PointLimit): PointLimit {
    const token = this.tokenPoints;
    const limit = token > 0 && token < other.points ? { points: token, name: "token.points" } : other;
    return { ...limit, points: Math.max(0, limit.points - this.#carriedOver) };
  }

  /** Charges the points so far against the limits of the queries that follow. */
  carryOverPoints(): void {
    this.#carriedOver = this.#request.facts.points + this.#nodesRead;
  }

  /** Announces the total work of the request, in evaluations of a field: the minimum size of its slot. */
  declareWork(work: number): void {
    this.#declaredWork = Math.max(work, this.#declaredWork);
  }

  /** Counts a further query of the request against the rate of its token. Throws AuthError `RateLimited`. */
  countFurtherQuery(): void {
    this.#grant?.countFurtherQuery();
  }

  openBody(): Body {
    const { config, slices } = this.#service;
    this.#body = new Body(this.#request.raw, config.limits["http.bodyBytes"], slices);
    return this.#body;
  }

  /** Counts points that were read, weighted by the records of their answers; a promise if reading has to wait. */
  countPoints(count: number): Promise<void> | null {
    this.#request.facts.points += count;
    let records = 1;
    for (const { recordsPerPoint = 1 } of this.#evaluations) records = Math.max(records, recordsPerPoint);
    return count > 0 && !this.#background ? this.#hold.add(Math.ceil(count * records)) : null;
  }

  /** @throws LimitError if a request may not have so many points */
  checkPoints(count: number): void {
    const { points, name } = this.limit({ points: this.#service.config.limits["query.points"], name: "query.points" });
    if (count > points) throw tooManyPoints(name, count, points);
  }

  /** Counts generated points, and waits for memory for their records of three float32 each. Throws LimitError. */
  async reserveGeneratedPoints(points: number, records: number): Promise<void> {
    this.checkPoints(points);
    this.#request.facts.points += points;
    await this.#holdPoints(Math.ceil(points * records));
  }

  /** Waits, without a slot, for the memory of an analysis in place of less. Throws BusyError, CancelledError. */
  async admitMemory(bytes: number): Promise<void> {
    if (this.#isDisconnected) throw new CancelledError();
    if (this.#rehearsal !== null || bytes <= this.#memory.bytes) return;
    this.#memory.giveBack();
    this.#slot.leave();
    const ended = new AbortController();
    this.onEnd(() => ended.abort(new CancelledError()));
    const since = performance.now();
    const { "query.deadlineMs": timeoutMs } = this.#service.config.limits;
    const waitMs = this.#background ? LONGEST_MS : (this.#deadline ?? since + timeoutMs) - since;
    const giveBack = await this.#service.admission.analyses.take(bytes, waitMs, ended.signal);
    this.#request.facts.queueMs += performance.now() - since;
    this.#memory = { bytes, giveBack };
    this.onEnd(giveBack);
  }

  /** Waits until bytes of the body may be kept, and lends memory for them as `floats` does. */
  async lendBytes(bytes: number): Promise<Buffer> {
    await this.#holdPoints(Math.ceil(bytes / BYTES_OF_POINT));
    const { buffer, byteOffset } = this.#lend(bytes);
    return Buffer.from(buffer, byteOffset, bytes);
  }

  /** Reads a JSON body (`readJsonBody`), a long one on a worker thread. Throws RequestError. */
  async readJson(bytes: Buffer): Promise<unknown> {
    if (bytes.length > LONG_BYTES) return this.#service.engine.readJson(bytes, this.#client, this.#background);
    if (bytes.length > SHORT_BYTES) await this.slices.pause();
    return readJsonBody(bytes);
  }

  /** Runs the steps of the request, which may borrow memory by `lendBytes`, `floats` and `doubles`. */
  async run<T>(steps: () => Promise<T>): Promise<T> {
    this.#isRunning = true;
    try {
      return await steps();
    } finally {
      this.#isRunning = false;
      this.#giveBackBlocks();
    }
  }

  /** Runs the steps of a task up to where it would compute. Throws what refuses it before. */
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

  /** Lends uninitialised shared memory until request and steps, which may still write, end. Throws CancelledError. */
  floats(count: number): Float32Array<SharedArrayBuffer> {
    const { buffer, byteOffset } = this.#lend(4 * count);
    return new Float32Array(buffer, byteOffset, count);
  }

  doubles(count: number): Float64Array<SharedArrayBuffer> {
    const { buffer, byteOffset } = this.#lend(8 * count);
    return new Float64Array(buffer, byteOffset, count);
  }

  #lend(bytes: number): Uint8Array<SharedArrayBuffer> {
    if (this.#isDisconnected) throw new CancelledError();
    const lent = this.#service.engine.lend(bytes);
    this.#lentBlocks.push(lent);
    return lent.bytes;
  }

  #giveBackBlocks(): void {
    if (!this.#isEnded || this.#isRunning) return;
    for (const lent of this.#lentBlocks.splice(0)) lent.giveBack();
  }

  async #holdPoints(points: number): Promise<void> {
    if (points > 0 && !this.#background) await this.#hold.add(points);
    if (this.#isDisconnected) throw new CancelledError();
  }

  /** The dataset with a name, in the version that the request found first: all its queries and labels use that. */
  find(name: string): ReturnType<Engine["find"]> {
    const dataset = this.#datasets.get(name) ?? this.#service.engine.find(name);
    if (dataset) this.#datasets.set(name, dataset).set(dataset.name, dataset);
    if (dataset === undefined || dataset.assumed.length === 0) return dataset;
    const texts = new Set([...this.#datasets.values()].map(assumedText).filter((text) => text !== ""));
    this.#reply.header(ASSUMED_HEADER, [...texts].join("; "));
    return dataset;
  }

  /** As `find`. Throws NotFoundError if no dataset has that name. */
  dataset(name: string): NonNullable<ReturnType<Engine["find"]>> {
    this.#request.facts.dataset ??= excerpt(name);
    const dataset = this.find(name);
    if (dataset === undefined) throw unknownDataset(name, this.datasets());
    return dataset;
  }

  datasets(): ReturnType<Engine["datasets"]> {
    return this.#service.engine.datasets();
  }

  /** Starts a query; with `stream` its result may be a stream. It is aborted when the client disconnects. */
  start(query: Query, stream = false, parts: ReducedParts | null = null): Evaluation {
    const { engine, config } = this.#service;
    const timeoutMs = this.#background ? LONGEST_MS : config.limits["query.deadlineMs"];
    const deadlineMs = this.#deadline === null ? timeoutMs : this.#deadline - performance.now();
    if (deadlineMs <= 0) throw new DeadlineError();
    const requested = this.#withDataset(query);
    this.#request.facts.dataset = requested.dataset === undefined ? null : excerpt(requested.dataset);
    const dataset = requested.dataset === undefined ? undefined : this.find(requested.dataset);
    const onStoreWait = this.#slot.storeWait(dataset === undefined || !isInStore(dataset) ? null : storeOf(dataset));
    const common = { deadlineMs, client: this.#client, stream, onStoreWait, background: this.#background, parts };
    const evaluation = engine.start(requested, { ...common, ...(dataset ? { dataset } : {}) });
    this.taskPoints = Math.min(this.taskPoints, evaluation.taskPoints ?? evaluation.limit.points);
    this.#evaluations.add(evaluation);
    this.#nodesRead += evaluation.nodes;
    const { points, name } = this.limit({ points: Number.POSITIVE_INFINITY, name: "query.points" });
    if (evaluation.nodes > points) throw tooManyPoints(name, evaluation.nodes, points);
    if (this.#isDisconnected) evaluation.abort();
    return evaluation;
  }

  /** Adds the dataset to a query that names none: `DEFAULT_DATASET`, or the only dataset served. */
  #withDataset(query: Query): Query {
    if (query.dataset !== undefined && query.dataset !== "") return query;
    if (operationOf(query.operation).family === "echo") return query;
    const served = this.datasets();
    const dataset = this.#service.config.defaultDataset ?? (served.length === 1 ? served[0]?.name : undefined);
    return dataset === undefined ? query : { ...query, dataset };
  }

  forget(evaluation: Evaluation): void {
    if (this.#evaluations.delete(evaluation)) this.#completedWork += Math.max(QUERY_WORK, evaluation.work);
  }

  /**
   * Waits for a slot once the body has been read; a new one if the queries together are no longer small. `extraWork` and
   * `extraRecords` come on top of those of the queries so far.
   */
  async acquireSlot(extraWork = 0, extraRecords = 0): Promise<void> {
    if (this.#isDisconnected) throw new CancelledError();
    // A bad query has no work, and its end says what is wrong.
    if (this.#rehearsal !== null && [...this.#evaluations].every(({ work }) => work > 0)) throw this.#rehearsal;
    if (this.#background) return;
    this.#deadline ??= performance.now() + this.#service.config.limits["query.deadlineMs"];
    let work = this.#completedWork + extraWork;
    for (const evaluation of this.#evaluations) work += evaluation.work;
    work = Math.max(work, this.#declaredWork);
    // Many small queries, evaluated at once, would make one long turn of the event loop.
    if (this.#completedWork > 0) await this.slices.pause();
    if (this.#slot.isFor(work)) return;
    this.#slot.leave();
    await this.#holdRecords(extraRecords);
    await this.#slot.take(work, this.#deadline);
  }

  /** Counts the records of the answer beyond one per point as points in flight. Holds no slot while it waits. */
  async #holdRecords(extraRecords: number): Promise<void> {
    let records = extraRecords;
    for (const evaluation of this.#evaluations) records += evaluation.extraRecords;
    const wait = records > this.#countedRecords ? this.#hold.add(records - this.#countedRecords) : null;
    this.#countedRecords = Math.max(records, this.#countedRecords);
    if (wait === null) return;
    const since = performance.now();
    await wait;
    this.#request.facts.queueMs += performance.now() - since;
    if (this.#isDisconnected) throw new CancelledError();
  }

  get #client(): unknown {
    return this.#request.facts.token ?? this.#request.raw.socket;
  }

  /** Releases slot and points of complete results, once unread answers leave room. Throws BusyError, CancelledError. */
  async finishComputing(results: readonly Pick<Result, "values" | "heldBytes">[]): Promise<void> {
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

  /** Removes the deadline of a streamed answer, which is computed at the pace of its reader. */
  clearDeadline(): void {
    this.#deadline = null;
  }

  /** Calls `release` when the request has ended; at once if it has. */
  onEnd(release: () => void): void {
    if (this.#isEnded) release();
    else this.#releases.push(release);
  }

  abort(): void {
    for (const evaluation of this.#evaluations) evaluation.abort();
  }

  /** Abandons a failed request whose client has disconnected, or whose answer has begun; false for any other. */
  abandonIfUnanswerable(error: unknown): boolean {
    this.abort();
    const isCancelled = this.#isDisconnected || error instanceof CancelledError;
    if (!isCancelled && !this.#reply.raw.headersSent) return false;
    const { facts, id, log } = this.#request;
    facts.outcome = isCancelled ? "cancelled" : "Internal";
    if (!isCancelled) log.error({ reqId: id, err: error }, "an answer could not be completed");
    this.#reply.hijack();
    this.#reply.raw.destroy();
    return true;
  }

  /** Releases everything: the answer has been sent, or the client has disconnected. */
  #end(): void {
    if (!this.#reply.raw.writableFinished) {
      this.#isDisconnected = true;
      this.#body?.close();
      this.abort();
    }
    this.#isEnded = true;
    this.#slot.end();
    this.#hold.release();
    this.reader.end();
    for (const release of this.#releases.splice(0)) release();
    this.#giveBackBlocks();
  }
}
