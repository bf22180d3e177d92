/** Upkeep in a thread of its own. */
import { Worker } from "node:worker_threads";
import { DataError } from "../errors.js";
import type { Task, Upkeep } from "./maintain.js";
import type { Report } from "./maintain-worker.js";

/** The worker's compiled file, also when this one runs from source. */
const ENTRY = new URL(import.meta.url.replace("/src/events/", "/dist/events/").replace(/[^/]*$/, "maintain-worker.js"));

/** @throws DataError with the reason, fit for the operator */
export function maintainInThread(task: Task): Promise<Upkeep> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(ENTRY, { workerData: task });
    const fail = (reason: string) => reject(new DataError(`events: ${reason.replace(/^events: /, "")}`));
    worker.once("message", (report: Report) => (report.ok ? resolve(report.upkeep) : fail(report.message)));
    worker.once("error", (error) => fail(error.message));
    worker.once("exit", () => fail("the upkeep thread ended without a report"));
  });
}
