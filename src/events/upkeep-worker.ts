/** Thread that does one upkeep task, so that recurrence never holds up the thread that answers requests. */
import { parentPort, workerData } from "node:worker_threads";
import { maintain, type Task, type Upkeep } from "./upkeep.js";

/** What the thread reports: errors by their message, since cloning drops their class. */
export type Report = { readonly ok: true; readonly upkeep: Upkeep } | { readonly ok: false; readonly message: string };

function report(): Report {
  try {
    return { ok: true, upkeep: maintain(workerData as Task) };
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : String(error) };
  }
}

parentPort?.postMessage(report());
