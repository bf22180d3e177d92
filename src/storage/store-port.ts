/** What the store thread needs to answer another thread. */
import type { MessagePort } from "node:worker_threads";

export interface StorePort {
  readonly port: MessagePort;
  /** A word in shared memory that wakes the thread. */
  readonly signal: Int32Array;
}
