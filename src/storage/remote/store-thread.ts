/** Reads stores for all threads of a process, so that they share open stores, caches and requests under way. */
import { setTimeout as pause } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { builtFile } from "../../shared/build.js";
import { STORE_DEFAULTS, type StoreSettings } from "../../shared/store-settings.js";
import type { VersionName } from "./object-store.js";
import type { DiskCounts, StoreStatus } from "./objects/store-status.js";
import { ENDED, type StorePort } from "./store-port.js";

const ENTRY = builtFile(new URL("./store-worker.js", import.meta.url));

const CLOSE_MS = 2000;

export type StoreReport =
  | { readonly stores: readonly StoreStatus[]; readonly disk: DiskCounts | null }
  | { readonly named: string }
  | { readonly found: string; readonly version: VersionName }
  | { readonly warning: string };

/** State that a new thread takes over from one that ended. */
export interface StoreStart {
  readonly settings: StoreSettings;
  readonly named: ReadonlySet<string>;
  readonly versions: ReadonlyMap<string, VersionName>;
  /** A word in shared memory that becomes `ENDED` with the thread: the only sign for threads that wait for answers. */
  readonly end: Int32Array;
  /** The word of the first connection, which becomes `ENDED` even if the thread never connects. */
  readonly first: Int32Array;
}

/** A connection of another thread, the stores that are in use, or the end of the thread. */
export type StoreOrder = StorePort | { readonly keep: ReadonlySet<string> } | null;

/** Starts at the first connection, or with the first store in use, and never keeps a process alive. */
export class StoreThread {
  #worker: Worker | null = null;
  #closing = false;
  #end: Int32Array = new Int32Array(0);
  readonly #signals: StorePort["signal"][] = [];
  readonly #named = new Set<string>();
  readonly #versions = new Map<string, VersionName>();
  readonly #settings: StoreSettings;
  readonly #warn: (line: string) => void;

  status: readonly StoreStatus[] = [];
  disk: DiskCounts | null = null;

  constructor(settings: StoreSettings = STORE_DEFAULTS, warn: (line: string) => void = () => {}) {
    this.#settings = settings;
    this.#warn = warn;
  }

  connect(connection: StorePort): void {
    if (this.#worker !== null && Atomics.load(this.#end, 0) === ENDED) this.#leave(this.#worker);
    this.#worker ??= this.#start(connection.signal);
    this.#signals.push(connection.signal);
    this.#worker.postMessage(connection satisfies StoreOrder, [connection.port]);
  }

  #start(first: Int32Array): Worker {
    this.#end = new Int32Array(new SharedArrayBuffer(4));
    const start = { settings: this.#settings, named: this.#named, versions: this.#versions, end: this.#end, first };
    const worker = new Worker(ENTRY, { workerData: start satisfies StoreStart });
    worker.on("message", (report: StoreReport) => {
      if ("warning" in report) return this.#warn(report.warning);
      if ("named" in report) return void this.#named.add(report.named);
      if ("found" in report) return void this.#versions.set(report.found, report.version);
      this.status = report.stores;
      this.disk = report.disk;
    });
    let reason = "";
    worker.once("error", (error) => {
      reason = `: ${error.message}`;
    });
    worker.once("exit", () => {
      if (!this.#closing) this.#warn(`the thread that reads stores has ended${reason}; the next query starts another`);
      this.#leave(worker);
    });
    // A listener keeps the process alive, so this comes last.
    worker.unref();
    return worker;
  }

  /** Wakes the threads that wait for a thread that ended: they reconnect with their next request. */
  #leave(worker: Worker): void {
    if (worker !== this.#worker) return;
    this.#worker = null;
    for (const signal of this.#signals.splice(0)) {
      Atomics.store(signal, 0, ENDED);
      Atomics.notify(signal, 0);
    }
  }

  /** Forgets other stores than some. `isUsed`: whether one of them will be read, so that the thread is started. */
  keep(locations: ReadonlySet<string>, isUsed: boolean): void {
    if (isUsed && !this.#closing) this.#worker ??= this.#start(new Int32Array(new SharedArrayBuffer(4)));
    for (const location of this.#versions.keys()) if (!locations.has(location)) this.#versions.delete(location);
    this.#worker?.postMessage({ keep: locations } satisfies StoreOrder);
  }

  /** Ends the thread once everything fetched is on disk. */
  async close(): Promise<void> {
    const worker = this.#worker;
    this.#closing = true;
    if (worker === null) return;
    const end = new AbortController();
    worker.once("exit", () => end.abort());
    worker.postMessage(null satisfies StoreOrder);
    await pause(CLOSE_MS, null, { signal: end.signal }).catch(() => undefined);
    await worker.terminate();
  }
}
