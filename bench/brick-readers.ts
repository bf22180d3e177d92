/** Threads that only read bricks: what reading takes by itself. */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { BrickReaders, BricksToRead } from "./brick-readers-worker.js";

const WORKER = new URL("./brick-readers-worker.js", import.meta.url);

/** Started threads on one dataset. */
export interface Readers {
  /** Bricks of the dataset, and bytes of one. */
  readonly bricks: number;
  readonly brickBytes: number;
  /**
   * Reads a number of bricks, one after the other and from the first on again, all threads together.
   * @returns milliseconds
   */
  read(bricks: number): Promise<number>;
  close(): Promise<void>;
}

/** Starts threads. */
export async function startReaders(threads: number, of: BrickReaders): Promise<Readers> {
  const workers = Array.from({ length: threads }, () => new Worker(WORKER, { workerData: of }));
  const [[about]] = (await Promise.all(workers.map((worker) => once(worker, "message")))) as [
    [Pick<Readers, "bricks" | "brickBytes">],
  ];
  return {
    ...about,
    async read(bricks) {
      const since = performance.now();
      const ends = workers.map((worker, first) => {
        const end = once(worker, "message");
        worker.postMessage({ first, step: threads, end: bricks } satisfies BricksToRead);
        return end;
      });
      await Promise.all(ends);
      return performance.now() - since;
    },
    async close() {
      await Promise.all(workers.map((worker) => worker.terminate()));
    },
  };
}
