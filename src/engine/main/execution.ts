/** Execution of one query at points: plans batches as points arrive, runs them, and returns the result. */
import { FieldprobeError, LimitError, RequestError, tooManyPoints, WorkerError } from "../../shared/errors.js";
import { operationOf, RECORDS } from "../../shared/operations.js";
import type { TextWorkers } from "../../text/text-task.js";
import { recordOf, recordTimes } from "../contract/particle-records.js";
import { particleNumbers } from "../contract/particle-state.js";
import { frameShift, notFiniteError, slabOutsideError } from "../contract/positions.js";
import type { Evaluation, Result, StartControl } from "../contract/query.js";
import type { BatchTask, SortTask } from "../contract/task.js";
import { type CheckedQuery, pointLimit, recordLimit, stepBudgetOf, taskStepsError, workOf } from "./check-query.js";
import { Collector } from "./collector.js";
import { planByArrival } from "./plan/by-arrival.js";
import { planByPeers } from "./plan/by-peers.js";
import { exceedsCache, planBySweep, planFilterBySweep, sweepsFilter } from "./plan/by-sweep.js";
import { planByTiles } from "./plan/by-tiles.js";
import { BATCH_VALUES, MAX_PARTICLES, type Plan, type PlanContext } from "./plan/plan.js";
import { type LifeControl, type QueryContext, QueryLife } from "./query-life.js";
import type { DividedTask } from "./sharing.js";

/** Bytes of a record of three float32. */
export const RECORD_BYTES = 12;
/** Most float32 values in a part of a streamed result. One part per worker and two more may wait unread. */
export const PART_VALUES = 1 << 19;

/** The error of the whole query (index -1), or of its failed task with the lowest index. */
interface QueryFailure {
  readonly index: number;
  readonly error: FieldprobeError;
}

/** `receiving` until `finish` is called, then `awaited`, for streams `streaming` while parts are read, last `settled`. */
type State =
  | { readonly name: "receiving" | "streaming" | "settled" }
  | {
      readonly name: "awaited";
      readonly resolve: (result: Result) => void;
      readonly reject: (error: FieldprobeError) => void;
    };

interface Stream {
  readonly computedParts: Set<number>;
  /** Float32 values of parts that were started and have not been read. */
  unread: number;
  outsideError: FieldprobeError | null;
  wake: () => void;
}

export class Execution implements Evaluation {
  readonly points: Collector;
  readonly velocities: Collector;
  readonly nodes = 0;
  readonly limit: Evaluation["limit"];
  readonly taskPoints: number;
  readonly #context: QueryContext;
  /** Null if the check has failed. */
  readonly #checked: CheckedQuery | null;
  readonly #life: QueryLife;
  readonly #isBackground: boolean;
  #state: State = { name: "receiving" };
  #failure: QueryFailure | null = null;
  #notFinite: FieldprobeError | null = null;
  /** Null before the first task, and for queries without work. */
  #plan: Plan | null = null;
  #started = 0;
  /** Null if the caller takes the result only as a whole. */
  readonly #stream: Stream | null;

  /** @param checked the checked query, or the error that `finish` reports once the input has been read */
  constructor(
    context: QueryContext,
    checked: CheckedQuery | FieldprobeError,
    control: LifeControl & Pick<StartControl, "stream" | "points">,
  ) {
    const { stream = false, points } = control;
    this.#isBackground = control.background ?? false;
    this.#life = new QueryLife(context, control, {
      failed: (error) => this.#onFailure(error),
      release: () => {
        this.#context.countPoints(-this.points.count);
        this.#releaseInput();
        this.#plan?.release();
      },
      dataset: () => this.#checked?.dataset ?? null,
    });
    this.#stream = stream ? { computedParts: new Set(), unread: 0, outsideError: null, wake: () => undefined } : null;
    this.#context = context;
    this.#checked = checked instanceof FieldprobeError ? null : checked;
    if (checked instanceof FieldprobeError) this.#failure = { index: -1, error: checked };
    const limit = pointLimit(context.limits, this.#checked);
    this.taskPoints = Math.max(1, limit.points);
    const records = recordLimit(context.limits, this.#checked);
    // A background query may take as long as it needs, and one point is always admitted.
    this.limit = control.background ? { ...records, points: Math.max(1, records.points) } : limit;
    const stepsError = control.background && this.#checked ? taskStepsError(context.limits, this.#checked) : null;
    if (stepsError !== null) this.#failure = { index: -1, error: stepsError };
    const keepsPoints = this.#checked !== null;
    const commit = (count: number): void => {
      context.countPoints(count);
      this.#checkInside();
      this.#checkFinite();
      this.#advance();
    };
    this.points = new Collector(context.buffers, keepsPoints, commit, points);
    this.velocities = new Collector(context.buffers, keepsPoints, () => {}, points);
  }

  get textThreads(): TextWorkers {
    return this.#life.textThreads;
  }

  get work(): number {
    return this.#checked === null ? 0 : workOf(this.#checked, this.points.count);
  }

  get recordsPerPoint(): number {
    if (this.#checked === null || this.#stream !== null) return 1;
    return Math.max(1, RECORDS[recordOf(this.#checked.operation, this.#checked.query)].length / 3);
  }

  /** Records beyond one per point, plus the memory kept for particles between time slices, in units of a record. */
  get extraRecords(): number {
    const { count } = this.points;
    if (this.#checked === null || count > this.limit.points) return 0;
    const moved = Math.min(count, this.#maxTasks * MAX_PARTICLES);
    return count * (this.#checked.itemsPerPoint - 1) + Math.ceil((8 * moved * this.#particleNumbers) / RECORD_BYTES);
  }

  /** Numbers kept per particle between time slices. */
  get #particleNumbers(): number {
    const { dataset, operation, query } = this.#checked ?? {};
    if (!dataset || query === undefined || operation?.family !== "track") return 0;
    const { positionNumbers, integratorNumbers, exitNumbers } = particleNumbers(query, dataset);
    return positionNumbers + integratorNumbers + exitNumbers;
  }

  /** Most tasks at once; for particles one per thread, since a waiting task would only hold memory. */
  get #maxTasks(): number {
    const { parallelism } = this.#context.pool;
    return this.#checked?.operation.family === "track" ? parallelism : 2 * parallelism;
  }

  finish(): Promise<Result> {
    return new Promise((resolve, reject) => {
      // The query failed while its input arrived.
      if (this.#failure && this.#state.name === "settled") {
        reject(this.#failure.error);
        return;
      }
      this.#state = { name: "awaited", resolve, reject };
      const notFinite = this.#notFinite ?? notFiniteError(this.velocities.slabs, "InitialV");
      const error = this.#countError() ?? notFinite ?? this.#stream?.outsideError ?? null;
      this.#failure ??= error && { index: -1, error };
      if (this.#failure?.index === -1) this.#life.fail(this.#failure.error);
      else this.#advance();
      // An outcome that already exists, such as an echo, needs no deadline.
      if (this.#state.name === "awaited") this.#life.startClock();
    });
  }

  abort(): void {
    this.#life.abort();
  }

  #countError(): FieldprobeError | null {
    const { count } = this.points;
    const records = this.#checked?.itemsPerPoint ?? 1;
    const most = this.#context.limits["query.points"];
    if (records > most) {
      const what = this.#checked?.operation.family === "track" ? "A path" : "The answer at a point";
      return new LimitError("query.points", `${what} has too many records (${records} > ${most})`);
    }
    if (count > this.limit.points) return tooManyPoints(this.limit.name, count, this.limit.points, this.limit.tracking);
    const given = this.velocities.count;
    if (given === count || (given === 0 && this.#checked?.query.diffusion === undefined)) return null;
    return new RequestError("InvalidRequest", `InitialV has ${given} vectors for ${count} points.`, {
      member: "InitialV",
    });
  }

  /** Checks the newest slab of an echo: checking a million points at the end would block the event loop for long. */
  #checkFinite(): void {
    const slab = this.points.slabs.at(-1);
    if (slab === undefined || this.#checked?.operation.family !== "echo") return;
    this.#notFinite ??= notFiniteError([slab], "points", this.points.count - slab.count);
  }

  /** Checks that the newest slab lies inside the domain, before the first part of a streamed result is sent. */
  #checkInside(): void {
    const { slabs, count } = this.points;
    const slab = slabs.at(-1);
    const { dataset, query } = this.#checked ?? {};
    if (this.#stream === null || this.#stream.outsideError !== null || !slab || !dataset) return;
    if (dataset.axes.every(({ periodic }) => periodic)) return;
    const shift = frameShift(dataset.frameVelocity, query?.time ?? query?.StartTime ?? 0);
    this.#stream.outsideError = slabOutsideError(dataset.axes, shift, slab, count - slab.count);
  }

  /** Starts tasks while there is room, then reports the outcome if it is known. */
  #advance(): void {
    while (!this.#failure && !this.#life.over && this.#life.running < this.#maxTasks && this.#hasRoom()) {
      const task = this.#nextTask();
      if (!task) break;
      if (this.#stream !== null && task.kind === "batch") this.#stream.unread += task.out.length;
      const index = this.#started++;
      const whole = task.kind === "divided" ? task.whole : task;
      const isDone = whole.kind === "batch" && this.#tryInline(index, whole);
      if (!isDone) void this.#run(index, task);
    }
    this.#reportOutcome();
  }

  /** Whether another task may start: unread parts of a streamed result are bounded. */
  #hasRoom(): boolean {
    // Only plans by arrival yield parts, which can be dropped; others fill one buffer for the whole result.
    const isWholeResult = this.#plan !== null && this.#plan.drop === undefined;
    return this.#stream === null || isWholeResult || this.#stream.unread < this.#maxUnread;
  }

  get #maxUnread(): number {
    return (this.#context.pool.parallelism + 2) * PART_VALUES;
  }

  #nextTask(): BatchTask | SortTask | DividedTask | null {
    const hasAllPoints = this.#state.name === "awaited" || this.#state.name === "streaming";
    if (this.points.count === 0 || this.points.count > this.limit.points) return null;
    this.#plan ??= this.#makePlan(hasAllPoints);
    return this.#plan?.next(hasAllPoints, this.#life.running) ?? null;
  }

  /**
   * Chooses the plan: by peers if that is worthwhile, by tiles for box filters, whose cubes share sums, by sweep if the
   * data exceed the cache, else by arrival. The first three wait for all points, as do several records per point.
   */
  #makePlan(hasAllPoints: boolean): Plan | null {
    const { pool, sharing, buffers, sourceOf, numberCombination } = this.#context;
    const checked = this.#checked;
    if (!checked?.dataset) return null;
    const isBySweep = exceedsCache(checked, pool.cacheBytes);
    const isDivided = checked.query.weights === undefined && (sharing?.mayDivide(checked) ?? false);
    const isByTiles = checked.operation.family === "box";
    if ((isBySweep || isDivided || isByTiles || checked.itemsPerPoint > 1) && !hasAllPoints) return null;
    const context: PlanContext = {
      checked: { ...checked, dataset: checked.dataset },
      points: this.points,
      velocities: this.velocities,
      buffers,
      parallelism: pool.parallelism,
      source: sourceOf(checked.dataset),
      numberCombination,
      mostValues: this.#stream === null ? BATCH_VALUES : PART_VALUES,
      cancel: this.#life.cancel,
      stepBudget: stepBudgetOf(this.#context.limits, checked, this.#isBackground),
    };
    if (isDivided && sharing?.shouldDivide(checked, this.points.count)) return planByPeers(context, sharing);
    if (isByTiles) return sweepsFilter(context) ? planFilterBySweep(context, pool.cacheBytes) : planByTiles(context);
    return planBySweep(context, pool.cacheBytes) ?? planByArrival(context);
  }

  /** Evaluates a batch on this thread if it holds all the work of a small query. Returns false if it does not. */
  #tryInline(index: number, task: BatchTask): boolean {
    if (task.work !== this.work) return false;
    try {
      if (!this.#context.pool.runInline?.(task, this.#life.share)) return false;
      this.#stream?.computedParts.add(index);
    } catch (error) {
      this.#recordFailure(index, error);
    }
    return true;
  }

  async #run(index: number, task: BatchTask | SortTask | DividedTask): Promise<void> {
    // A failure is recorded while the task still counts as running: once nothing runs, the outcome is reported.
    await this.#life.counted(async () => {
      try {
        // A divided task handles lost peers itself.
        if (task.kind === "divided") await task.run(this.#life.sharing);
        else if (task.kind === "batch" && this.#particleNumbers > 0) await this.#runTracking(task);
        else await this.#life.run<null>(task, () => this.#failure === null);
        this.#stream?.computedParts.add(index);
      } catch (error) {
        this.#recordFailure(index, error);
      }
    });
    this.#advance();
  }

  #recordFailure(index: number, error: unknown): void {
    this.#context.onError(error);
    const failure = error instanceof FieldprobeError ? error : new WorkerError(undefined, error);
    if (!this.#failure || this.#failure.index > index) this.#failure = { index, error: failure };
  }

  /** Runs a tracking batch, with memory for its particles between time slices. */
  async #runTracking(task: BatchTask): Promise<void> {
    const { buffers } = this.#context;
    const particles = buffers.doubles(task.count * this.#particleNumbers);
    try {
      await this.#life.run<null>({ ...task, particles }, () => this.#failure === null);
    } finally {
      buffers.giveBack(particles);
    }
  }

  #onFailure(error: FieldprobeError): void {
    this.#failure = { index: -1, error };
    const state = this.#state;
    this.#state = { name: "settled" };
    if (state.name === "awaited") state.reject(error);
    this.#stream?.wake();
  }

  #reportOutcome(): void {
    const { idle } = this.#life;
    if (this.#state.name === "awaited") {
      const { resolve } = this.#state;
      if (this.#failure) {
        if (idle) this.#life.fail(this.#failure.error);
      } else if (idle && (this.#plan?.isFinished() ?? true)) {
        this.#state = { name: "settled" };
        const result = this.#makeResult();
        // The result of an echo is its input.
        if (this.#plan !== null) this.#releaseInput();
        resolve(this.#life.handOut(result));
      } else if (this.#stream?.computedParts.has(0) && !this.#hasRoom()) {
        this.#state = { name: "streaming" };
        resolve(this.#life.handOutParts(this.#streamedResult()));
      }
    }
    this.#stream?.wake();
  }

  #makeResult(): Omit<Result, "texts" | "release"> {
    const checked = this.#checked as CheckedQuery;
    const echoed = this.points.slabs.map(({ triples, count }) => triples.subarray(0, 3 * count));
    const times = recordTimes(checked);
    const record = recordOf(checked.operation, checked.query);
    return {
      items: this.points.count * checked.itemsPerPoint,
      itemsPerPoint: checked.itemsPerPoint,
      components: RECORDS[record].length,
      ...(record === operationOf(checked.query.operation).result ? {} : { record }),
      values: this.#plan?.values ?? echoed,
      ...(times ? { recordTimes: times } : {}),
    };
  }

  #streamedResult(): Omit<Result, "texts" | "release"> {
    return {
      ...this.#makeResult(),
      values: [],
      stream: this.#parts(),
      heldBytes: RECORD_BYTES * this.points.count + 4 * this.#maxUnread,
    };
  }

  /** The parts in order, each within its own deadline. */
  async *#parts(): AsyncGenerator<Float32Array, undefined> {
    const stream = this.#stream as Stream;
    const plan = this.#plan as Plan;
    for (let part = 0; part < plan.values.length || !plan.isFinished(); part++) {
      await this.#life.timed(this.#untilComputed(stream, part));
      if (this.#failure) throw this.#failure.error;
      const values = plan.values[part];
      yield values;
      stream.unread -= values.length;
      plan.drop?.(part);
      this.#advance();
    }
  }

  async #untilComputed(stream: Stream, part: number): Promise<void> {
    while (!this.#failure && !stream.computedParts.has(part)) {
      await new Promise<void>((resolve) => {
        stream.wake = resolve;
      });
    }
  }

  /** Returns the buffers of the input; a second call does nothing. */
  #releaseInput(): void {
    this.points.release();
    this.velocities.release();
  }
}
