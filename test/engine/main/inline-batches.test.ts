/** Small batches are evaluated on the thread of the engine, with the bits of the worker threads. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Engine, Query } from "../../../src/engine/contract/query.js";
import type { BatchTask } from "../../../src/engine/contract/task.js";
import { openEngine } from "../../../src/engine/main/engine.js";
import { InlineBatches, isSmall } from "../../../src/engine/main/inline-batches.js";
import { openPool } from "../../../src/engine/main/pool.js";
import type { ThreadPool } from "../../../src/engine/main/thread-pool.js";
import { loadConfig } from "../../../src/shared/config.js";
import { RequestError } from "../../../src/shared/errors.js";
import { OLDER_OPERATIONS, TEMPORAL_INTERPOLATION } from "../../../src/shared/operations.js";
import { generator, runQuery, velocityAt } from "../../support/run-query.js";

const DATA = fileURLToPath(new URL("../../../data/isotropic32", import.meta.url));
const log = pino({ level: "silent" });
const SMALL: Query = velocityAt(0.31);

/** Every operation at points on the shipped data, with every option in space and in time. */
const QUERIES: readonly Query[] = OLDER_OPERATIONS.filter(({ family }) => family === "points").flatMap(
  ({ name, spatial, fields }): Query[] =>
    fields.some((field) => field !== "velocity" && field !== "pressure")
      ? []
      : spatial.flatMap((spatialInterpolation) =>
          TEMPORAL_INTERPOLATION.map(
            (temporalInterpolation): Query => ({
              ...SMALL,
              operation: name,
              spatialInterpolation,
              temporalInterpolation,
            }),
          ),
        ),
);

function pointsOf(count: number, seed: number): Float32Array {
  const random = generator(seed);
  return Float32Array.from({ length: 3 * count }, () => 6 * Math.PI * (random() - 0.5));
}

function withoutInline(pool: ThreadPool): ThreadPool {
  const run: ThreadPool["run"] = (task, options) => pool.run(task, options);
  const { parallelism, attempts, cacheBytes } = pool;
  return {
    parallelism,
    attempts,
    cacheBytes,
    run,
    alive: () => pool.alive(),
    queued: () => pool.queued(),
    running: () => pool.running(),
    cache: () => pool.cache(),
    held: () => pool.held(),
    stores: () => pool.stores(),
    connectStores: (connection) => pool.connectStores(connection),
    keepStores: (...of) => pool.keepStores(...of),
    storeCache: () => pool.storeCache(),
    close: () => pool.close(),
  };
}

async function warmUp(engine: Engine): Promise<void> {
  while (engine.status().inlined === 0) await runQuery(engine, SMALL, pointsOf(20, 1));
}

describe("small batches", () => {
  const config = loadConfig({ DATA, WORKERS: "1" }, {});
  let inline: Engine;
  let threaded: Engine;
  beforeAll(async () => {
    [inline, threaded] = await Promise.all([
      openEngine(config, log),
      openEngine(config, log, withoutInline(openPool(config))),
    ]);
    await warmUp(inline);
  });
  afterAll(() => Promise.all([inline.close(0), threaded.close(0)]));

  it("answer every operation at points, with every option, with the bits of the worker threads", async () => {
    const others = new Set<string>();
    for (const [i, query] of QUERIES.entries()) {
      const points = pointsOf(3, i);
      const before = inline.status().inlined;
      let answer = await runQuery(inline, query, points);
      // Bricks may have had to be read first, or the batches before have taken the time of this tick.
      for (let left = 10; left > 0 && inline.status().inlined === before; left--) {
        await nextTurn();
        answer = await runQuery(inline, query, points);
      }
      if (inline.status().inlined === before) others.add(query.spatialInterpolation as string);
      expect(answer, JSON.stringify(query)).toEqual(await runQuery(threaded, query, points));
    }
    expect(QUERIES.length).toBeGreaterThan(100);
    // The widest splines take longer.
    for (const method of others) expect(method).toMatch(/^M\dQ1\d$/);
    expect(threaded.status().inlined).toBe(0);
  });

  it("refuse a point in the words of the worker threads", async () => {
    const points = Float32Array.of(1, 2, 3, 4, Number.NaN, 6);
    const [one, other] = await Promise.all(
      [inline, threaded].map((engine) => runQuery(engine, SMALL, points).catch((error: unknown) => error)),
    );
    expect(one).toBeInstanceOf(RequestError);
    expect(one).toEqual(other);
    expect((one as RequestError).context).toEqual({ member: "points[1].y" });
  });

  it("leave queries of many points, of box filters and of particles to the worker threads", async () => {
    const dataset = "isotropic32";
    const before = inline.status().inlined;
    await runQuery(inline, SMALL, pointsOf(2000, 2));
    await runQuery(
      inline,
      { operation: "GetBoxFilter", dataset, time: 0.31, field: "u", filterwidth: 0.6 },
      pointsOf(2, 3),
    );
    await runQuery(
      inline,
      { operation: "GetPosition", dataset, StartTime: 0.1, dt: 0.01, nt: 2, spatialInterpolation: "Lag4" },
      pointsOf(2, 4),
    );
    expect(inline.status().inlined).toBe(before);
  });

  it("are answered by worker threads where their bricks are not in the cache", async () => {
    const tiny = await openEngine(loadConfig({ DATA, WORKERS: "1", CACHE_BYTES: String(1024 * 1024) }, {}), log);
    try {
      const query: Query = { ...SMALL, spatialInterpolation: "Lag4", temporalInterpolation: "None" };
      for (let i = 0; i < 60; i++) {
        const at = { ...query, time: Math.fround(0.02 * (i % 20)) };
        const points = pointsOf(3, i);
        expect(await runQuery(tiny, at, points)).toEqual(await runQuery(threaded, at, points));
      }
    } finally {
      await tiny.close(0);
    }
  });

  it("take a bounded time of each tick", async () => {
    const points = pointsOf(50, 5);
    await runQuery(inline, SMALL, points);
    await nextTurn();
    const before = inline.status().inlined;
    const asked = Array.from({ length: 500 }, () => runQuery(inline, SMALL, points));
    const first = inline.status().inlined - before;
    const answers = await Promise.all(asked);
    const expected = await runQuery(threaded, SMALL, points);
    for (const answer of answers) expect(answer).toEqual(expected);
    expect(first).toBeGreaterThan(0);
    expect(first).toBeLessThan(500);
  });
});

describe("a batch", () => {
  const task = {
    query: SMALL,
    fields: ["velocity"],
    count: 50,
    outIndices: null,
    dataset: {
      axes: [{ periodic: true }, { periodic: true }, { periodic: true }],
      fields: { velocity: { bricking: { count: [2, 2, 2] } } },
      forcing: { kind: "none" },
    },
  } as unknown as BatchTask;

  it("is small by its points, frames and stencil", () => {
    expect(isSmall(task)).toBe(true);
    expect(isSmall({ ...task, count: 64 })).toBe(false);
    expect(isSmall({ ...task, count: 170, query: { ...SMALL, temporalInterpolation: "None" } })).toBe(true);
    expect(isSmall({ ...task, query: { ...SMALL, spatialInterpolation: "Lag8" } })).toBe(false);
    const walls = [{ periodic: true }, { periodic: false }, { periodic: true }];
    expect(isSmall({ ...task, dataset: { ...task.dataset, axes: walls } } as unknown as BatchTask)).toBe(false);
    expect(isSmall({ ...task, outIndices: new Uint32Array(50) })).toBe(false);
  });

  it("goes to the worker threads once the evaluator cannot be made", async () => {
    const reported: unknown[] = [];
    const broken = { memory: { buffer: new ArrayBuffer(0) }, layout: {}, fd8Legacy: false } as never;
    const batches = new InlineBatches(
      broken,
      () => true,
      (error) => reported.push(error),
    );
    for (let i = 0; i < 20; i++) expect(batches.run(task)).toBe(false);
    await expect.poll(() => reported.length, { timeout: 20_000 }).toBe(1);
    expect(batches.run(task)).toBe(false);
    expect(batches.count).toBe(0);
  });
});
