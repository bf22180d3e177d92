/** Thread that makes the pages that take long, one after the other. */
import { parentPort, workerData } from "node:worker_threads";
import { openStore } from "../store/store.js";
import { systemClock } from "../time/clock.js";
import type { EventsSettings } from "./events-settings.js";
import type { Page } from "./page-cache.js";
import { makePage, type PageTask } from "./page-task.js";
import { type Detail, type ErrorCode, EventsError } from "./problem.js";
import { resources } from "./resources.js";

export interface PageThreadData {
  readonly db: string;
  readonly settings: EventsSettings;
  /** Path under which the routes are mounted. */
  readonly prefix: string;
}

/** The parts of an EventsError, whose class does not survive cloning. */
export interface Refusal {
  readonly status: number;
  readonly code: ErrorCode;
  readonly message: string;
  readonly details: readonly Detail[];
}

/** What the thread says of a task. */
export type PageReport =
  | { readonly body: Uint8Array; readonly tag: string; readonly headers: Page["headers"] }
  | { readonly refusal: Refusal }
  | { readonly failure: string };

const { db, settings, prefix } = workerData as PageThreadData;
const shared = resources(openStore(db), systemClock, { ...settings, cacheBytes: 0 }, prefix);

async function report(task: PageTask): Promise<PageReport> {
  try {
    const { body, tag, headers } = await makePage(shared, task);
    return { body: new TextEncoder().encode(String(body)), tag, headers };
  } catch (error) {
    if (!(error instanceof EventsError)) return { failure: error instanceof Error ? error.message : String(error) };
    const { status, code, message, details } = error;
    return { refusal: { status, code, message, details } };
  }
}

parentPort?.on("message", async (task: PageTask) => {
  const done = await report(task);
  parentPort?.postMessage(done, "body" in done ? [done.body.buffer as ArrayBuffer] : []);
});
