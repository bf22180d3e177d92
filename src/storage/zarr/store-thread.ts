/** The store thread reads stores for all threads of a process, so that they share what is open, cached and under way. */
import { fileURLToPath } from "node:url";
import { type MessagePort, Worker } from "node:worker_threads";
import type { StoreStatus } from "../store-status.js";

/** The store thread runs the JavaScript that ships, also when this file runs from source. */
const ENTRY = fileURLToPath(
  new URL("./store-worker.js", import.meta.url).href.replace("/src/storage/", "/dist/storage/"),
);

/** What the store thread needs to answer a thread: a port, and a word in shared memory that wakes it. */
export interface StoreConnection {
  readonly port: MessagePort;
  readonly signal: Int32Array;
}

/** The store thread, which starts at the first connection and never keeps a process alive. */
export class StoreThread {
  #worker: Worker | null = null;

  /** What has been fetched of the stores behind HTTP, a second ago at most. */
  status: readonly StoreStatus[] = [];

  /** Connects a thread. */
  connect(connection: StoreConnection): void {
    if (this.#worker === null) {
      this.#worker = new Worker(ENTRY);
      this.#worker.unref();
      this.#worker.on("message", (status: StoreStatus[]) => {
        this.status = status;
      });
      this.#worker.once("exit", () => {
        this.#worker = null;
      });
    }
    this.#worker.postMessage(connection, [connection.port]);
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
  }
}
