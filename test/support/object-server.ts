/** Objects served over HTTP by another thread, with faults on demand. */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { afterAll, beforeAll } from "vitest";

export interface Faults {
  /** Answers with status 503. */
  readonly failures?: number;
  /** Seconds that these ask to wait. */
  readonly retryAfter?: string | null;
  /** Answers that end half-way. */
  readonly cuts?: number;
  readonly pauseMs?: number;
  /** Requests are taken and never answered. */
  readonly silent?: boolean;
  readonly ranges?: boolean;
  readonly times?: boolean;
  /** Whether all objects have the same weak ETag, whatever their bytes. */
  readonly weak?: boolean;
  /** How far the clock of the host is ahead. */
  readonly laterMs?: number;
  readonly lists?: boolean;
  /** The address to which all requests are sent instead. */
  readonly redirect?: string | null;
}

export interface ObjectServer {
  readonly url: string;
  readonly requests: number;
  /**
   * @param laterMs how far the time of the objects lies ahead of now
   * @param tag     their ETag; absent: one by length and time
   */
  put(folder: string, objects: ReadonlyMap<string, Uint8Array>, laterMs?: number, tag?: string): Promise<void>;
  remove(path: string): Promise<void>;
  set(faults: Faults): Promise<void>;
}

export function useObjectServer(): ObjectServer {
  const counts = new Int32Array(new SharedArrayBuffer(4));
  let worker: Worker;
  let port = 0;
  beforeAll(async () => {
    worker = new Worker(new URL("./object-server.mjs", import.meta.url), { workerData: { counts } });
    [port] = (await once(worker, "message")) as [number];
  });
  afterAll(() => worker.terminate());
  const tell = async (message: object): Promise<void> => {
    worker.postMessage(message);
    await once(worker, "message");
  };
  return {
    get url() {
      return `http://127.0.0.1:${port}`;
    },
    get requests() {
      return Atomics.load(counts, 0);
    },
    put: (folder, objects, laterMs = 0, tag) =>
      tell({ put: Object.fromEntries([...objects].map(([key, bytes]) => [`/${folder}/${key}`, bytes])), laterMs, tag }),
    remove: (path) => tell({ remove: path }),
    set: (faults) => tell({ set: faults }),
  };
}
