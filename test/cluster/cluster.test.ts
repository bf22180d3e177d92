/** Queries that one of two processes fails at, and those that need one process only. */
import { delimiter } from "node:path";
import { pino } from "pino";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { Cluster } from "../../src/cluster/cluster.js";
import type { Engine, Query } from "../../src/engine/contract/query.js";
import { groupsOfTimes, triplesOf } from "../../src/engine/contract/time-groups.js";
import { BufferPool } from "../../src/engine/main/buffers.js";
import { openEngine } from "../../src/engine/main/engine.js";
import { openPool } from "../../src/engine/main/pool.js";
import type { ThreadPool } from "../../src/engine/main/thread-pool.js";
import { type Config, loadConfig } from "../../src/shared/config.js";
import { WorkerError } from "../../src/shared/errors.js";
import { operationOf } from "../../src/shared/operations.js";
import { writeCube } from "../../tools/generate/cube.js";
import { NO_NATS, useNatsServers } from "../support/nats.js";
import { runQuery } from "../support/run-query.js";
import { scratchFolder } from "../support/scratch.js";

describe.skipIf(NO_NATS)("a query that one of two processes fails at", () => {
  const folder = scratchFolder();
  const folderOfTimes = scratchFolder();
  const startNats = useNatsServers();
  const engines: Engine[] = [];
  const QUERY: Query = { operation: "GetVelocity", dataset: "cube", time: 0, spatialInterpolation: "Lag4" };
  const points = Float32Array.from({ length: 300 }, (_, i) => (i * 0.618) % 6.28);

  const open = async (
    settings: readonly Record<string, string>[],
    poolOf: (config: Config) => ThreadPool = (config) => openPool(config),
  ): Promise<readonly Cluster[]> => {
    const { url } = await startNats();
    const clusters: Cluster[] = [];
    for (const i of [0, 1]) {
      const common = { DATA: [folder, folderOfTimes].join(delimiter), WORKERS: "1", CACHE_BYTES: "1048576", NATS: url };
      const config = loadConfig({ ...common, ...settings[i] }, {});
      const cluster = new Cluster(config, pino({ level: "silent" }));
      const pool = i === 0 ? poolOf(config) : openPool(config);
      engines.push(await openEngine(config, pino({ level: "silent" }), pool, cluster));
      clusters.push(cluster);
    }
    for (const cluster of clusters)
      await vi.waitFor(() => expect(cluster.status().peers).toMatchObject([{ usable: true, shared: 2 }]), 10_000);
    return clusters;
  };

  beforeAll(async () => {
    const cube = { kind: "random", nodes: [128, 128, 128], steps: 1, filter: "none", seed: 3, chunk: null } as const;
    await writeCube({ ...cube, name: "cube", folder }, () => {});
    const timed = { ...cube, nodes: [64, 64, 64], steps: 5 } as const;
    await writeCube({ ...timed, name: "timed", folder: folderOfTimes }, () => {});
  });
  afterEach(async () => {
    for (const engine of engines.splice(0)) await engine.close(1000);
  });

  it("is answered by the other one where a thread of the one that was asked is lost", async () => {
    const lost = (config: Config): ThreadPool => {
      const pool = openPool(config);
      const run = pool.run.bind(pool);
      pool.run = (task, options) => (task.kind === "batch" ? Promise.reject(new WorkerError()) : run(task, options));
      return pool;
    };
    const [failing] = await open([{}, {}], lost);
    const [one, other] = engines as [Engine, Engine];
    const answer = await runQuery(one, QUERY, points);
    expect(failing?.status().pieces).toMatchObject({ own: 1, asked: 2 });
    expect(answer).toEqual(await runQuery(other, QUERY, points, [], { alone: true }));
  });

  it("is answered by the one that was asked where the limits of the other one are lower", async () => {
    const [asked] = await open([{}, { QUERY_POINTS: "2" }]);
    const [one] = engines as [Engine];
    const taken = vi.spyOn(BufferPool.prototype, "lend");
    const given = vi.spyOn(BufferPool.prototype, "giveBack");
    const answer = await runQuery(one, QUERY, points);
    expect(asked?.status().pieces).toMatchObject({ asked: 1, refused: 1 });
    const lent = taken.mock.results.map(({ value }) => (value as Uint8Array).byteOffset);
    const back = given.mock.calls.map(([{ byteOffset }]) => byteOffset);
    expect(back.sort(), "what was lent is given back").toEqual(lent.sort());
    for (const spy of [taken, given]) spy.mockRestore();
    expect(answer).toEqual(await runQuery(one, QUERY, points, [], { alone: true }));
    // The system gives no memory for the second block of the division: the first is given back.
    const { lend: take } = BufferPool.prototype;
    const none = vi.spyOn(BufferPool.prototype, "lend").mockImplementation(function (this: BufferPool, bytes) {
      if (bytes === 4 * 100) throw new RangeError("no memory");
      return take.call(this, bytes);
    });
    await expect(runQuery(one, QUERY, points)).rejects.toThrow();
    expect(none.mock.results.map(({ type }) => type)).toContain("throw");
    none.mockRestore();
    expect([asked?.status().lentBytes, one.status().lentBytes]).toEqual([0, 0]);
  });

  it("names a wrong point by its place among all, whichever process finds it", async () => {
    await open([{}, {}]);
    const [one] = engines as [Engine];
    for (const at of [3, 40, 97]) {
      const wrong = points.slice();
      wrong[3 * at + 1] = Number.NaN;
      await expect(runQuery(one, QUERY, wrong)).rejects.toMatchObject({ context: { member: `points[${at}].y` } });
    }
  });

  it("asks no peer about points with a time each, and others about those that share a time", async () => {
    const clusters = await open([{}, {}]);
    const asked = () => clusters.map((cluster) => cluster.status().pieces?.asked ?? 0);
    const query = { ...QUERY, dataset: "timed", temporalInterpolation: "PCHIP" } as const;
    const times = Float64Array.from({ length: 100 }, (_, i) => 0.11 + 0.0007 * i);
    const dataset = engines[0]?.find("timed") as NonNullable<ReturnType<Engine["find"]>>;
    for (const engine of engines)
      for (const group of groupsOfTimes(query, operationOf("GetVelocity"), dataset, "time", times)) {
        const own = triplesOf(points, group.points);
        const before = asked();
        const answer = await runQuery(engine, group.query, own);
        expect(asked()).toEqual(before);
        expect(answer).toEqual(await runQuery(engine, group.query, own, [], { alone: true }));
        const [first] = group.points;
        const alone = await runQuery(engine, { ...query, time: times[first as number] as number }, own.subarray(0, 3));
        expect(alone).toEqual(answer.subarray(0, 3));
      }
    expect(Math.max(...asked())).toBeGreaterThan(0);
  });

  it("needs no peer at points whose bricks are cached, in data larger than one cache", async () => {
    const [asked] = await open([{}, {}]);
    const [one] = engines as [Engine];
    const own = (): number => asked?.status().pieces?.own ?? 0;
    const corners = [1, 4].flatMap((x) => [1, 4].flatMap((y) => [1, 4].map((z) => Float32Array.of(x, y, z))));
    let mine = new Float32Array(0);
    for (const corner of corners) {
      const before = own();
      await runQuery(one, QUERY, corner);
      if (own() > before) mine = corner;
    }
    const answer = await runQuery(one, QUERY, mine);
    await vi.waitFor(async () => {
      const [before, inlined] = [{ ...asked?.status().pieces }, one.status().inlined];
      expect(await runQuery(one, QUERY, mine)).toEqual(answer);
      expect([asked?.status().pieces, one.status().inlined]).toEqual([before, inlined + 1]);
    }, 5000);
  });
});
