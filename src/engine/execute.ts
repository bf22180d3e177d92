/** A running query: cuts points into batches as they arrive, runs them on the pool, joins the results in order. */
import type { Limits } from "../config.js";
import { CancelledError, DeadlineError, FieldprobeError, LimitError, RequestError, WorkerError } from "../errors.js";
import { RECORDS } from "../operations.js";
import type { Dataset } from "../storage/grid.js";
import type { BufferPool } from "./buffers.js";
import type { CheckedQuery } from "./check.js";
import { Collector } from "./collector.js";
import { BATCH_POINTS } from "./memory.js";
import type { Pool } from "./pool.js";
import type { Evaluation, Result } from "./query.js";
import type { BatchTask, Segment } from "./task.js";

/** Float32 values that the result of one batch may have, so that results with many numbers a point come in pieces. */
const BATCH_VALUES = 4 * 1024 * 1024;
/** Fewest points worth a batch of their own, and batches per worker that waiting points are cut into. */
const CUTS = {
  echo: { smallest: 1, perWorker: 1 },
  points: { smallest: 1024, perWorker: 1 },
  force: { smallest: 1024, perWorker: 1 },
  track: { smallest: 64, perWorker: 1 },
  filter: { smallest: 1, perWorker: 4 },
} as const;
/** How long a batch may go on after it was told to stop before its thread is ended. */
const KILL_AFTER_MS = 500;

/** What a running query uses of the engine. */
export interface Workshop {
  readonly pool: Pool;
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
  /** Float32 values in the result of one point. */
  readonly #width: number;
  readonly #source: number;
  readonly #cancel = new Int32Array(new SharedArrayBuffer(4));
  readonly #kill = new AbortController();
  readonly #outs: Float32Array[] = [];
  /** Points that are in batches. */
  #taken = 0;
  #outstanding = 0;
  /** What the query fails with: an error of the whole query (index -1), or that of the failed batch with the lowest index. */
  #failure: { readonly index: number; readonly error: FieldprobeError } | null = null;
  #settle: { resolve: (result: Result) => void; reject: (error: FieldprobeError) => void } | null = null;
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
    this.#width = this.#checked ? this.#checked.itemsPerPoint * RECORDS[this.#checked.operation.result].length : 0;
    this.#source = this.#checked?.dataset ? workshop.sourceOf(this.#checked.dataset) : 0;
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
      this.#failure ??= this.#judgeInput();
      this.#timers.push(setTimeout(() => this.#stop(new DeadlineError()), this.#deadlineMs));
      this.#pump();
    });
  }

  abort(): void {
    this.#stop(new CancelledError());
  }

  /** What can be said of the input only once it is complete. */
  #judgeInput(): { index: number; error: FieldprobeError } | null {
    const { count } = this.points;
    if (count > this.limit.points) {
      const text = `Request size too large (${count} > ${this.limit.points})`;
      return { index: -1, error: new LimitError(this.limit.name, text) };
    }
    const given = this.velocities.count;
    if (given > 0 && given !== count) {
      const text = `InitialV has ${given} vectors for ${count} points.`;
      return { index: -1, error: new RequestError("InvalidRequest", text, { member: "InitialV" }) };
    }
    return null;
  }

  /** Hands out batches while workers have room, then answers if nothing is left to do. */
  #pump(): void {
    const most = 2 * this.#workshop.pool.workers;
    while (!this.#failure && this.#outstanding < most) {
      const task = this.#nextTask();
      if (!task) break;
      const index = this.#outs.length;
      this.#outs.push(task.out);
      void this.#run(index, task);
    }
    this.#answer();
  }

  /** The next batch of the waiting points, or null when there is none worth a batch yet. */
  #nextTask(): BatchTask | null {
    const checked = this.#checked;
    if (!checked?.dataset) return null;
    const { family } = checked.kernel;
    const waiting = this.points.count - this.#taken;
    if (waiting === 0 || this.points.count > this.limit.points) return null;
    const { smallest, perWorker } = CUTS[family];
    if (!this.#settle && (family === "track" || waiting < smallest)) return null;
    const even = Math.ceil(waiting / (perWorker * this.#workshop.pool.workers));
    const largest = Math.max(1, Math.min(BATCH_POINTS, Math.floor(BATCH_VALUES / this.#width)));
    const count = Math.min(waiting, Math.max(smallest, even), largest);
    const first = this.#taken;
    this.#taken += count;
    return {
      kind: "batch",
      query: checked.query,
      kernel: checked.operation.kernel,
      dataset: checked.dataset,
      source: this.#source,
      first,
      points: segmentsOf(this.points.slabs, first, count),
      velocities: this.velocities.count > 0 ? segmentsOf(this.velocities.slabs, first, count) : [],
      count,
      steps: checked.steps,
      step: checked.step,
      itemsPerPoint: checked.itemsPerPoint,
      out: new Float32Array(this.#workshop.buffers.take(4 * count * this.#width), 0, count * this.#width),
      cancel: this.#cancel,
    };
  }

  async #run(index: number, task: BatchTask): Promise<void> {
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

  /** Runs a batch, a second time when the thread that had it died. */
  async #attempt(task: BatchTask): Promise<void> {
    try {
      await this.#workshop.pool.run<null>(task, this.#kill.signal);
    } catch (error) {
      if (!(error instanceof WorkerError) || this.#failure) throw error;
      await this.#workshop.pool.run<null>(task, this.#kill.signal);
    }
  }

  /** Ends the query with an error: at once for its caller, at the next group of points for its batches. */
  #stop(error: FieldprobeError): void {
    if (this.#answered) return;
    this.#failure = { index: -1, error };
    Atomics.store(this.#cancel, 0, 1);
    this.#timers.push(setTimeout(() => this.#kill.abort(), KILL_AFTER_MS).unref());
    this.#answer();
  }

  /** Settles the promise of `finish` as soon as its outcome is certain, and clears up once no batch runs any more. */
  #answer(): void {
    const complete = this.#settle !== null && this.#outstanding === 0;
    if (this.#settle && !this.#answered) {
      if (this.#failure && (complete || this.#failure.index === -1)) {
        this.#answered = true;
        this.#settle.reject(this.#failure.error);
      } else if (complete && (this.#checked?.dataset === null || this.#taken === this.points.count)) {
        this.#answered = true;
        for (const timer of this.#timers) clearTimeout(timer);
        this.#settle.resolve(this.#result());
        return;
      }
    }
    if (this.#failure && this.#outstanding === 0 && (this.#answered || Atomics.load(this.#cancel, 0) === 1))
      this.#clear();
  }

  #result(): Result {
    const checked = this.#checked as CheckedQuery;
    const items = this.points.count * checked.itemsPerPoint;
    const echoed = this.points.slabs.map(({ triples, count }) => triples.subarray(0, 3 * count));
    const { recordTimes } = checked;
    return {
      items,
      itemsPerPoint: checked.itemsPerPoint,
      components: RECORDS[checked.operation.result].length,
      values: checked.dataset === null ? echoed : this.#outs,
      ...(recordTimes ? { recordTimes } : {}),
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
    for (const { buffer } of this.#outs) this.#workshop.buffers.give(buffer as SharedArrayBuffer);
    this.#ended();
  }
}

/** Triples `first .. first + count - 1` of a list of slabs. */
function segmentsOf(slabs: readonly Segment[], first: number, count: number): readonly Segment[] {
  const segments: Segment[] = [];
  let skip = first;
  let left = count;
  for (const slab of slabs) {
    if (left === 0) break;
    if (skip >= slab.count) {
      skip -= slab.count;
      continue;
    }
    const here = Math.min(left, slab.count - skip);
    segments.push({ triples: slab.triples.subarray(3 * skip, 3 * (skip + here)), count: here });
    left -= here;
    skip = 0;
  }
  return segments;
}

/** How many points a query may have, by the limit that binds first. */
function pointLimit(limits: Limits, checked: CheckedQuery | null): { points: number; name: string } {
  const bounds = [{ points: limits["query.points"], name: "query.points" }];
  if (checked?.query.recordEvery !== undefined) {
    bounds.push({ points: Math.floor(limits["query.points"] / checked.itemsPerPoint), name: "query.points" });
  }
  if (checked && checked.steps > 0) {
    bounds.push({ points: Math.floor(limits["query.particleSteps"] / checked.steps), name: "query.particleSteps" });
  }
  if (checked && checked.samples > 1) {
    bounds.push({ points: Math.floor(limits["query.filterSamples"] / checked.samples), name: "query.filterSamples" });
  }
  return bounds.reduce((least, bound) => (bound.points < least.points ? bound : least));
}
