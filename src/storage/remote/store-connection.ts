/** Connects a worker thread to the store thread of its process, which shares open stores, caches and permissions. */
import type { MessagePort } from "node:worker_threads";
import { StoreClient } from "./store-client.js";

export function connectToStores(parent: MessagePort | null): void {
  StoreClient.share((connection) => parent?.postMessage(connection, [connection.port]));
}
