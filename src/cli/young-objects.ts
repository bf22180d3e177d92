/**
 * `boundYoungObjects` keeps V8's young generation small, so that garbage collection stops a service often but briefly
 * (docs/decisions/0043-what-outlives-a-request.md).
 */
import { setFlagsFromString } from "node:v8";
import type { Worker } from "node:worker_threads";

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
