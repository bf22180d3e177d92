/** Entry of the worker threads: runs one task at a time and returns a tagged outcome. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parentPort, threadId, workerData } from "node:worker_threads";
import { PlaneTransforms } from "../../kernels/fft/plane-transforms.js";
import { instantiateSimd } from "../../kernels/simd/index.js";
import { recordsByValue } from "../../kernels/threshold.js";
import { builtFile } from "../../shared/build.js";
import { FieldprobeError } from "../../shared/errors.js";
import { openDataset } from "../../storage/bricks/brick-reader.js";
import { scanChanges, scanWithIndex } from "../../storage/catalog/scan-folders.js";
import type { ScanChanges } from "../../storage/dataset/scan.js";
import { loadHdf5 } from "../../storage/hdf5/library.js";
import { LibraryNeeded } from "../../storage/hdf5-bytes/filters.js";
import { connectToStores } from "../../storage/remote/store-connection.js";
import { answerDraft } from "../../storage/tools/drafts.js";
import { readJsonBody } from "../../text/json-body.js";
import { textModule } from "../../text/text-module.js";
import { COMPUTING, digestBuild, digestFile } from "../contract/build-digest.js";
import { type Message, readDataset, type TaskMessage, type TicketedTask } from "../contract/dataset-copy.js";
import { failureOf } from "../contract/errors-as-data.js";
import type { WorkerSetup } from "../contract/memory.js";
import type { BatchTask, Progress, ScanTask, TaskOutcome, Waited } from "../contract/task.js";
import { evaluateBatch, readAhead } from "./batch.js";
import { compress } from "./compress.js";
import { FrameTransforms } from "./frame-transforms.js";
import { NodeColumns } from "./node-columns.js";
import { cutNodes, searchNodes } from "./node-regions.js";
import { OpenDatasets } from "./open-dataset.js";
import { NodeReductions } from "./reduce-nodes.js";
import { Sampler, StoreWait } from "./sampler.js";
import { sortSection } from "./sweep-sort.js";

/** Length of a time slice, after which a batch yields its thread if others wait. */
const SLICE_MS = 10;
/** Changes of the awaited brick after which a task keeps its thread: the cache may be too small for all tasks. */
const MAX_CHANGES = 4096;

// piscina wraps the data it is given.
const { build, memory, layout, chunkBytes, fd8Legacy, contended, loaded, tickets } = workerData as WorkerSetup;
// Another build lays out the memory in another way, or computes other numbers.
if (digestFile(builtFile(new URL("./worker.js", import.meta.url))) !== build)
  throw new Error("The files of the program were replaced while it ran: restart it.");

connectToStores(parentPort);
const workerIndex = claimWorkerIndex();
const SIMD = new URL("../../kernels/simd/kernels.wasm", import.meta.url);
const sampler = new Sampler(memory.buffer as SharedArrayBuffer, layout, workerIndex, (scratch) =>
  fromModule(SIMD, (wasm) => instantiateSimd(wasm, memory, scratch)),
);
const datasets = new OpenDatasets({ fd8Legacy, accelerator: sampler.accelerator }, readDataset, openDataset);
const columns = new NodeColumns();
const reductions = new NodeReductions(columns);
const transforms = new FrameTransforms(columns, () =>
  fromModule(new URL("../../kernels/fft/fft.wasm", import.meta.url), (wasm) => new PlaneTransforms(wasm)),
);
Atomics.store(loaded, workerIndex, threadId);

/** Claims a free worker index; the index of a dead thread becomes free once its pins are released. */
function claimWorkerIndex(): number {
  const threadIds = new Int32Array(memory.buffer, layout.threadIds, layout.workers);
  for (;;) {
    for (let workerIndex = 0; workerIndex < layout.workers; workerIndex++) {
      if (Atomics.compareExchange(threadIds, workerIndex, 0, threadId) === 0) return workerIndex;
    }
    Atomics.wait(threadIds, 0, Atomics.load(threadIds, 0), 20);
  }
}

/** Reads the file of a WebAssembly module and instantiates it with `make`. */
function fromModule<T>(file: URL, make: (wasm: Uint8Array) => T): T {
  try {
    return make(readFileSync(file));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${fileURLToPath(file)} does not belong to this program, run npm ci: ${reason}`);
  }
}

/** Evaluates a batch for a time slice. Waiting for a store ends the slice, so that the main thread can react. */
function evaluateForSlice(task: Message<BatchTask>): Progress | null {
  const isOver = startSlice();
  let waits = false;
  const progress = evaluateBatch(task, datasets.of(task), sampler, (waitsForStore = false) => {
    waits = waitsForStore;
    return waits || isOver();
  });
  return progress && waits ? { ...progress, waits } : progress;
}

/** Runs work that is abandoned while it waits for a store, and begins again when more bricks are cached. */
function leavingStores<T>(waited: Waited | null | undefined, work: () => T): T | Waited {
  const { changes, brick: awaited } = waited ?? { changes: 0, brick: "" };
  sampler.mayRestart = () => changes < MAX_CHANGES;
  try {
    return work();
  } catch (error) {
    if (!(error instanceof StoreWait)) throw error;
    const { brick } = error;
    return { waits: true, brick, changes: changes + (brick === awaited ? 0 : 1) };
  } finally {
    sampler.mayRestart = () => false;
  }
}

/** Starts a time slice. Returns a function that reports whether it has ended. */
function startSlice(): () => boolean {
  const end = performance.now() + SLICE_MS;
  return () => Atomics.load(contended, 0) === 1 && performance.now() > end;
}

function scan({ folders, known, served, descriptors = null, index }: ScanTask): ScanChanges {
  const options = { chunkBytes, known, served, descriptors };
  if (index === null) return scanChanges(folders, options);
  return scanWithIndex(folders, options, index, JSON.stringify([digestBuild(COMPUTING), chunkBytes]));
}

function perform(task: TaskMessage): unknown {
  switch (task.kind) {
    case "ping":
      return null;
    case "scan":
      return scan(task);
    case "draft":
      return answerDraft(task);
    case "sort":
      return sortSection(task, datasets.of(task).dataset);
    case "read":
      return textModule().read(task.bytes, task, task.out);
    case "write":
      return textModule().write(task.values, task, task.out);
    case "json":
      return readJsonBody(Buffer.from(task.bytes.buffer, task.bytes.byteOffset, task.bytes.length));
    case "compress":
      return compress(task);
    case "search":
      return leavingStores(task.waited, () => searchNodes(task, datasets.of(task), sampler, reductions));
    case "join":
      return recordsByValue(task.parts, task.count);
    case "reduce":
      return leavingStores(task.waited, () => reductions.reduce(task, datasets.of(task), sampler));
    case "transform":
      return leavingStores(task.waited, () => transforms.run(task, datasets.of(task), sampler));
    case "cutout":
      return leavingStores(task.waited, () => cutNodes(task, datasets.of(task), sampler, startSlice(), reductions));
    case "batch":
      return leavingStores(task.waited, () => evaluateForSlice(task));
    case "ahead":
      return readAhead(task, datasets.of(task), sampler, () => Atomics.load(contended, 0) === 1);
  }
}

/** Runs a task. The first one that needs the HDF5 library begins again when it has been loaded. */
export default function run({ ticket, task }: TicketedTask): TaskOutcome<unknown> | Promise<TaskOutcome<unknown>> {
  Atomics.store(tickets, workerIndex, ticket);
  try {
    const value = perform(task);
    return value instanceof Promise ? value.then(succeeded, failed) : succeeded(value);
  } catch (error) {
    if (error instanceof LibraryNeeded) return loadHdf5().then(() => run({ ticket, task }), failed);
    return failed(error);
  }
}

function succeeded(value: unknown): TaskOutcome<unknown> {
  Atomics.store(tickets, workerIndex, 0);
  return { ok: true, value };
}

/**
 * Reports the error of a task. Any error but a FieldprobeError is a defect, after which this thread cannot be trusted:
 * rethrown outside the task, it ends the thread.
 */
function failed(error: unknown): TaskOutcome<unknown> | Promise<never> {
  if (error instanceof FieldprobeError) {
    Atomics.store(tickets, workerIndex, 0);
    return { ok: false, ...failureOf(error) };
  }
  return new Promise(() => {
    setImmediate(() => {
      throw error;
    });
  });
}
