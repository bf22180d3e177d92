/** Pages that take long, made in a thread of their own so that they hold up no other request. */
import { Worker } from "node:worker_threads";
import type { Interval } from "../store/store.js";
import type { Page } from "./page-cache.js";
import type { PageTask } from "./page-task.js";
import type { PageReport, PageThreadData } from "./page-worker.js";
import { EventsError } from "./problem.js";

export interface PageThread {
  /**
   * The page of a key; those who ask for the same one while it waits or is made share it.
   *
   * @throws EventsError 503 when too many pages wait, and what making the page throws
   */
  make(interval: Interval, key: string, task: PageTask): Promise<Page>;
  /** Ends the thread when the pages that were asked for are made. */
  close(): Promise<void>;
}

/** Pages that may wait. */
const WAITING = 64;

/** The worker's compiled file, also when this one runs from source. */
const ENTRY = new URL(import.meta.url.replace("/src/events/", "/dist/events/").replace(/[^/]*$/, "page-worker.js"));

interface Job {
  readonly task: PageTask;
  readonly done: (page: Page) => void;
  readonly failed: (error: Error) => void;
}

/** The thread is started with the first page, and anew after it has died. */
export function pageThread(data: PageThreadData): PageThread {
  const waiting: Job[] = [];
  const asked = new Map<string, { readonly interval: Interval; readonly page: Promise<Page> }>();
  let worker: Worker | null = null;
  let running: Job | null = null;

  const next = (): void => {
    running = waiting.shift() ?? null;
    if (running === null) return;
    worker ??= start();
    worker.postMessage(running.task);
  };
  const settle = (end: (job: Job) => void): void => {
    const job = running;
    running = null;
    if (job !== null) end(job);
    next();
  };
  const start = (): Worker => {
    const fresh = new Worker(ENTRY, { workerData: data });
    fresh.unref();
    fresh.on("message", (report: PageReport) => settle((job) => finish(job, report)));
    fresh.on("error", (error) => died(fresh, error));
    fresh.on("exit", () => died(fresh, new Error("the thread of long pages ended")));
    return fresh;
  };
  const died = (who: Worker, error: Error): void => {
    if (who !== worker) return;
    worker = null;
    settle((job) => job.failed(error));
  };

  return {
    make(interval, key, task) {
      const known = asked.get(key);
      if (known?.interval === interval) return known.page;
      if (waiting.length >= WAITING) return Promise.reject(tooMany());
      const page = new Promise<Page>((done, failed) => waiting.push({ task, done, failed }));
      const entry = { interval, page };
      asked.set(key, entry);
      const forget = () => {
        if (asked.get(key) === entry) asked.delete(key);
      };
      page.then(forget, forget);
      if (running === null) next();
      return page;
    },
    async close() {
      await Promise.allSettled([...asked.values()].map(({ page }) => page));
      const last = worker;
      worker = null;
      await last?.terminate();
    },
  };
}

function tooMany(): EventsError {
  return new EventsError(503, "unavailable", "Too many pages are being made.", [], { "retry-after": "1" });
}

function finish(job: Job, report: PageReport): void {
  if ("failure" in report) job.failed(new Error(report.failure));
  else if ("refusal" in report) {
    const { status, code, message, details } = report.refusal;
    job.failed(new EventsError(status, code, message, details));
  } else {
    const { body, tag, headers } = report;
    job.done({ body: Buffer.from(body.buffer, body.byteOffset, body.byteLength), tag, headers });
  }
}
