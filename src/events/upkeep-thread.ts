/** Upkeep in a thread of its own. */
import { Worker } from "node:worker_threads";
import { DataError } from "../errors.js";
import type { Task, Upkeep } from "./upkeep.js";
import type { Report } from "./upkeep-worker.js";

/** The worker's compiled file, also when this one runs from source. */
const ENTRY = new URL(import.meta.url.replace("/src/events/", "/dist/events/").replace(/[^/]*$/, "upkeep-worker.js"));

/**
 * Resolves once the thread has ended: one that is still closing the store must not meet the end of the process.
 *
 * @throws DataError with the reason, fit for the operator
 */
export function maintainInThread(task: Task): Promise<Upkeep> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(ENTRY, { workerData: task });
    const fail = (reason: string) => reject(new DataError(`events: ${reason.replace(/^events: /, "")}`));
    let report: Report = { ok: false, message: "the upkeep thread ended without a report" };
    worker.once("message", (said: Report) => {
      report = said;
    });
    worker.once("error", (error) => {
      report = { ok: false, message: error.message };
    });
    worker.once("exit", () => (report.ok ? resolve(report.upkeep) : fail(report.message)));
  });
}
