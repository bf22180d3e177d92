import { describe, expect, it, vi } from "vitest";
import type { Evaluation } from "../../../src/engine/contract/query.js";
import type { BatchTask } from "../../../src/engine/contract/task.js";
import { BufferPool } from "../../../src/engine/main/buffers.js";
import type { CheckedQuery } from "../../../src/engine/main/check-query.js";
import { Execution } from "../../../src/engine/main/execution.js";
import type { ThreadPool } from "../../../src/engine/main/thread-pool.js";
import { LIMITS } from "../../../src/shared/config.js";
import {
  CancelledError,
  DataError,
  DeadlineError,
  LimitError,
  RequestError,
  WorkerError,
} from "../../../src/shared/errors.js";
import { OLDER_OPERATIONS, operationOf } from "../../../src/shared/operations.js";
import type { Dataset } from "../../../src/storage/dataset/dataset.js";
import { queryContext } from "./query-context.js";

/** A thread pool whose batches the test completes by hand; the "kernel" answers the point's own coordinates. */
function manualPool(workers: number) {
  const waiting: { task: BatchTask; complete: (error?: unknown) => void; kill: AbortSignal | undefined }[] = [];
  const pool: ThreadPool = {
    parallelism: workers,
    cacheBytes: 1e9,
    run: (task, { kill } = {}) =>
      new Promise((resolve, reject) => {
        const batch = task as BatchTask;
        const complete = (error?: unknown): void => {
          if (error) {
            reject(error);
            return;
          }
          let at = 0;
          for (const { triples, count } of batch.out ? batch.points : []) {
            batch.out.set(triples.subarray(0, 3 * count), at);
            at += 3 * count;
          }
          resolve(null as never);
        };
        waiting.push({ task: batch, complete, kill });
      }),
    alive: () => workers,
    attempts: 2,
    stores: () => [],
    connectStores: () => {},
    keepStores: () => {},
    storeCache: () => null,
    held: () => new Map(),
    queued: () => 0,
    running: () => 0,
    cache: () => ({ hits: 0, misses: 0, bytesRead: 0, bytesUsed: 0 }),
    close: async () => {},
  };
  return { pool, waiting };
}

function setUp(workers = 2, limits: Partial<typeof LIMITS> = {}, deadlineMs = 10_000) {
  const { pool, waiting } = manualPool(workers);
  const operation = OLDER_OPERATIONS[0];
  const checked: CheckedQuery = {
    query: { operation: "GetVelocity" },
    operation,
    dataset: { fields: {} } as Dataset,
    fields: ["velocity"],
    region: null,
    steps: 0,
    step: 0,
    last: 0,
    samples: 1,
    itemsPerPoint: 1,
  };
  let held = 0;
  let ended = 0;
  const buffers = new BufferPool();
  const setting = queryContext(pool, {
    ...{ buffers, limits: { ...LIMITS, ...limits }, sourceOf: () => 4 },
    countPoints: (points: number) => {
      held += points;
    },
  });
  const start = (what: CheckedQuery | RequestError = checked, stream = false): Evaluation =>
    new Execution(setting, what, { deadlineMs, ended: () => ended++, stream });
  return { waiting, start, checked, buffers, held: () => held, ended: () => ended };
}

function feed(evaluation: Evaluation, points: number): void {
  for (let i = 0; i < points; ) {
    const { slab } = evaluation.points;
    const count = Math.min(points - i, slab.length / 3);
    for (let k = 0; k < 3 * count; k++) slab[k] = 3 * i + k;
    evaluation.points.commit(count);
    i += count;
  }
}

async function completeAll(waiting: ReturnType<typeof manualPool>["waiting"], last = false): Promise<void> {
  while (waiting.length > 0) {
    (last ? waiting.pop() : waiting.shift())?.complete();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const flat = (values: readonly Float32Array[]): number[] => values.flatMap((part) => [...part]);

/** A query between four frames of a field that no cache here holds. */
const AXIS = { nodes: 512, origin: 0, spacing: 1, periodic: true, coordinates: null };
const BEYOND_CACHE = {
  query: { operation: "GetVelocity", time: 1.5, temporalInterpolation: "PCHIP" },
  dataset: {
    axes: [AXIS, AXIS, AXIS],
    fields: { velocity: { components: 3, bricking: { edge: [64, 64, 64], count: [8, 8, 8] } } },
    files: [],
    time: { count: 4, origin: 0, step: 1, values: null, guardBefore: 0, guardAfter: 0 },
    frameVelocity: [0, 0, 0],
  } as unknown as Dataset,
} as const;

it("gives points back with the last task, and the result when it is released", async () => {
  const { waiting, start, buffers } = setUp();
  const evaluation = start();
  feed(evaluation, 9_000);
  const finished = evaluation.finish();
  await completeAll(waiting);
  const result = await finished;
  const pages = result.values.map(({ byteLength }) => 4096 * Math.ceil(byteLength / 4096));
  expect(pages.length).toBeGreaterThan(1);
  const all = pages.reduce((sum, bytes) => sum + bytes, 0);
  expect(buffers.lentBytes).toBe(all);
  result.release();
  expect(buffers.lentBytes).toBe(0);
});

describe("an execution", () => {
  it("names the first point of an echo that is not finite, in whichever slab it came", async () => {
    const { start, checked } = setUp();
    const evaluation = start({ ...checked, dataset: null, operation: operationOf("NullOp") });
    for (let slab = 0; slab < 4; slab++) {
      const { length } = evaluation.points.slab;
      evaluation.points.slab.fill(slab);
      // In the third slab, 512 and 8192 points in, and in the last one.
      if (slab > 1) evaluation.points.slab[3 * 100 + 1] = slab === 2 ? Number.NaN : 1 / 0;
      evaluation.points.commit(length / 3);
    }
    await expect(evaluation.finish()).rejects.toMatchObject({
      code: "OutOfRange",
      context: { member: "points[8804].y" },
    });
  });

  it.each([0, 1, 511, 512, 513, 50_000, 300_000])(
    "answers %i points in order, whatever order batches end in",
    async (points) => {
      for (const last of [false, true]) {
        const { waiting, start, held, ended } = setUp();
        const evaluation = start();
        feed(evaluation, points);
        expect(held()).toBe(points);
        const result = evaluation.finish();
        await completeAll(waiting, last);
        const { items, values, release } = await result;
        expect(items).toBe(points);
        expect(flat(values).every((value, i) => value === i)).toBe(true);
        expect(flat(values).length).toBe(3 * points);
        release();
        expect(held()).toBe(0);
        expect(ended()).toBe(1);
      }
    },
  );

  it("R106: starts while points still arrive and never has more than two batches per worker out", async () => {
    const { waiting, start } = setUp(2);
    const evaluation = start();
    feed(evaluation, 200_000);
    expect(waiting.length).toBe(4);
    const result = evaluation.finish();
    expect(waiting.length).toBe(4);
    await completeAll(waiting);
    (await result).release();
  });

  it("reports the failure of the earliest points, whichever batch fails first", async () => {
    const { waiting, start, held } = setUp(4);
    const evaluation = start();
    feed(evaluation, 100_000);
    const result = evaluation.finish();
    expect(waiting.length).toBeGreaterThan(2);
    const [first, ...others] = waiting.splice(0);
    for (const { complete } of others) complete(new RequestError("OutOfRange", "later"));
    first?.complete(new RequestError("OutOfRange", "earlier"));
    await expect(result).rejects.toThrow("earlier");
    expect(held()).toBe(0);
  });

  it("R114: runs a batch again when its thread died, and gives up the second time", async () => {
    const once = setUp(1);
    const evaluation = once.start();
    feed(evaluation, 10);
    const result = evaluation.finish();
    once.waiting.shift()?.complete(new WorkerError());
    await new Promise((resolve) => setImmediate(resolve));
    await completeAll(once.waiting);
    expect((await result).items).toBe(10);

    const twice = setUp(1);
    const second = twice.start();
    feed(second, 10);
    const failed = expect(second.finish()).rejects.toThrow(WorkerError);
    for (let i = 0; i < 2; i++) {
      twice.waiting.shift()?.complete(new WorkerError());
      await new Promise((resolve) => setImmediate(resolve));
    }
    await failed;
  });

  it("R112: answers an abort at once, tells its batches to stop, and gives buffers back only when they have", async () => {
    const { waiting, start, held, ended } = setUp();
    const evaluation = start();
    feed(evaluation, 1000);
    const result = evaluation.finish();
    evaluation.abort();
    await expect(result).rejects.toThrow(CancelledError);
    expect(held()).toBe(1000);
    const batch = waiting.shift();
    expect(batch && Atomics.load(batch.task.cancel, 0)).toBe(1);
    batch?.complete(new CancelledError());
    await new Promise((resolve) => setImmediate(resolve));
    expect(held()).toBe(0);
    expect(ended()).toBe(1);
  });

  it("drops what a writer that has not heard of an abort still writes, whole slabs of it", async () => {
    const { start, held, ended } = setUp();
    const evaluation = start();
    feed(evaluation, 600);
    const { slab } = evaluation.points;
    evaluation.abort();
    await new Promise((resolve) => setImmediate(resolve));
    expect(evaluation.points.slab.length).toBe(slab.length);
    expect(evaluation.points.slab.buffer).not.toBe(slab.buffer);
    feed(evaluation, 20_000);
    expect(held()).toBe(0);
    await expect(evaluation.finish()).rejects.toThrow(CancelledError);
    expect(held()).toBe(0);
    expect(ended()).toBe(1);
  });

  it("leaves no timer behind when it is finished after an abort", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const evaluation = setUp().start();
      evaluation.abort();
      await expect(evaluation.finish()).rejects.toThrow(CancelledError);
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it("stops the batches of a query whose input turns out to be too long", async () => {
    const { waiting, start, held } = setUp(2, { "query.points": 2000 } as never);
    const evaluation = start();
    feed(evaluation, 3000);
    await expect(evaluation.finish()).rejects.toThrow(LimitError);
    expect(waiting.length).toBe(0);
    const started = start();
    feed(started, 1500);
    const [batch] = waiting;
    feed(started, 1500);
    await expect(started.finish()).rejects.toThrow(LimitError);
    expect(batch && Atomics.load(batch.task.cancel, 0)).toBe(1);
    await completeAll(waiting);
    expect(held()).toBe(0);
  });

  it("leaves points whose bricks fit the cache as they came: a batch per worker that reads all frames", async () => {
    const { waiting, start, checked } = setUp(2);
    const evaluation = start({ ...checked, ...BEYOND_CACHE });
    feed(evaluation, 5001);
    const result = evaluation.finish();
    expect(waiting.map(({ task }) => (task as { kind: string }).kind)).toEqual(["sort"]);
    waiting.shift()?.complete();
    await new Promise((resolve) => setImmediate(resolve));
    expect(waiting.map(({ task: { count, outIndices } }) => [count, outIndices])).toEqual([
      [2501, null],
      [2500, null],
    ]);
    await completeAll(waiting);
    const { values, release } = await result;
    expect(flat(values).every((value, i) => value === i)).toBe(true);
    release();
  });

  it("repeats a batch of a sweep whose thread dies", async () => {
    const { waiting, start, checked } = setUp(1);
    const evaluation = start({ ...checked, ...BEYOND_CACHE });
    feed(evaluation, 5000);
    const result = evaluation.finish();
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    const times = new Map<BatchTask, number>();
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const { task, complete } = next;
      if ("arranged" in task) Atomics.store(task.arranged as Int32Array, 0, 1);
      times.set(task, (times.get(task) ?? 0) + 1);
      complete(times.size === 2 && times.get(task) === 1 ? new WorkerError() : undefined);
      await turn();
    }
    (await result).release();
    expect([...times.values()].slice(0, 3)).toEqual([1, 2, 1]);
  });

  it("R113: answers the deadline, and ends the thread of a batch that does not stop", async () => {
    const { waiting, start } = setUp(1, {}, 20);
    const evaluation = start();
    feed(evaluation, 10);
    await expect(evaluation.finish()).rejects.toThrow(DeadlineError);
    const batch = waiting.shift();
    await new Promise((resolve) => batch?.kill?.addEventListener("abort", resolve));
    batch?.complete(new DeadlineError());
  });

  it("reports an error found before the points only at the end, having started nothing", async () => {
    const { waiting, start, held } = setUp();
    const evaluation = start(new RequestError("Unsupported", "Invalid dataset specified!"));
    feed(evaluation, 100_000);
    expect(waiting.length).toBe(0);
    await expect(evaluation.finish()).rejects.toThrow("Invalid dataset specified!");
    expect(held()).toBe(0);
  });

  it("refuses more points than the limit, and vectors that do not match the points", async () => {
    const { start } = setUp(2, { "query.points": 100 } as never);
    const many = start();
    expect(many.limit).toEqual({ points: 100, name: "query.points" });
    feed(many, 101);
    await expect(many.finish()).rejects.toThrow(LimitError);
    const uneven = start();
    feed(uneven, 3);
    uneven.velocities.slab.fill(0);
    uneven.velocities.commit(2);
    await expect(uneven.finish()).rejects.toThrow("InitialV has 2 vectors for 3 points.");
  });

  it("refuses paths of more records than may be answered, also for no particle, before it has room for their times", async () => {
    const { start, checked } = setUp(2, { "query.points": 100 } as never);
    const track = { ...checked, operation: operationOf("GetPosition"), steps: 2 ** 31 - 1, itemsPerPoint: 2 ** 31 };
    const query = { operation: "GetPosition", recordEvery: 1 } as const;
    const evaluation = start({ ...track, query });
    expect(evaluation.limit.points).toBe(0);
    await expect(evaluation.finish()).rejects.toThrow("A path has too many records");
  });

  it("bounds the records of a filter like points: layers multiply them", async () => {
    const { start, checked } = setUp(2, { "query.points": 100 } as never);
    const filter = { ...checked, operation: operationOf("GetBoxFilterVelocity"), samples: 64 };
    const two = start({ ...filter, itemsPerPoint: 9 });
    expect(two.limit).toEqual({ points: 11, name: "query.points" });
    feed(two, 12);
    await expect(two.finish()).rejects.toThrow("Request size too large (12 > 11)");
    const four = start({ ...filter, itemsPerPoint: 585 });
    feed(four, 1);
    await expect(four.finish()).rejects.toThrow("The answer at a point has too many records (585 > 100)");
  });

  it("stops handing out batches after a failure of the data", async () => {
    const { waiting, start } = setUp(1);
    const evaluation = start();
    feed(evaluation, 300_000);
    const result = evaluation.finish();
    for (const { complete } of waiting.splice(0)) complete(new DataError("checksum"));
    await expect(result).rejects.toThrow("checksum");
    expect(waiting.length).toBe(0);
  });
});

describe("a result that may come in parts", () => {
  /** Enough for more parts than may wait to be read by two workers. */
  const POINTS = 3_000_000;
  const LONG = { "query.points": POINTS };
  const periodic = { nodes: 8, origin: 0, spacing: 1, periodic: true, coordinates: null };
  const ended = { ...periodic, periodic: false };
  const on = (checked: CheckedQuery, y: object): CheckedQuery => ({
    ...checked,
    query: { ...checked.query, time: 0 },
    dataset: { fields: {}, axes: [periodic, y, periodic], frameVelocity: [0, 0, 0] } as unknown as Dataset,
  });

  /** Ends waiting batches in the order in which they began, as long as there are any. */
  const work = async (waiting: ReturnType<typeof manualPool>["waiting"]): Promise<void> => {
    while (waiting.length > 0) {
      waiting.shift()?.complete();
      await new Promise((resolve) => setImmediate(resolve));
    }
  };

  it("comes whole where it is short", async () => {
    const { waiting, start, checked } = setUp();
    const evaluation = start(on(checked, periodic), true);
    feed(evaluation, 5000);
    const finished = evaluation.finish();
    await work(waiting);
    const result = await finished;
    expect([result.stream, flat(result.values).length]).toEqual([undefined, 15_000]);
    result.release();
  });

  /** Ends the input, and begins to read the parts of the result. */
  async function streamed(evaluation: Evaluation, waiting: Parameters<typeof work>[0]) {
    feed(evaluation, POINTS);
    const finished = evaluation.finish();
    await work(waiting);
    const { stream, release } = await finished;
    return { parts: (stream as AsyncIterable<Float32Array>)[Symbol.asyncIterator](), release };
  }

  it("is computed as it is read, in order, and holds no more than it says", async () => {
    const { waiting, start, checked, held, ended: ends } = setUp(2, LONG);
    const evaluation = start(on(checked, periodic), true);
    feed(evaluation, POINTS);
    const finished = evaluation.finish();
    await work(waiting);
    const { stream, items, heldBytes = 0, release } = await finished;
    expect([items, heldBytes]).toEqual([POINTS, 12 * POINTS + 8 * 2 ** 20]);
    let next = 0;
    for await (const part of stream as AsyncIterable<Float32Array>) {
      const wrong = part.findIndex((value, i) => value !== Math.fround(next + i));
      expect(wrong).toBe(-1);
      next += part.length;
      const begun = waiting.reduce((sum, { task }) => sum + task.out.length, 0);
      expect(4 * begun).toBeLessThanOrEqual(heldBytes - 12 * POINTS);
      await work(waiting);
    }
    expect(next).toBe(3 * POINTS);
    release();
    expect([held(), ends()]).toEqual([0, 1]);
  });

  it.each([
    ["fails", new DataError("unreadable")],
    ["is no longer wanted", null],
  ])("is cleared when it %s on the way", async (_, error) => {
    const { waiting, start, checked, held, ended: ends } = setUp(2, LONG);
    const evaluation = start(on(checked, periodic), true);
    const { parts, release } = await streamed(evaluation, waiting);
    while (waiting.length === 0) await parts.next();
    if (error !== null) {
      waiting.shift()?.complete(error);
      await expect(
        (async () => {
          while (!(await parts.next()).done);
        })(),
      ).rejects.toBe(error);
    }
    release();
    await work(waiting);
    expect([held(), ends()]).toEqual([0, 1]);
  });

  it("gives each part back once, also for a reader that has not heard of the end", async () => {
    const { waiting, start, checked, buffers } = setUp(2, LONG);
    const evaluation = start(on(checked, periodic), true);
    const { parts, release } = await streamed(evaluation, waiting);
    await parts.next();
    evaluation.abort();
    release();
    // The part that was read last is another's memory by now.
    const others = buffers.lend(2 * 2 ** 20);
    await expect(parts.next()).rejects.toBeInstanceOf(CancelledError);
    expect(buffers.lentBytes).toBe(others.length);
    expect(waiting).toEqual([]);
  });

  it("fails before anything is given out where a later part fails while the first is computed", async () => {
    const { waiting, start, checked } = setUp(2, LONG);
    const evaluation = start(on(checked, periodic), true);
    feed(evaluation, POINTS);
    const finished = evaluation.finish();
    await new Promise((resolve) => setImmediate(resolve));
    const [first, second, third] = waiting.splice(0, 3);
    await work(waiting);
    const error = new DataError("unreadable");
    second?.complete(error);
    first?.complete();
    await new Promise((resolve) => setImmediate(resolve));
    third?.complete();
    await expect(finished).rejects.toBe(error);
  });

  it("is refused for a point outside before anything is given out", async () => {
    const { start, checked } = setUp(2, LONG);
    const evaluation = start(on(checked, ended), true);
    feed(evaluation, 4);
    await expect(evaluation.finish()).rejects.toMatchObject({ code: "OutOfRange", context: { member: "points[3].y" } });
  });
});
