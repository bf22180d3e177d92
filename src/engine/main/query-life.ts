/** Life of a running query: its deadline, its tasks and its end. */
import { setMaxListeners } from "node:events";
import type { Limits } from "../../shared/config.js";
import { busyStore, CancelledError, DeadlineError, type FieldprobeError } from "../../shared/errors.js";
import { type Dataset, storeOf } from "../../storage/dataset/dataset.js";
import type { TextWorkers } from "../../text/text-task.js";
import type { Result, StartControl } from "../contract/query.js";
import type { Task } from "../contract/task.js";
import type { BufferPool } from "./buffers.js";
import { createShare, type QueryShare } from "./fair-queue.js";
import type { ScratchSpace } from "./scratch-space.js";
import type { Sharing, SharingControl } from "./sharing.js";
import type { TextThreads } from "./text-threads.js";
import { runWithRetries, type ThreadPool } from "./thread-pool.js";

/** Time after which the thread of a task that ignores its cancel flag is ended. */
const KILL_AFTER_MS = 500;

/** The parts of the engine that a running query uses. */
export interface QueryContext {
  readonly pool: ThreadPool;
  readonly sharing: Sharing | null;
  readonly buffers: BufferPool;
  readonly textThreads: TextThreads;
  readonly limits: Limits;
  readonly scratch: ScratchSpace;
  /** Numbers in the brick cache: of the dataset's first field, and of the combined bricks of a query. */
  sourceOf(dataset: Dataset): number;
  numberCombination(): number;
  /** Adds to the count of points held for queries; negative when they are given back. */
  countPoints(points: number): void;
  onError(error: unknown): void;
}

export interface LifeControl extends Pick<StartControl, "client" | "onStoreWait" | "background"> {
  /** Time that the result may take after the end of the input. */
  readonly deadlineMs: number;
  /** Called once the result is released, or the query failed and its last task has ended. */
  readonly ended: () => void;
}

interface LifeEvents {
  /** Called once, when the query as a whole fails. */
  readonly failed: (error: FieldprobeError) => void;
  /** Gives buffers back; called once, when neither a task nor a reader uses them any more. */
  readonly release: () => void;
  readonly dataset: () => Dataset | null;
}

/**
 * The life of a query. It is over when the query has failed or its result is complete, and released when in addition
 * no task runs and the result is not being read.
 */
export class QueryLife {
  readonly share: QueryShare;
  readonly #context: QueryContext;
  readonly #control: LifeControl;
  readonly #events: LifeEvents;
  /** Word 0 becomes 1 when worker threads may stop; made on demand, since small batches need none. */
  #cancel: Int32Array | null = null;
  #stop: AbortController | null = null;
  #kill: AbortController | null = null;
  #killTimer: NodeJS.Timeout | undefined;
  #clock: NodeJS.Timeout | undefined;
  /** The deadline on the clock of `Date.now`; null while input arrives or a reader sets the pace. */
  #deadline: number | null = null;
  #running = 0;
  #over = false;
  #inUse = false;
  #released = false;

  constructor(context: QueryContext, control: LifeControl, events: LifeEvents) {
    this.#context = context;
    this.#control = control;
    this.#events = events;
    this.share = createShare(control.client, (waits) => this.#reportWait(waits), control.background);
  }

  get textThreads(): TextWorkers {
    return this.#context.textThreads.of(this.share);
  }

  get over(): boolean {
    return this.#over;
  }

  get idle(): boolean {
    return this.#running === 0;
  }

  get running(): number {
    return this.#running;
  }

  get cancel(): Int32Array {
    this.#cancel ??= new Int32Array(new SharedArrayBuffer(4));
    return this.#cancel;
  }

  startClock(): void {
    const { deadlineMs } = this.#control;
    this.#deadline = Date.now() + deadlineMs;
    this.#clock = setTimeout(() => this.fail(new DeadlineError()), deadlineMs);
  }

  #stopClock(): void {
    clearTimeout(this.#clock);
    this.#deadline = null;
  }

  /** Waits for a part of a streamed result; each has the deadline of a result. */
  async timed<T>(part: Promise<T>): Promise<T> {
    this.startClock();
    return part.finally(() => this.#stopClock());
  }

  /** The conditions under which peers evaluate parts of the query. */
  get sharing(): SharingControl {
    this.#stop ??= new AbortController();
    const deadline = this.#deadline ?? Date.now() + this.#control.deadlineMs;
    return { deadline, signal: this.#stop.signal, client: this.#control.client };
  }

  run<T>(task: Task, isWanted = () => !this.#over): Promise<T> {
    if (this.#kill === null) {
      this.#kill = new AbortController();
      // Every task listens to the signal.
      setMaxListeners(0, this.#kill.signal);
    }
    const options = { kill: this.#kill.signal, share: this.share };
    return runWithRetries<T>(this.#context.pool, task, options, isWanted);
  }

  async counted<T>(work: () => Promise<T>): Promise<T> {
    this.#running++;
    try {
      return await work();
    } catch (error) {
      this.#context.onError(error);
      throw error;
    } finally {
      this.#running--;
      this.#releaseIfUnused();
    }
  }

  /** Reports that the query begins or ceases to wait for a store, and fails if that is refused. */
  #reportWait(waits: boolean): void {
    const dataset = this.#events.dataset();
    if (dataset && this.#control.onStoreWait?.(waits ? storeOf(dataset) : null) === false) this.fail(busyStore());
  }

  /** Fails the query, unless it is over: at once for its caller, at the next group of points for its tasks. */
  fail(error: FieldprobeError): void {
    if (this.#over) return;
    this.#end();
    this.#events.failed(error);
    this.#releaseIfUnused();
  }

  abort(): void {
    this.fail(new CancelledError());
  }

  /** Hands out a complete result, which is in use until it is released. */
  handOut(result: Omit<Result, "texts" | "release">): Result {
    this.#inUse = !this.#over;
    this.#over = true;
    this.#stopClock();
    return this.#releasable(result);
  }

  /** Hands out a result in parts, whose reader sets the pace; the query may still fail. */
  handOutParts(result: Omit<Result, "texts" | "release">): Result {
    this.#inUse = !this.#over;
    this.#stopClock();
    return this.#releasable(result);
  }

  #releasable(result: Omit<Result, "texts" | "release">): Result {
    const release = (): void => {
      if (!this.#inUse) return;
      this.#inUse = false;
      if (!this.#over) this.#end();
      this.#releaseIfUnused();
    };
    return { ...result, textThreads: this.textThreads, release };
  }

  /** Ends the query: asks running tasks to end, and terminates the threads of tasks that do not. */
  #end(): void {
    this.#over = true;
    this.#stopClock();
    if (this.#cancel !== null) Atomics.store(this.#cancel, 0, 1);
    this.#stop?.abort();
    if (this.#running > 0) this.#killTimer = setTimeout(() => this.#kill?.abort(), KILL_AFTER_MS).unref();
  }

  #releaseIfUnused(): void {
    if (!this.#over || this.#inUse || this.#running > 0 || this.#released) return;
    this.#released = true;
    clearTimeout(this.#killTimer);
    this.#events.release();
    this.#control.ended();
  }
}
