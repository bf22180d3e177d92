/** Types of the connection through which the store thread answers another thread. */
import type { MessagePort } from "node:worker_threads";

/** Value of `StorePort.signal` once the store thread has ended. */
export const ENDED = -1;

export interface StorePort {
  readonly port: MessagePort;
  /** A word in shared memory that wakes the thread. */
  readonly signal: Int32Array;
}
