/**
 * `boundYoungObjects` keeps the memory of young objects small, so that the collector stops a service often and briefly
 * (docs/decisions/0043-what-outlives-a-request.md).
 */
import { setFlagsFromString } from "node:v8";
import type { Worker } from "node:worker_threads";

/**
 * Lets the memory of young objects grow no more, in all threads of the process, from now on. Called before the modules
 * of a service are loaded, of which many objects survive. On Node 20 and 22 V8 forgets the bound whenever a thread
 * starts, so that it is set again then.
 */
export function boundYoungObjects(): void {
  const bound = (): void => setFlagsFromString("--semi-space-growth-factor=1");
  bound();
  process.on("worker", (worker: Worker) => {
    worker.once("online", bound);
  });
}
