/** Interface of a thread pool: runs tasks on worker threads, and small batches on the caller's thread. */
import { WorkerError } from "../../shared/errors.js";
import type { CacheStatus } from "../../storage/bricks/directory.js";
import type { DiskCounts, StoreStatus } from "../../storage/remote/objects/store-status.js";
import type { StorePort } from "../../storage/remote/store-port.js";
import type { BatchTask, Task } from "../contract/task.js";
import type { QueryShare } from "./fair-queue.js";

export interface RunOptions {
  /** Ends the task by ending its thread; for deadlines. */
  readonly kill?: AbortSignal | undefined;
  /** The query's share of the threads; absent: the task counts as a separate query. */
  readonly share?: QueryShare;
}

export interface ThreadPool {
  readonly parallelism: number;
  /** Runs of a task at most, if its thread is lost each time. */
  readonly attempts: number;
  /** Bytes of bricks that it can cache. */
  readonly cacheBytes: number;
  /**
   * Runs a task. Once the promise settles, nothing works on the task any more.
   *
   * @throws the error that the worker thread reported, WorkerError when the thread died or failed in an unknown way, or
   *   BusyError when no thread can be started
   */
  run<T>(task: Task, options?: RunOptions): Promise<T>;
  /** Evaluates a small batch at once on the caller's thread. Returns false, without any effect, if it is for `run`. */
  runInline?(task: BatchTask, share: QueryShare): boolean;
  inlined?(): number;
  alive(): number;
  queued(): number;
  running(): number;
  cache(): CacheStatus;
  /** The bricks that its cache holds, in any frame, by source. */
  held(): ReadonlyMap<number, readonly number[]>;
  stores(): readonly StoreStatus[];
  connectStores(connection: StorePort): void;
  /** Closes stores that are not among these locations, once they have not been used for a while. */
  keepStores(locations: ReadonlySet<string>, isUsed: boolean): void;
  /** Counts of the cache on disk; null if there is none. */
  storeCache(): DiskCounts | null;
  /** Ends its threads; tasks that still run are lost. */
  close(): Promise<void>;
}

/** Runs a task, with retries when its thread was lost and the result is still wanted. */
export async function runWithRetries<T>(
  pool: Pick<ThreadPool, "run" | "attempts">,
  task: Task,
  options: RunOptions,
  isWanted: () => boolean,
): Promise<T> {
  for (let left = pool.attempts - 1; ; left--) {
    try {
      return await pool.run<T>(task, options);
    } catch (error) {
      if (!(error instanceof WorkerError) || !isWanted() || left <= 0) throw error;
    }
  }
}
