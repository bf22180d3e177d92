/**
 * The thread pool runs tasks on worker threads. Tasks wait in a fair queue; a long task gives its thread up at the end
 * of a time slice when others wait, and continues later. While long tasks occupy all threads, short ones run on an
 * express thread with them; small batches whose bricks are in the cache are evaluated at once.
 */
import type { Logger } from "pino";
import { createSharedMemory } from "../../kernels/simd/index.js";
import type { Config, Limits } from "../../shared/config.js";
import { BusyError, DeadlineError, WorkerError } from "../../shared/errors.js";
import { BrickCache } from "../../storage/bricks/cache.js";
import type { StorePort } from "../../storage/thread/store-port.js";
import { StoreThread } from "../../storage/thread/store-thread.js";
import { createPacker } from "../contract/dataset-copy.js";
import { reviveError } from "../contract/errors-as-data.js";
import { memoryLayout } from "../contract/memory.js";
import { SMALL_WORK } from "../contract/query.js";
import type { BatchTask, Progress, Task, Waited } from "../contract/task.js";
import type { Carrier, RunOptions } from "./carrier.js";
import { createShare, FairQueue, noteWait, type QueryShare } from "./fair-queue.js";
import { InlineBatches } from "./inline-batches.js";
import { ThreadGroup } from "./thread-group.js";

/** Time for which all threads must be busy before the express thread is started. */
const BUSY_MS = 250;
/** Milliseconds of a thread that an evaluation of a field takes, roughly. */
const EVALUATION_MS = 0.005;

/** The settings that a thread pool reads. */
export type PoolSettings = Pick<Config, "workers" | "cacheBytes" | "fd8Legacy"> & {
  readonly stores?: Config["stores"];
  readonly limits: Pick<Limits, "engine.chunkBytes">;
};

/** Starts the worker threads of this process; `log` is told when they cannot be started. */
export function openPool(settings: PoolSettings, log: Pick<Logger, "error" | "warn"> | null = null): Carrier {
  return new ThreadPool(settings, log);
}

/** Longest rest of a task that waits for a store, and its part of the time that the task has waited. */
const MOST_REST_MS = 250;
const REST_PART = 1 / 8;

/** A task that waits or runs. */
interface PoolTask {
  /** A batch or a cutout carries its progress from slice to slice. */
  task: Task;
  readonly share: QueryShare;
  readonly short: boolean;
  readonly expectedMs: number;
  readonly kill: AbortSignal | undefined;
  /** Stops listening to `kill`. */
  forget: () => void;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** Since when it has waited for a store; null: it does not. */
  storeSince: number | null;
  /** When it is worth a thread again. */
  dueAt: number;
  /** Settles when its bricks have been read ahead; null: not begun. */
  ahead: Promise<void> | null;
}

/** The worker threads of this process. */
class ThreadPool implements Carrier {
  readonly parallelism: number;
  readonly attempts = 2;
  readonly cacheBytes: number;
  readonly #cache: BrickCache;
  readonly #contended = new Int32Array(new SharedArrayBuffer(4));
  readonly #threads: ThreadGroup;
  readonly #express: ThreadGroup;
  readonly #inline: InlineBatches;
  readonly #stores: StoreThread;
  readonly #queue = new FairQueue<PoolTask>();
  readonly #pack = createPacker();
  #running = 0;
  /** Whether a task has ended. Until then the data folders are scanned, and there are no queries that could wait. */
  #scanned = false;
  /** Runs while all threads are busy. */
  #busy: NodeJS.Timeout | null = null;
  /** Runs while tasks rest. */
  #resting: NodeJS.Timeout | null = null;

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
    this.#express = new ThreadGroup(setup, 1, 0, this.#cache, this.#stores, report);
    const repair = (): boolean => this.#cache.repair(layout.inlineSeat);
    this.#inline = new InlineBatches({ memory, layout, fd8Legacy }, repair, (err) =>
      log?.warn({ err }, "small batches go to worker threads from now on"),
    );
  }

  runInline(task: BatchTask, share: QueryShare): boolean {
    const since = performance.now();
    // A short task that waits for a thread came first.
    if (this.#queue.size > 0 && this.#queue.peek(({ short, dueAt }) => short && dueAt <= since) !== null) return false;
    const done = this.#inline.run(task);
    if (done) this.#queue.chargeUnqueued(share, performance.now() - since);
    return done;
  }

  inlined(): number {
    return this.#inline.count;
  }

  run<T>(task: Task, { kill, share = createShare(), queryWork }: RunOptions = {}): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const short = isShort(task, queryWork);
      const expectedMs = evaluationsOf(task) * EVALUATION_MS;
      const queued: PoolTask = {
        task,
        share,
        short,
        expectedMs,
        kill,
        forget: () => undefined,
        resolve: resolve as PoolTask["resolve"],
        reject,
        storeSince: null,
        dueAt: 0,
        ahead: null,
      };
      if (kill?.aborted) {
        reject(new DeadlineError());
        return;
      }
      this.#queue.add(queued);
      // A scan of slow folders keeps the threads free: the express thread has time.
      const scan = task.kind === "scan" && task.slow ? this.#queue.take((one) => one === queued) : null;
      if (scan) void this.#serve(scan, this.#express);
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

  cache(): ReturnType<Carrier["cache"]> {
    return this.#cache.status();
  }

  held(): ReturnType<Carrier["held"]> {
    return this.#cache.held();
  }

  connectStores(connection: StorePort): void {
    this.#stores.connect(connection);
  }

  keepStores(locations: ReadonlySet<string>): void {
    this.#stores.keep(locations);
  }

  stores(): StoreThread["status"] {
    return this.#stores.status;
  }

  storeCache(): StoreThread["disk"] {
    return this.#stores.disk;
  }

  async close(): Promise<void> {
    for (const timer of [this.#busy, this.#resting]) if (timer) clearTimeout(timer);
    this.#failWaiting(new WorkerError());
    await Promise.all([this.#threads.close(), this.#express.close()]);
    await this.#stores.close();
  }

  /** Starts tasks on idle threads. */
  #pump(): void {
    const now = performance.now();
    while (this.#threads.idle) {
      const next = this.#queue.take(({ dueAt }) => dueAt <= now);
      if (!next) break;
      void this.#serve(next, this.#threads);
    }
    const short =
      this.#express.ready && this.#express.idle ? this.#queue.take(({ short, dueAt }) => short && dueAt <= now) : null;
    if (short) void this.#serve(short, this.#express);
    this.#watchBusy();
    this.#wakeRested(now);
    Atomics.store(this.#contended, 0, this.#queue.size > 0 && this.#queue.queries > 1 ? 1 : 0);
    this.#readAhead();
  }

  /** If the express thread has nothing else to do, lets it read the bricks of the next batch of a sweep. */
  #readAhead(): void {
    if (!this.#express.ready || !this.#express.idle || this.#queue.queries > 1) return;
    const next = this.#queue.peek(({ task, ahead }) => {
      return ahead === null && task.kind === "batch" && task.places !== null && task.progress === undefined;
    });
    if (next?.task.kind !== "batch") return;
    const done = (): void => this.#pump();
    // The batch itself reports what keeps bricks from being read.
    next.ahead = this.#express.run(this.#pack({ ...next.task, kind: "ahead" }), undefined).then(done, done);
  }

  /**
   * Starts the express thread once all threads have been busy for a while, so that the first short task finds it ready.
   */
  #watchBusy(): void {
    if (this.#threads.idle) {
      if (this.#busy) clearTimeout(this.#busy);
      this.#busy = null;
    } else if (this.#scanned) this.#busy ??= setTimeout(() => this.#warm(), BUSY_MS).unref();
  }

  async #warm(): Promise<void> {
    await this.#express.warm();
    this.#pump();
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
        this.#rest(queued, waits);
        this.#queue.return(queued);
      } else this.#end(queued, () => queued.resolve(outcome.value));
    } catch (error) {
      this.#fail(queued, group, error);
    } finally {
      this.#running--;
      this.#scanned = true;
      this.#pump();
    }
  }

  /** Lets a task that waits for a store rest: other tasks have the threads meanwhile. */
  #rest(queued: PoolTask, waits: boolean): void {
    const now = performance.now();
    queued.storeSince = waits ? (queued.storeSince ?? now) : null;
    queued.dueAt = waits ? now + Math.min(MOST_REST_MS, REST_PART * (now - (queued.storeSince ?? now))) : 0;
  }

  /** Looks at the queue again when the first task has rested. */
  #wakeRested(now: number): void {
    if (this.#resting !== null) return;
    let first = Number.POSITIVE_INFINITY;
    this.#queue.peek(({ dueAt }) => {
      if (dueAt > now) first = Math.min(first, dueAt);
      return false;
    });
    if (first === Number.POSITIVE_INFINITY) return;
    this.#resting = setTimeout(() => {
      this.#resting = null;
      this.#pump();
    }, first - now);
  }

  /**
   * Rejects a task, and all that wait when there is no thread for them; one of the express thread can wait for another.
   */
  #fail(queued: PoolTask, group: ThreadGroup, error: unknown): void {
    if (error instanceof BusyError && group === this.#express) {
      this.#queue.return(queued);
      return;
    }
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

/** A task that has not ended with its time slice as it goes on; null: it has ended. */
function continued(task: Task, value: unknown): Task | null {
  const pauses = task.kind === "batch" || task.kind === "cutout";
  if (!pauses && task.kind !== "search" && task.kind !== "reduce" && task.kind !== "transform") return null;
  const { waits, changes } = (value ?? {}) as Partial<Waited>;
  if (waits && changes !== undefined) return { ...task, waited: value as Waited };
  if (value === null || !pauses) return null;
  return { ...task, progress: value as Progress, waited: null };
}

/** Settles a task once no thread works on it, nor on its bricks. */
function afterAhead({ ahead }: PoolTask, settle: () => void): void {
  if (ahead === null) settle();
  else void ahead.then(settle);
}

/** Whether a task is for the express thread; those of a sweep are if the whole query is short. */
function isShort(task: Task, queryWork = Number.POSITIVE_INFINITY): boolean {
  if (task.kind === "ping") return true;
  const swept = task.kind === "sort" || (task.kind === "batch" && task.places !== null);
  if (swept) return queryWork <= SMALL_WORK;
  return task.kind === "batch" && task.work <= SMALL_WORK;
}

/** Evaluations of a field that a task takes, or a bound on those that take as long; infinite if unknown. */
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
