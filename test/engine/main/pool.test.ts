import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { gunzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import type { Query } from "../../../src/engine/contract/query.js";
import type { Task } from "../../../src/engine/contract/task.js";
import { createShare } from "../../../src/engine/main/fair-queue.js";
import { openPool } from "../../../src/engine/main/pool.js";
import type { ThreadPool } from "../../../src/engine/main/thread-pool.js";
import { BusyError, CancelledError, DeadlineError, WorkerError } from "../../../src/shared/errors.js";
import { scanFolders } from "../../../src/storage/catalog/scan-folders.js";
import type { Dataset } from "../../../src/storage/dataset/dataset.js";
import type { ScanChanges } from "../../../src/storage/dataset/scan.js";
import { NODES, writeField, writeHdf5 } from "../../support/cubes.js";
import { confirmFile } from "../../support/open-confirmed.js";
import { scratchFolder } from "../../support/scratch.js";

const DATA = fileURLToPath(new URL("../../../data/isotropic32", import.meta.url));
/** A field `(z - 2 * y + 3 * x) / 8 + c` of 12 x 10 x 11 nodes behind a filter that only a plugin undoes. */
const LZ4 = fileURLToPath(new URL("../../storage/hdf5-bytes/filters/fixtures/lz4.h5.gz", import.meta.url));
/** The number of LZ4 among the filters of HDF5. */
const LZ4_FILTER = 32004;
const PING: Task = { kind: "ping" };

describe("pool", () => {
  let pool: ThreadPool;
  const open = (workers: number): ThreadPool => {
    pool = openPool({
      workers,
      cacheBytes: 4 * 1024 * 1024,
      limits: { "engine.chunkBytes": 1024 * 1024 },
      fd8Legacy: false,
    });
    return pool;
  };
  afterEach(() => pool.close());

  it("answers from every thread", async () => {
    open(3);
    expect(await Promise.all(Array.from({ length: 30 }, () => pool.run(PING)))).toEqual(Array(30).fill(null));
    await expect.poll(() => pool.alive(), { timeout: 20_000 }).toBe(3);
  });

  it("takes no thread of another build, whose files have replaced its own", async () => {
    const entry = new URL("../../../dist/engine/worker/worker.js", import.meta.url);
    const end = (resolve: (reason: Error) => void) => new Worker(entry, { workerData: {} }).once("error", resolve);
    const { message } = await new Promise<Error>(end);
    expect(message).toBe("The files of the program were replaced while it ran: restart it.");
  });

  it("starts one thread, and another when there is work for two", async () => {
    open(2);
    for (let i = 0; i < 5; i++) await pool.run(PING);
    expect(pool.alive()).toBe(1);
    await Promise.all([pool.run(PING), pool.run(PING)]);
    await expect.poll(() => pool.alive(), { timeout: 20_000 }).toBe(2);
  });

  it("R114: replaces a thread that met an error nobody foresaw, and goes on", async () => {
    open(1);
    const nonsense = { kind: "batch", kernel: "no such kernel" } as unknown as Task;
    const error: unknown = await pool.run(nonsense).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(WorkerError);
    expect((error as WorkerError).message).not.toMatch(/at |\.js|undefined/);
    expect(String((error as WorkerError).cause)).toContain("TypeError");
    expect(await pool.run(PING)).toBe(null);
    expect(pool.alive()).toBe(1);
  });

  it("gives no task of another query to a thread that is to be replaced", async () => {
    open(1);
    const nonsense = { kind: "batch", kernel: "no such kernel" } as unknown as Task;
    const failed = pool.run(nonsense).catch((reason: unknown) => reason);
    const others = Array.from({ length: 4 }, () => pool.run(PING));
    expect(await Promise.all(others)).toEqual(Array(4).fill(null));
    expect(await failed).toBeInstanceOf(WorkerError);
  });

  it("reports a killed task only once its thread has ended and writes nowhere any more", async () => {
    let exited = 0;
    const onWorker = (worker: Worker): void => {
      worker.once("exit", () => exited++);
    };
    process.on("worker", onWorker);
    try {
      open(2);
      await pool.run(PING);
      const kill = new AbortController();
      const scan = pool
        .run({ kind: "scan", folders: [DATA], known: new Map(), slow: false, index: null }, { kill: kill.signal })
        .catch((reason: unknown) => reason);
      kill.abort();
      expect(await scan).toBeInstanceOf(DeadlineError);
      expect(exited).toBe(1);
      expect(await pool.run(PING)).toBe(null);
    } finally {
      process.off("worker", onWorker);
    }
  });

  it("rejects a task that is killed while it waits, and leaves the thread to the others", async () => {
    open(1);
    const kill = new AbortController();
    const before = pool.run(PING);
    const waiting = pool.run(PING, { kill: kill.signal }).catch((reason: unknown) => reason);
    const after = pool.run(PING);
    kill.abort();
    expect(await waiting).toBeInstanceOf(DeadlineError);
    expect(await Promise.all([before, after])).toEqual([null, null]);
    expect([pool.queued(), pool.running()]).toEqual([0, 0]);
  });

  /** Tasks on 64 points of the shipped data, which `cancel` ends. */
  async function tasks() {
    const scanned = scanFolders([DATA], { chunkBytes: 2 ** 20 }).datasets;
    const dataset = scanned.find(({ name }) => name === "isotropic32") as Dataset;
    const cancel = new Int32Array(new SharedArrayBuffer(4));
    const triples = new Float32Array(new SharedArrayBuffer(12 * 64)).map((_, i) => i / 32);
    const points = [{ triples, count: 64 }];
    const order = new Uint32Array(new SharedArrayBuffer(4 * 64)).map((_, i) => i);
    const batch = (source: number, query: Partial<Query>, outIndices: Uint32Array | null, steps = 0): Task => ({
      ...{ kind: "batch", dataset, source, fields: ["velocity"], first: 0, count: 64, velocities: [] },
      ...{ work: 1e6, cancel, points, steps, step: 1e-9, last: 1e-9, itemsPerPoint: 1, outIndices },
      query: { dataset: "isotropic32", spatialInterpolation: "Lag8", temporalInterpolation: "None", ...query } as Query,
      out: new Float32Array(new SharedArrayBuffer(12 * 64)),
    });
    return { cancel, order, batch, long: batch(100, { operation: "GetPosition", StartTime: 0.1 }, null, 1e7) };
  }

  it("begins a task again for which a thread needs the HDF5 library", async () => {
    const folder = scratchFolder();
    const axis = (nodes: number) => ({ nodes, origin: 0, spacing: 1, periodic: true });
    const descriptor = {
      ...{ schemaVersion: 1, name: "u", axes: { x: axis(12), y: axis(10), z: axis(11) }, time: { count: 1 } },
      fields: { velocity: { file: "u.h5", path: "/u", dimensions: ["z", "y", "x", "c"] } },
    };
    writeFileSync(join(folder, "u.h5"), gunzipSync(readFileSync(LZ4)));
    writeFileSync(join(folder, "dataset.json"), JSON.stringify(descriptor));
    const bare = scratchFolder();
    await writeHdf5(join(bare, "bare.h5"), (file) => {
      writeField(file, "/u", { dimensions: ["z", "y", "x", "c"] });
      for (const name of ["x", "y", "z"] as const) {
        const data = Float64Array.from({ length: NODES[name] }, (_, i) => i / 4);
        const storage = { chunks: [data.length], compression: LZ4_FILTER, compression_opts: [0] };
        file.create_dataset({ name, data, shape: [data.length], ...storage });
      }
    });
    confirmFile(join(bare, "bare.h5"));
    open(1);
    const scan: Task = { kind: "scan", folders: [folder, bare], known: new Map(), slow: false, index: null };
    const { candidates } = (await pool.run(scan)) as ScanChanges;
    const [scanned, dataset] = candidates.map(({ outcome }) => outcome as { readonly dataset: Dataset });
    // To scan coordinates is to read them.
    expect(scanned?.dataset.axes.map(({ nodes, spacing }) => [nodes, spacing])).toEqual(
      [NODES.x, NODES.y, NODES.z].map((nodes) => [nodes, 0.25]),
    );
    // The next pool has a thread that has not loaded it.
    await pool.close();
    open(1);
    const { batch } = await tasks();
    const task = batch(300, { operation: "GetVelocity", spatialInterpolation: "None", time: 0 }, null);
    const asked = { ...task, dataset: dataset?.dataset as Dataset } as Extract<Task, { kind: "batch" }>;
    expect(await pool.run(asked)).toBe(null);
    expect([...asked.out.slice(0, 6)]).toEqual([0, 1, 2, 0, 1, 2]);
  });

  it("reads the bricks of a batch of a long sweep that waits", async () => {
    const { cancel, order, batch, long } = await tasks();
    open(1);
    const share = { ...createShare(), served: 500 };
    await pool.run(PING);
    const running = pool.run(long, { share });
    const waiting = pool.run(batch(200, { operation: "GetVelocity", time: 0.1 }, order), { share });
    await expect.poll(() => pool.held().has(200), { timeout: 20_000 }).toBe(true);
    Atomics.store(cancel, 0, 1);
    await expect(running).rejects.toThrow(CancelledError);
    await expect(waiting).rejects.toThrow(CancelledError);
    expect([pool.queued(), pool.running()]).toEqual([0, 0]);
  });

  it("scans slow folders while its only worker is busy", async () => {
    const { cancel, long } = await tasks();
    open(1);
    await pool.run(PING);
    const running = pool.run(long);
    const scan: Task = { kind: "scan", folders: [scratchFolder()], known: new Map(), slow: true, index: null };
    expect(((await pool.run(scan)) as ScanChanges).candidates).toEqual([]);
    expect(pool.running()).toBe(1);
    Atomics.store(cancel, 0, 1);
    await expect(running).rejects.toThrow(CancelledError);
  });

  const nonsense = { kind: "batch", kernel: "no such kernel" } as unknown as Task;
  const sabotage = (worker: Worker): void => void worker.terminate();

  it("starts a thread again when all have died, though there is nothing to do", async () => {
    open(2);
    await pool.run(PING);
    process.on("worker", sabotage);
    try {
      await Promise.all([nonsense, nonsense].map((task) => pool.run(task).catch((reason: unknown) => reason)));
      await expect.poll(() => pool.alive()).toBe(0);
    } finally {
      process.off("worker", sabotage);
    }
    await expect.poll(() => pool.alive(), { timeout: 20_000 }).toBe(1);
  });

  it("refuses what waits when no thread comes up, and starts threads again for what comes later", async () => {
    open(2);
    await Promise.all([pool.run(PING), pool.run(PING)]);
    await expect.poll(() => pool.alive(), { timeout: 20_000 }).toBe(2);
    process.on("worker", sabotage);
    try {
      const failed = [nonsense, nonsense].map((task) => pool.run(task).catch((reason: unknown) => reason));
      const waiting = Array.from({ length: 4 }, () => pool.run(PING).catch((reason: unknown) => reason));
      for (const error of await Promise.all(failed)) expect(error).toBeInstanceOf(WorkerError);
      for (const error of await Promise.all(waiting)) expect(error).toBeInstanceOf(BusyError);
      expect(await pool.run(PING).catch((reason: unknown) => reason)).toBeInstanceOf(BusyError);
      expect(pool.alive()).toBe(0);
      expect(pool.queued()).toBe(0);
    } finally {
      process.off("worker", sabotage);
    }
    expect(await Promise.all([pool.run(PING), pool.run(PING)])).toEqual([null, null]);
  });
});
