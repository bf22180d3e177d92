/**
 * Keeps the heaps of V8 small: `boundYoungObjects` its young generation, so that garbage collection stops a service
 * often but briefly (docs/decisions/memory-of-queries.md), and `boundOldGarbage` the garbage of its old one
 * (docs/decisions/memory-of-queries.md).
 */
import { setFlagsFromString } from "node:v8";
import type { Worker } from "node:worker_threads";

/** Growth of the old generation since its last collection, in percent, after which it is collected. */
const GROWING_PERCENT = 50;

/**
 * Stops the young generation from growing, in all threads of the process, from now on. Call it before the modules of a
 * service are loaded, because many of their objects survive. On Node 20 and 22, V8 forgets the bound whenever a thread
 * starts, so it is set again then.
 */
export function boundYoungObjects(): void {
  const bound = (): void => setFlagsFromString("--semi-space-growth-factor=1");
  bound();
  process.on("worker", (worker: Worker) => {
    worker.once("online", bound);
  });
}

/**
 * Stops the old generation from growing by more than half between collections, in all threads of the process, from now
 * on. Call it when the modules of a service have been loaded: they are not garbage, and to collect among them would
 * take as long as to load them.
 */
export function boundOldGarbage(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWING_PERCENT}`);
}
