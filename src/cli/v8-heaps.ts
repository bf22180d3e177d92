/**
 * Bounds of the heaps of V8 (docs/decisions/memory-of-queries.md): the young generation, so that collections are short,
 * and the garbage of the old one.
 */
import { setFlagsFromString } from "node:v8";
import type { Worker } from "node:worker_threads";

/** Growth in percent after which the old generation is collected. */
const GROWING_PERCENT = 50;

/**
 * Stops the young generation from growing in all threads. Call it before the modules of a service are loaded, because
 * many of their objects survive. Node 20 and 22 forget the bound whenever a thread starts.
 */
export function boundYoungObjects(): void {
  const bound = (): void => setFlagsFromString("--semi-space-growth-factor=1");
  bound();
  process.on("worker", (worker: Worker) => {
    worker.once("online", bound);
  });
}

/**
 * Stops the old generation from growing by more than half between collections. Call it when the modules of a service
 * have been loaded: to collect among them would take as long as to load them.
 */
export function boundOldGarbage(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWING_PERCENT}`);
}
