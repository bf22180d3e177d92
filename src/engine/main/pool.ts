/**
 * Thread pool. Tasks wait in a fair queue; a long one gives up its thread at the end of a time slice when others wait,
 * and continues later. Small batches whose bricks are in the cache are evaluated at once on the caller's thread.
 */
import type { Logger } from "pino";
import { createSharedMemory } from "../../kernels/simd/index.js";
import type { Config, Limits } from "../../shared/config.js";
import { BusyError, DeadlineError, WorkerError } from "../../shared/errors.js";
import { operationOf } from "../../shared/operations.js";
import { BrickCache } from "../../storage/bricks/cache.js";
import type { StorePort } from "../../storage/remote/store-port.js";
import { StoreThread } from "../../storage/remote/store-thread.js";
import { createPacker } from "../contract/dataset-copy.js";
import { reviveError } from "../contract/errors-as-data.js";
import { memoryLayout } from "../contract/memory.js";
import type { BatchTask, Progress, Task, Waited } from "../contract/task.js";
import { createShare, FairQueue, noteWait, type QueryShare } from "./fair-queue.js";
import { InlineBatches } from "./inline-batches.js";
import { ThreadGroup } from "./thread-group.js";
import type { RunOptions, ThreadPool } from "./thread-pool.js";

/** Rough time of one evaluation of a field on a worker. */
const EVALUATION_MS = 0.005;
/** Time spent on a query after which its bricks are read ahead. */
const AHEAD_FROM_MS = 500;
/** Evaluations at a point from which a filter holds its thread for long: it can pause only between points. */
const LONG_POINT_WORK = 8 ** 8;

export type PoolSettings = Pick<Config, "workers" | "cacheBytes" | "fd8Legacy"> & {
  readonly stores?: Config["stores"];
  readonly limits: Pick<Limits, "engine.chunkBytes">;
};

/** Starts the worker threads of this process, and logs when they cannot be started. */
export function openPool(settings: PoolSettings, log: Pick<Logger, "error" | "warn"> | null = null): ThreadPool {
  return new WorkerPool(settings, log);
}

/** Part of the time that a task has waited for a store after which it is tried again, up to the limit below. */
const RETRY_PART = 1 / 8;
const MAX_RETRY_MS = 250;

interface PoolTask {
  /** A batch or a cutout carries its progress from slice to slice. */
  task: Task;
  readonly share: QueryShare;
  readonly expectedMs: number;
  readonly kill: AbortSignal | undefined;
  forget: () => void;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** Start of its wait for a store; null: it does not wait for one. */
  storeSince: number | null;
  dueAt: number;
  /** Settles when its bricks have been read ahead; null: reading ahead has not begun. */
  ahead: Promise<void> | null;
}

class WorkerPool implements ThreadPool {
  readonly parallelism: number;
  readonly attempts = 2;
  readonly cacheBytes: number;
  readonly #cache: BrickCache;
  readonly #contended = new Int32Array(new SharedArrayBuffer(4));
  readonly #threads: ThreadGroup;
  /** One more thread, started on demand: work that holds its thread for long, and reading ahead for sweeps. */
  readonly #spare: ThreadGroup;
  readonly #inline: InlineBatches;
  readonly #stores: StoreThread;
  readonly #queue = new FairQueue<PoolTask>();
  readonly #pack = createPacker();
  #running = 0;
  /** Runs while all tasks that wait are due later. */
  #retry: NodeJS.Timeout | null = null;

  constructor(
    { workers, cacheBytes, limits, fd8Legacy, stores }: PoolSettings,
    log: Pick<Logger, "error" | "warn"> | null,
  ) {
    this.#stores = new StoreThread(stores, (line) => log?.warn(line));
    const layout = memoryLayout(workers + 1, cacheBytes);
    const memory = createSharedMemory(layout.bytes);
    this.#cache = new BrickCache(memory.buffer as SharedArrayBuffer, layout.cache, -1);
    this.#cache.initialise();
    const chunkBytes = limits["engine.chunkBytes"];
    const words = (): Int32Array => new Int32Array(new SharedArrayBuffer(4 * layout.workers));
    const shared = { contended: this.#contended, loaded: words(), tickets: words() };
    const setup = { memory, layout, chunkBytes, fd8Legacy, ...shared };
    const report = (err: unknown): void => log?.error({ err }, "worker threads cannot be started");
    this.parallelism = workers;
    this.cacheBytes = this.#cache.capacity;
    this.#threads = new ThreadGroup(setup, workers, 1, this.#cache, this.#stores, report);
    this.#spare = new ThreadGroup(setup, 1, 0, this.#cache, this.#stores, report);
    const repair = (): boolean => this.#cache.repair(layout.inlineIndex);
    this.#inline = new InlineBatches({ memory, layout, fd8Legacy }, repair, (err) =>
      log?.warn({ err }, "small batches go to worker threads from now on"),
    );
  }

  runInline(task: BatchTask, share: QueryShare): boolean {
    const since = performance.now();
    const done = this.#inline.run(task);
    if (done) this.#queue.chargeUnqueued(share, performance.now() - since);
    return done;
  }

  inlined(): number {
    return this.#inline.count;
  }

  run<T>(task: Task, { kill, share = createShare() }: RunOptions = {}): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (kill?.aborted) {
        reject(new DeadlineError());
        return;
      }
      const queued: PoolTask = {
        task,
        share,
        expectedMs: evaluationsOf(task) * EVALUATION_MS,
        kill,
        forget: () => undefined,
        resolve: resolve as PoolTask["resolve"],
        reject,
        storeSince: null,
        dueAt: 0,
        ahead: null,
      };
      this.#queue.add(queued);
      if (kill) {
        const drop = () => this.#drop(queued);
        kill.addEventListener("abort", drop, { once: true });
        queued.forget = () => kill.removeEventListener("abort", drop);
      }
      this.#pump();
    });
  }

  alive(): number {
    return this.#threads.loaded;
  }

  queued(): number {
    return this.#queue.size;
  }

  running(): number {
    return this.#running;
  }

  cache(): ReturnType<ThreadPool["cache"]> {
    return this.#cache.status();
  }

  held(): ReturnType<ThreadPool["held"]> {
    return this.#cache.held();
  }

  connectStores(connection: StorePort): void {
    this.#stores.connect(connection);
  }

  keepStores(locations: ReadonlySet<string>, isUsed: boolean): void {
    this.#stores.keep(locations, isUsed);
  }

  stores(): StoreThread["status"] {
    return this.#stores.status;
  }

  storeCache(): StoreThread["disk"] {
    return this.#stores.disk;
  }

  async close(): Promise<void> {
    if (this.#retry) clearTimeout(this.#retry);
    this.#failWaiting(new WorkerError());
    await Promise.all([this.#threads.close(), this.#spare.close()]);
    await this.#stores.close();
  }

  #pump(): void {
    const now = performance.now();
    this.#fill(this.#threads, ({ task, dueAt }) => dueAt <= now && !holdsLong(task));
    this.#fill(this.#spare, ({ task, dueAt }) => dueAt <= now && holdsLong(task));
    this.#retryLater(now);
    Atomics.store(this.#contended, 0, this.#queue.size > 0 && this.#queue.queries > 1 ? 1 : 0);
    this.#readAhead();
  }

  /** Starts the tasks that suit a group while it has idle threads. */
  #fill(group: ThreadGroup, suits: (queued: PoolTask) => boolean): void {
    while (group.idle) {
      const next = this.#queue.take(suits);
      if (!next) return;
      void this.#serve(next, group);
    }
  }

  /** Reads the bricks of the next batch of a sweep on the spare thread, while no other query needs the threads. */
  #readAhead(): void {
    if (!this.#spare.idle || this.#queue.queries > 1) return;
    const next = this.#queue.peek(({ task, ahead, share }) => {
      if (task.kind !== "batch" || task.outIndices === null || task.progress !== undefined) return false;
      return ahead === null && share.served >= AHEAD_FROM_MS;
    });
    if (next?.task.kind !== "batch") return;
    const done = (): void => this.#pump();
    // The batch need not wait for the thread to start, and reports failed reads itself.
    const isStarted = this.#spare.loaded > 0;
    const task = isStarted ? this.#pack({ ...next.task, kind: "ahead" }) : ({ kind: "ping" } as const);
    const ended = this.#spare.run(task, undefined).then(done, done);
    if (isStarted) next.ahead = ended;
  }

  /** Serves a task for a time slice, then settles it or puts it back. */
  async #serve(queued: PoolTask, group: ThreadGroup): Promise<void> {
    const since = performance.now();
    this.#running++;
    try {
      const outcome = await group.run(this.#pack(queued.task), queued.kill);
      this.#queue.charge(queued, performance.now() - since);
      if (!outcome.ok) throw reviveError(outcome);
      const next = continued(queued.task, outcome.value);
      if (next !== null && !queued.kill?.aborted) {
        const waits = (outcome.value as Progress | Waited).waits ?? false;
        noteWait(queued.share, waits);
        queued.task = next;
        scheduleRetry(queued, waits);
        this.#queue.return(queued);
      } else this.#end(queued, () => queued.resolve(outcome.value));
    } catch (error) {
      this.#fail(queued, error);
    } finally {
      this.#running--;
      this.#pump();
    }
  }

  /** Looks at the queue again when the first task that waits for a store is due. */
  #retryLater(now: number): void {
    if (this.#retry !== null) return;
    let first = Number.POSITIVE_INFINITY;
    this.#queue.peek(({ dueAt }) => {
      if (dueAt > now) first = Math.min(first, dueAt);
      return false;
    });
    if (first === Number.POSITIVE_INFINITY) return;
    this.#retry = setTimeout(() => {
      this.#retry = null;
      this.#pump();
    }, first - now);
  }

  /** Rejects a task, and all that wait when there is no thread for them. */
  #fail(queued: PoolTask, error: unknown): void {
    this.#end(queued, () => queued.reject(error));
    if (error instanceof BusyError && this.#threads.alive === 0) this.#failWaiting(error);
  }

  #failWaiting(error: unknown): void {
    for (let waiting = this.#queue.take(); waiting; waiting = this.#queue.take()) {
      const { reject } = waiting;
      this.#end(waiting, () => reject(error));
    }
  }

  /** Rejects a killed task that waits; one that runs is rejected when its thread has ended. */
  #drop(queued: PoolTask): void {
    if (!this.#queue.remove(queued)) return;
    noteWait(queued.share, false);
    afterAhead(queued, () => queued.reject(new DeadlineError()));
  }

  #end(queued: PoolTask, settle: () => void): void {
    queued.forget();
    noteWait(queued.share, false);
    this.#queue.ended(queued);
    afterAhead(queued, settle);
  }
}

/** The rest of a task that did not end within its time slice; null: it has ended. */
function continued(task: Task, value: unknown): Task | null {
  const pauses = task.kind === "batch" || task.kind === "cutout";
  if (!pauses && task.kind !== "search" && task.kind !== "reduce" && task.kind !== "transform") return null;
  const { waits, changes } = (value ?? {}) as Partial<Waited>;
  if (waits && changes !== undefined) return { ...task, waited: value as Waited };
  if (value === null || !pauses) return null;
  return { ...task, progress: value as Progress, waited: null };
}

/** Settles a task once no thread works on it or on its bricks. */
function afterAhead({ ahead }: PoolTask, settle: () => void): void {
  if (ahead === null) settle();
  else void ahead.then(settle);
}

/** Whether a task may occupy its thread for seconds. It gets no worker, so that other queries keep theirs. */
function holdsLong(task: Task): boolean {
  if (task.kind !== "batch") return task.kind === "draft" || (task.kind === "scan" && task.slow);
  return task.work >= LONG_POINT_WORK * task.count && operationOf(task.query.operation).family === "filter";
}

/** Sets when a task is tried next: a task that waits for a store leaves the threads to others for a while. */
function scheduleRetry(queued: PoolTask, waits: boolean): void {
  const now = performance.now();
  queued.storeSince = waits ? (queued.storeSince ?? now) : null;
  queued.dueAt = waits ? now + Math.min(MAX_RETRY_MS, RETRY_PART * (now - (queued.storeSince ?? now))) : 0;
}

/** Evaluations of a field that a task needs, or an equivalent bound; infinite if unknown. */
function evaluationsOf(task: Task): number {
  switch (task.kind) {
    case "batch":
      return task.work;
    case "sort":
    case "join":
      return task.count;
    case "search":
    case "cutout":
    case "reduce":
      return task.region.count.reduce((product, count) => product * count, task.region.width ** 3);
    case "transform":
      return task.count * task.plan.nodes[0] * task.plan.nodes[1] * task.plan.columns.length;
    case "ping":
      return 0;
    default:
      return Number.POSITIVE_INFINITY;
  }
}
