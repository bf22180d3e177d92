/**
 * A thread that serves the files of a folder over HTTP with a delay for each answer and a bound of bytes a second for
 * all.
 */
import { open, stat } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";

/** The behaviour of the server. */
export interface SlowServer {
  readonly folder: string;
  readonly latencyMs: number;
  readonly bytesPerSecond: number;
}

const { folder, latencyMs, bytesPerSecond } = workerData as SlowServer;
/** The time at which the line is free again. */
let freeMs = 0;

/** Waits as long as the line takes for some bytes, after those that were asked for before. */
async function transmit(bytes: number): Promise<void> {
  const now = performance.now();
  freeMs = Math.max(freeMs, now) + (1000 * bytes) / bytesPerSecond;
  await pause(latencyMs + freeMs - now);
}

async function partOf(path: string, range: string | undefined) {
  const status = await stat(path);
  if (!status.isFile()) throw new Error(`${path} is no file`);
  const { size, mtime } = status;
  const [, first = "0", last, suffix] = /^bytes=(?:(\d+)-(\d+)|-(\d+))$/.exec(range ?? "") ?? [];
  const start = suffix === undefined ? Number(first) : Math.max(0, size - Number(suffix));
  const end = last === undefined ? size : Number(last) + 1;
  const bytes = Buffer.alloc(end - start);
  const file = await open(path);
  await file.read(bytes, 0, bytes.length, start);
  await file.close();
  return { bytes, start, end, size, mtime };
}

const server = createServer(async (request, response) => {
  try {
    const path = join(folder, new URL(request.url ?? "/", "http://localhost").pathname);
    const { bytes, start, end, size, mtime } = await partOf(path, request.headers.range);
    await transmit(bytes.length);
    const range = request.headers.range === undefined ? {} : { "content-range": `bytes ${start}-${end - 1}/${size}` };
    const headers = {
      "content-length": bytes.length,
      "last-modified": mtime.toUTCString(),
      etag: `"${size}"`,
      ...range,
    };
    response.writeHead(request.headers.range === undefined ? 200 : 206, headers).end(bytes);
  } catch {
    response.writeHead(404).end();
  }
});

server.listen(0, "127.0.0.1", () => parentPort?.postMessage((server.address() as AddressInfo).port));
