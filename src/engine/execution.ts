/** A running query: cuts points into batches as they arrive, runs them on a carrier, joins the results in order. */
import { setMaxListeners } from "node:events";
import type { Limits } from "../config.js";
import {
  CancelledError,
  DeadlineError,
  FieldprobeError,
  LimitError,
  RequestError,
  tooManyPoints,
  WorkerError,
} from "../errors.js";
import { RECORDS } from "../operations.js";
import type { Dataset } from "../storage/dataset.js";
import type { Carrier } from "./carrier.js";
import { type CheckedQuery, recordTimes } from "./check.js";
import { type Cutter, cutByArrival, type Job } from "./plan/by-arrival.js";
import { cutBySweep, exceedsCache, planSweep } from "./plan/by-sweep.js";
import type { BufferPool } from "./points/buffers.js";
import { Collector } from "./points/collector.js";
import { pointLimit } from "./points/point-limit.js";
import { notFiniteError } from "./points/positions.js";
import type { Evaluation, Result } from "./query.js";
import type { BatchTask, SortTask } from "./task.js";

/** Fewest points for which data that does not fit the cache is swept: fewer touch few bricks anyway. */
const SWEEP_FROM = 128;
/** How long a batch may go on after it was told to stop before its thread is ended. */
const KILL_AFTER_MS = 500;

/** What a running query uses of the engine. */
export interface Workshop {
  readonly carrier: Carrier;
  readonly buffers: BufferPool;
  readonly limits: Limits;
  /** Number of the dataset's first field in the brick cache. */
  sourceOf(dataset: Dataset): number;
  /** Told by how much the number of points held for queries changes. */
  hold(points: number): void;
}

/**
 * Starts a query.
 *
 * @param checked    the query as found good, or the error that `finish` is to report once the input has been read
 * @param deadlineMs how long the result may take, from the end of the input on
 * @param ended      called once nothing of the query is left: its result released, or its last batch over after a failure
 */
export function execute(
  workshop: Workshop,
  checked: CheckedQuery | FieldprobeError,
  deadlineMs: number,
  ended: () => void,
): Evaluation {
  return new Execution(workshop, checked, deadlineMs, ended);
}

class Execution implements Evaluation {
  readonly points: Collector;
  readonly velocities: Collector;
  readonly limit: { readonly points: number; readonly name: string };
  readonly #workshop: Workshop;
  readonly #checked: CheckedQuery | null;
  readonly #deadlineMs: number;
  readonly #ended: () => void;
  /** Made with the first piece of work: `cancel` tells batches to stop, `kill` ends threads that do not. */
  #brakes: { readonly cancel: Int32Array; readonly kill: AbortController } | null = null;
  #stopped = false;
  /** Chosen at the first piece of work; null: nothing to compute. */
  #cutter: Cutter | null = null;
  #outstanding = 0;
  /** Tasks handed to the carrier so far. */
  #handed = 0;
  /** What the query fails with: an error of the whole query (index -1), or that of the failed batch with the lowest index. */
  #failure: { readonly index: number; readonly error: FieldprobeError } | null = null;
  #settle: { resolve: (result: Result) => void; reject: (error: FieldprobeError) => void } | null = null;
  /** When the result is due, once the input is complete. */
  #deadline: number | null = null;
  #answered = false;
  #cleared = false;
  readonly #timers: NodeJS.Timeout[] = [];

  constructor(workshop: Workshop, checked: CheckedQuery | FieldprobeError, deadlineMs: number, ended: () => void) {
    this.#workshop = workshop;
    this.#ended = ended;
    this.#deadlineMs = deadlineMs;
    this.#checked = checked instanceof FieldprobeError ? null : checked;
    if (checked instanceof FieldprobeError) this.#failure = { index: -1, error: checked };
    this.limit = pointLimit(workshop.limits, this.#checked);
    const keep = this.#checked !== null;
    this.points = new Collector(workshop.buffers, keep, (count) => {
      this.#workshop.hold(count);
      this.#pump();
    });
    this.velocities = new Collector(workshop.buffers, keep, () => {});
  }

  finish(): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
      const error = this.#failure ? null : this.#judgeInput();
      if (error) this.#stop(error);
      const failed = this.#failure?.index === -1;
      if (!failed) this.#deadline = Date.now() + this.#deadlineMs;
      this.#pump();
      if (!failed && !this.#answered) {
        this.#timers.push(setTimeout(() => this.#stop(new DeadlineError()), this.#deadlineMs));
      }
    });
  }

  abort(): void {
    this.#stop(new CancelledError());
  }

  /** What can be said of the input only once it is complete. */
  #judgeInput(): FieldprobeError | null {
    const { count } = this.points;
    const records = this.#checked?.itemsPerPoint ?? 1;
    const most = this.#workshop.limits["query.points"];
    if (records > most) {
      const what = this.#checked?.operation.family === "track" ? "A path" : "The answer at a point";
      return new LimitError("query.points", `${what} has too many records (${records} > ${most})`);
    }
    if (count > this.limit.points) {
      return tooManyPoints(this.limit.name, count, this.limit.points);
    }
    const given = this.velocities.count;
    if (given > 0 && given !== count) {
      const text = `InitialV has ${given} vectors for ${count} points.`;
      return new RequestError("InvalidRequest", text, { member: "InitialV" });
    }
    const echoed = this.#checked?.operation.family === "echo" ? notFiniteError(this.points.slabs, "points") : null;
    return echoed ?? notFiniteError(this.velocities.slabs, "InitialV");
  }

  /** Hands out batches while workers have room, then answers if nothing is left to do. */
  #pump(): void {
    const most = 2 * this.#workshop.carrier.parallelism;
    while (!this.#failure && this.#outstanding < most) {
      const task = this.#nextTask();
      if (!task) break;
      void this.#run(this.#handed++, task);
    }
    this.#answer();
  }

  /** The next piece of work, or null when there is none now. */
  #nextTask(): BatchTask | SortTask | null {
    const ended = this.#settle !== null;
    if (this.points.count === 0 || this.points.count > this.limit.points) return null;
    this.#cutter ??= this.#chooseCutter(ended);
    const task = this.#cutter?.next(ended, this.#outstanding) ?? null;
    return task?.kind === "batch" && this.#deadline !== null ? { ...task, deadline: this.#deadline } : task;
  }

  /** By sweep where the data does not fit the cache, which needs all points first; else as points arrive. */
  #chooseCutter(ended: boolean): Cutter | null {
    const { carrier, buffers, sourceOf } = this.#workshop;
    const checked = this.#checked;
    if (!checked?.dataset) return null;
    const beyond = exceedsCache(checked, carrier.cacheBytes);
    if (beyond && !ended) return null;
    this.#brakes = { cancel: new Int32Array(new SharedArrayBuffer(4)), kill: new AbortController() };
    // Every task handed out listens to it.
    setMaxListeners(0, this.#brakes.kill.signal);
    const job: Job = {
      checked: { ...checked, dataset: checked.dataset },
      points: this.points,
      velocities: this.velocities,
      buffers,
      workers: carrier.parallelism,
      source: sourceOf(checked.dataset),
      cancel: this.#brakes.cancel,
    };
    if (!beyond || this.points.count < SWEEP_FROM) return cutByArrival(job);
    return cutBySweep(job, planSweep(job, carrier.cacheBytes));
  }

  async #run(index: number, task: BatchTask | SortTask): Promise<void> {
    this.#outstanding++;
    try {
      await this.#attempt(task);
    } catch (error) {
      const known = error instanceof FieldprobeError ? error : new WorkerError(undefined, error);
      if (!this.#failure || this.#failure.index > index) this.#failure = { index, error: known };
    } finally {
      this.#outstanding--;
      this.#pump();
    }
  }

  /** Runs a batch, again when what had it died. */
  async #attempt(task: BatchTask | SortTask): Promise<void> {
    const { carrier } = this.#workshop;
    for (let left = carrier.attempts - 1; ; left--) {
      try {
        await carrier.run<null>(task, this.#brakes?.kill.signal);
        return;
      } catch (error) {
        if (!(error instanceof WorkerError) || this.#failure || left <= 0 || !repeatable(task)) throw error;
      }
    }
  }

  /** Ends the query with an error: at once for its caller, at the next group of points for its batches. */
  #stop(error: FieldprobeError): void {
    if (this.#answered) return;
    this.#failure = { index: -1, error };
    this.#stopped = true;
    if (this.#brakes) {
      const { cancel, kill } = this.#brakes;
      Atomics.store(cancel, 0, 1);
      this.#timers.push(setTimeout(() => kill.abort(), KILL_AFTER_MS).unref());
    }
    this.#answer();
  }

  /** Settles the promise of `finish` as soon as its outcome is certain, and clears up once no batch runs any more. */
  #answer(): void {
    const complete = this.#settle !== null && this.#outstanding === 0;
    if (this.#settle && !this.#answered) {
      if (this.#failure && (complete || this.#failure.index === -1)) {
        this.#answered = true;
        this.#settle.reject(this.#failure.error);
      } else if (complete && (this.#cutter?.complete() ?? true)) {
        this.#answered = true;
        for (const timer of this.#timers) clearTimeout(timer);
        this.#settle.resolve(this.#result());
        return;
      }
    }
    if (this.#failure && this.#outstanding === 0 && (this.#answered || this.#stopped)) this.#clear();
  }

  #result(): Result {
    const checked = this.#checked as CheckedQuery;
    const items = this.points.count * checked.itemsPerPoint;
    const echoed = this.points.slabs.map(({ triples, count }) => triples.subarray(0, 3 * count));
    const times = recordTimes(checked);
    return {
      items,
      itemsPerPoint: checked.itemsPerPoint,
      components: RECORDS[checked.operation.result].length,
      values: this.#cutter?.values ?? echoed,
      ...(times ? { recordTimes: times } : {}),
      release: () => this.#clear(),
    };
  }

  /** Gives everything back. */
  #clear(): void {
    if (this.#cleared) return;
    this.#cleared = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#workshop.hold(-this.points.count);
    this.points.release();
    this.velocities.release();
    this.#cutter?.release();
    this.#ended();
  }
}

/** Whether a batch that was lost may run again: one that adds to the sums of earlier frames may have done so in part. */
function repeatable(task: BatchTask | SortTask): boolean {
  return task.kind === "sort" || task.pass === null || task.pass.index === 0;
}
