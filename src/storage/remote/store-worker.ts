/** Entry of the store thread, which answers each other thread through a separate port. */
import { parentPort, workerData } from "node:worker_threads";
import { BusyError, FieldprobeError } from "../../shared/errors.js";
import { ReadMemory } from "../../shared/read-memory.js";
import { isOutOfFiles } from "../../shared/system.js";
import { registerCodecs } from "../zarr/codecs.js";
import { DiskCache } from "./objects/disk-cache.js";
import { Hosts } from "./objects/hosts.js";
import type { Elements, StoreAnswer, StoreMessage, StoreRequest } from "./protocol.js";
import { ENDED, type StorePort } from "./store-port.js";
import type { StoreOrder, StoreReport, StoreStart } from "./store-thread.js";
import { Stores } from "./stores.js";
import type { ReportVersion } from "./versioned.js";

registerCodecs();
const { settings, named, versions, end, first } = workerData as StoreStart;

/** A main thread that sleeps until one of these words changes receives no exit event. */
const signals = [end, first];
process.once("exit", () => {
  for (const signal of signals) {
    Atomics.store(signal, 0, ENDED);
    Atomics.notify(signal, 0);
  }
});

const report = (message: StoreReport) => parentPort?.postMessage(message);
const disk =
  settings.cacheDir === null
    ? null
    : new DiskCache(settings.cacheDir, settings.cacheBytes, (warning) => report({ warning }));
const hosts = new Hosts(undefined, (address) => report({ named: address }));
for (const address of named) hosts.allow(address);
const clock = () => performance.now();
const reportVersion: ReportVersion = (found, version) => report({ found, version });
const stores = new Stores({ settings, disk }, hosts, clock, versions, reportVersion);

parentPort?.on("message", async (order: StoreOrder) => {
  if (order === null) {
    await disk?.settled();
    process.exit();
  }
  if ("keep" in order) return stores.keep(order.keep);
  const { port, signal } = order;
  signals.push(signal);
  port.on("message", ({ id, request }: StoreMessage) => void answer({ port, signal }, id, request));
});

const STATUS_MS = 1000;
setInterval(() => report({ stores: stores.status(), disk: disk?.counts ?? null }), STATUS_MS).unref();

async function answer({ port, signal }: StorePort, id: number, request: StoreRequest): Promise<void> {
  let reply: StoreAnswer;
  try {
    const value = await perform(request);
    reply = { id, value, lent: memoryIn(request, value).filter((view) => ReadMemory.ofThread().lend(view)) };
  } catch (error) {
    const place = request.kind === "read" ? `${request.store}: ${request.path}` : request.store;
    const message = error instanceof FieldprobeError ? error.message : `${place} cannot be read: ${textOf(error)}`;
    const isBusy = error instanceof BusyError || isOutOfFiles(error);
    reply = { id, message, isBusy, context: error instanceof FieldprobeError ? error.context : {} };
  }
  port.postMessage(reply);
  Atomics.add(signal, 0, 1);
  Atomics.notify(signal, 0);
}

function perform(request: StoreRequest): Promise<unknown> {
  if (request.kind === "folder") return stores.folder(request.store);
  if (request.kind === "open") return stores.open(request);
  if (request.kind === "file") return stores.file(request);
  if (request.kind === "texts") return stores.texts(request);
  if (request.kind === "changes") return stores.changes(request.beginnings);
  if (request.kind === "bytes") return stores.bytes(request);
  return request.kind === "read" ? stores.read(request) : stores.ready(request.reads);
}

function memoryIn({ kind }: StoreRequest, value: unknown): readonly ArrayBufferView[] {
  if (kind === "read") return [value as Elements];
  return kind === "bytes" ? ((value as readonly Uint8Array[] | null) ?? []) : [];
}

function textOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replace(/\s+/g, " ");
}
