/** Worker threads that are kept alive. Repairs the shared memory after a thread has died. */
import { setTimeout as delay } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import { Piscina } from "piscina";
import { builtFile } from "../../shared/build.js";
import { BusyError, DeadlineError, WorkerError } from "../../shared/errors.js";
import type { BrickCache } from "../../storage/bricks/cache.js";
import type { StorePort } from "../../storage/remote/store-port.js";
import type { StoreThread } from "../../storage/remote/store-thread.js";
import { digestFile } from "../contract/build-digest.js";
import type { TaskMessage, TicketedTask } from "../contract/dataset-copy.js";
import type { WorkerSetup } from "../contract/memory.js";
import type { TaskOutcome } from "../contract/task.js";
import { ThreadStarts } from "./thread-starts.js";

const ENTRY = builtFile(new URL("../worker/worker.js", import.meta.url));
/** Time after which a thread that is started on demand ends unused. */
const IDLE_MS = 300_000;
/** Interval for checks whether a task that is to be killed has begun. */
const LOOK_MS = 5;
/** Time that `close` waits for threads that are still loading. */
const LOADING_MS = 10_000;

const NO_THREAD = "No worker thread could be started.";

export class ThreadGroup {
  readonly #piscina: Piscina;
  readonly #size: number;
  readonly #fewest: number;
  readonly #threadIds: Int32Array;
  readonly #cache: BrickCache;
  readonly #loaded: Int32Array;
  readonly #tickets: Int32Array;
  /** How often threads have failed to start, and whether to try again. */
  readonly #starts: ThreadStarts;
  /** Living threads, with promises of their end and of being loaded. */
  readonly #living = new Map<Worker, { readonly end: Promise<void>; readonly loaded: Promise<void> }>();
  readonly #ends = new Set<AbortController>();
  #refill: NodeJS.Timeout | null = null;
  #ticket = 0;
  #closing = false;

  /**
   * @param fewest threads that are kept; others start on demand and end when idle for long
   * @param report called with the first failure in a row to start a thread
   */
  constructor(
    setup: Omit<WorkerSetup, "build">,
    size: number,
    fewest: number,
    cache: BrickCache,
    stores: StoreThread,
    report: (reason: unknown) => void,
  ) {
    this.#size = size;
    this.#fewest = fewest;
    this.#cache = cache;
    const { memory, layout } = setup;
    this.#threadIds = new Int32Array(memory.buffer as SharedArrayBuffer, layout.threadIds, layout.workers);
    this.#loaded = setup.loaded;
    this.#tickets = setup.tickets;
    this.#starts = new ThreadStarts(report);
    this.#piscina = new Piscina({
      filename: ENTRY,
      minThreads: fewest,
      maxThreads: size,
      idleTimeout: IDLE_MS,
      concurrentTasksPerWorker: 1,
      maxQueue: Number.POSITIVE_INFINITY,
      recordTiming: false,
      workerData: { ...setup, build: digestFile(ENTRY) } satisfies WorkerSetup,
      // A worker's objects are few and short-lived; by default Node keeps some 30 MiB of dead ones.
      resourceLimits: { maxYoungGenerationSizeMb: 8 },
    });
    this.#piscina.on("workerCreate", () => this.#watch());
    this.#piscina.on("message", (connection: StorePort) => stores.connect(connection));
    // A thread that dies between tasks is replaced by the library; its task, if any, is rejected with the same error.
    this.#piscina.on("error", () => this.#watch());
    this.#watch();
  }

  /** Number of threads, including threads that are starting. */
  get alive(): number {
    return this.#piscina.threads.length;
  }

  get loaded(): number {
    return this.#piscina.threads.filter(({ threadId }) => this.#loaded.includes(threadId)).length;
  }

  /** Whether another task would start at once. */
  get idle(): boolean {
    return this.#ends.size < this.#size;
  }

  /**
   * Runs a task. Once the promise settles, no thread works on the task any more.
   *
   * @param kill ends the task by ending its thread
   * @throws DeadlineError when the task was killed, BusyError when no thread can be started, WorkerError when its
   *   thread died
   */
  async run(message: TaskMessage, kill: AbortSignal | undefined): Promise<TaskOutcome<unknown>> {
    if (kill?.aborted) throw new DeadlineError();
    if (this.alive === 0 && !this.#starts.allowed) throw new BusyError(NO_THREAD);
    const end = new AbortController();
    // A number that no task in progress has.
    const ticket = (this.#ticket % 0x7fff_ffff) + 1;
    this.#ticket = ticket;
    const stop = (): void => this.#endSafely(end, ticket);
    kill?.addEventListener("abort", stop);
    this.#ends.add(end);
    try {
      const done = this.#piscina.run({ ticket, task: message } satisfies TicketedTask, { signal: end.signal });
      this.#watch();
      return await done;
    } catch (error) {
      // A thread that has died keeps the ticket of its task.
      const begun = this.#tickets.includes(ticket);
      this.#ends.delete(end);
      // The replacement may be killed with a task before it reports that it is ready: register it now.
      this.#watch();
      await this.#abandonedEnded();
      if (kill?.aborted) throw new DeadlineError();
      const hadNoThread = end.signal.aborted || (this.#starts.failing && this.loaded === 0);
      throw hadNoThread && !begun ? new BusyError(NO_THREAD) : new WorkerError(undefined, error);
    } finally {
      this.#ends.delete(end);
      kill?.removeEventListener("abort", stop);
      this.#watch();
    }
  }

  async close(): Promise<void> {
    this.#closing = true;
    if (this.#refill) clearTimeout(this.#refill);
    // Node 20 may abort the process when a thread is terminated while it loads its modules.
    const loading = [...this.#living.values()].map(({ loaded }) => loaded);
    await Promise.race([Promise.all(loading), delay(LOADING_MS, undefined, { ref: false })]);
    await this.#piscina.destroy();
  }

  /** Ends the thread of a task once the task runs: a thread that loads its modules must not be terminated. */
  #endSafely(end: AbortController, ticket: number): void {
    if (!this.#ends.has(end)) return;
    if (this.#tickets.includes(ticket)) end.abort();
    else setTimeout(() => this.#endSafely(end, ticket), LOOK_MS);
  }

  /** Registers new threads: the library starts them mostly without an event. */
  #watch(): void {
    for (const thread of this.#piscina.threads) {
      if (this.#living.has(thread)) continue;
      const { threadId } = thread;
      let reason: unknown;
      thread.once("error", (error) => {
        reason = error;
      });
      const end = new Promise<void>((resolve) => {
        thread.once("exit", () => {
          this.#living.delete(thread);
          if (!this.#closing && !this.#loaded.includes(threadId)) this.#starts.failed(reason);
          this.#recover(threadId);
          resolve();
          // The library gives up on threads once one has failed to start, and tasks that wait would wait for ever.
          if (this.alive === 0) for (const task of this.#ends) task.abort();
          this.#scheduleRefill();
        });
      });
      this.#living.set(thread, { end, loaded: Promise.race([end, this.#whenLoaded(thread)]) });
    }
  }

  /** Resolves when a thread has loaded; the library's message that it is ready comes a moment later. */
  #whenLoaded(thread: Worker): Promise<void> {
    const { threadId } = thread;
    return new Promise((resolve) => {
      const look = (): void => {
        if (!this.#loaded.includes(threadId)) return;
        thread.off("message", look);
        this.#starts.succeeded();
        resolve();
      };
      thread.on("message", look);
      look();
    });
  }

  /** Waits for the threads that the library has given up: they may still write into buffers. */
  async #abandonedEnded(): Promise<void> {
    const { threads } = this.#piscina;
    await Promise.all([...this.#living].map(([thread, { end }]) => (threads.includes(thread) ? undefined : end)));
  }

  /** Frees the pins of a dead thread, then its index; later, if another that may have died too holds the lock. */
  #recover(threadId: number): void {
    for (let workerIndex = 0; workerIndex < this.#threadIds.length && !this.#closing; workerIndex++) {
      if (Atomics.load(this.#threadIds, workerIndex) !== threadId) continue;
      if (!this.#cache.repair(workerIndex)) {
        setTimeout(() => this.#recover(threadId), 1);
        return;
      }
      Atomics.store(this.#threadIds, workerIndex, 0);
      Atomics.notify(this.#threadIds, workerIndex);
    }
  }

  /** Starts missing threads after a while: the library starts one only for a task. */
  #scheduleRefill(): void {
    if (this.#refill || this.#closing) return;
    this.#refill = setTimeout(() => {
      this.#refill = null;
      for (let missing = this.#fewest - this.alive; missing > 0; missing--)
        this.run({ kind: "ping" }, undefined).catch(() => {});
      if (this.alive < this.#fewest) this.#scheduleRefill();
    }, this.#starts.pauseMs).unref();
  }
}
