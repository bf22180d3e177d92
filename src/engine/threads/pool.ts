/** The thread pool runs tasks on worker threads, rebuilds their errors, and replaces and repairs threads that failed. */
import { fileURLToPath } from "node:url";
import type { Worker } from "node:worker_threads";
import { Piscina } from "piscina";
import type { Config, Limits } from "../../config.js";
import { BusyError, DeadlineError, WorkerError } from "../../errors.js";
import { createSharedMemory, type WasmMemory } from "../../kernels/simd/index.js";
import { BrickCache } from "../../storage/bricks/cache.js";
import type { Carrier } from "../carrier.js";
import { type MemoryLayout, memoryLayout } from "../memory.js";
import type { Outcome, Task } from "../task.js";
import { createPacker } from "./dataset-copy.js";
import { reviveError } from "./errors-as-data.js";

/** Worker threads run the JavaScript that ships, also when this file runs from source. */
const ENTRY = fileURLToPath(new URL("./worker.js", import.meta.url).href.replace("/src/engine/", "/dist/engine/"));

/** The settings that a thread pool reads. */
export type PoolSettings = Pick<Config, "workers" | "cacheBytes" | "fd8Legacy"> & {
  readonly limits: Pick<Limits, "engine.chunkBytes">;
};

/** What every worker is started with. */
export interface WorkerSetup {
  readonly memory: WasmMemory;
  readonly layout: MemoryLayout;
  readonly chunkBytes: number;
  readonly fd8Legacy: boolean;
}

/** Starts the worker threads of this process. */
export function openPool({ workers, cacheBytes, limits, fd8Legacy }: PoolSettings): Carrier {
  const chunkBytes = limits["engine.chunkBytes"];
  const layout = memoryLayout(workers, cacheBytes);
  const memory = createSharedMemory(layout.bytes);
  const buffer = memory.buffer as SharedArrayBuffer;
  const slots = new Int32Array(buffer, layout.slots, workers);
  const cache = new BrickCache(buffer, layout.cache, -1);
  cache.initialise();
  const setup: WorkerSetup = { memory, layout, chunkBytes, fd8Legacy };
  const piscina = new Piscina({
    filename: ENTRY,
    minThreads: workers,
    maxThreads: workers,
    concurrentTasksPerWorker: 1,
    maxQueue: Number.POSITIVE_INFINITY,
    workerData: setup,
    // A worker's objects are few and short-lived: Node's default lets some 30 MiB of dead ones stand before it looks.
    resourceLimits: { maxYoungGenerationSizeMb: 8 },
  });
  const pack = createPacker();
  let closing = false;
  let running = 0;
  /** Threads that have not ended, and their end. */
  const living = new Map<Worker, Promise<void>>();
  /** Tasks that run or wait, each by what ends it. */
  const open = new Set<AbortController>();
  const watch = (): void => {
    for (const thread of piscina.threads) {
      if (living.has(thread)) continue;
      const { threadId } = thread;
      const end = new Promise<void>((resolve) => {
        thread.once("exit", () => {
          living.delete(thread);
          recover(threadId);
          resolve();
          // The pool gives up on threads once one has failed to come up, and what waits would wait for ever; the next task starts one.
          if (piscina.threads.length === 0) for (const end of open) end.abort();
        });
      });
      living.set(thread, end);
    }
  };
  /** Waits for the threads that the pool has given up: until they have ended they may write into what their tasks lent them. */
  const abandonedEnded = async (): Promise<void> => {
    const { threads } = piscina;
    await Promise.all([...living].map(([thread, end]) => (threads.includes(thread) ? undefined : end)));
  };
  /** Gives back what a dead thread held, then its slot; later, if another that may have died too has the lock. */
  const recover = (threadId: number): void => {
    for (let slot = 0; slot < workers && !closing; slot++) {
      if (Atomics.load(slots, slot) !== threadId) continue;
      if (!cache.repair(slot)) {
        setTimeout(recover, 1, threadId);
        return;
      }
      Atomics.store(slots, slot, 0);
      Atomics.notify(slots, slot);
    }
  };
  piscina.on("workerCreate", watch);
  // A thread that dies between tasks is replaced by the pool; its tasks, if any, are rejected with the same error.
  piscina.on("error", () => watch());
  watch();
  return {
    parallelism: workers,
    attempts: 2,
    cacheBytes: cache.capacity,
    async run<T>(task: Task, kill?: AbortSignal): Promise<T> {
      let outcome: Outcome<T>;
      const end = new AbortController();
      const stop = (): void => end.abort();
      if (kill?.aborted) stop();
      kill?.addEventListener("abort", stop);
      open.add(end);
      running++;
      try {
        const done = piscina.run(pack(task), { signal: end.signal });
        watch();
        outcome = await done;
      } catch (error) {
        open.delete(end);
        // The successor may be given a task, and be killed with it, before it says that it is ready.
        watch();
        await abandonedEnded();
        if (kill?.aborted) throw new DeadlineError();
        throw end.signal.aborted
          ? new BusyError("No worker thread could be started.")
          : new WorkerError(undefined, error);
      } finally {
        open.delete(end);
        kill?.removeEventListener("abort", stop);
        running--;
        watch();
      }
      if (outcome.ok) return outcome.value;
      throw reviveError(outcome);
    },
    alive: () => piscina.threads.length,
    queued: () => piscina.queueSize,
    running: () => running - piscina.queueSize,
    cache: () => cache.status(),
    peers: () => [],
    sending: () => null,
    async close(): Promise<void> {
      closing = true;
      await piscina.destroy();
    },
  };
}
