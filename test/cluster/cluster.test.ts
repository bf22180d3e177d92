/** A process that cannot read its own files asks nobody for the same bytes; keys and peers change together. */
import { once } from "node:events";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { delimiter, join } from "node:path";
import { pino } from "pino";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { freeAddresses } from "../../bench/free-addresses.js";
import { Cluster } from "../../src/cluster/cluster.js";
import { Peers } from "../../src/cluster/peers.js";
import { type Config, loadConfig } from "../../src/config.js";
import { digestBuild } from "../../src/engine/contract/build-digest.js";
import { groupsOfTimes, triplesOf } from "../../src/engine/contract/own-times.js";
import type { Engine, Query } from "../../src/engine/contract/query.js";
import { BufferPool } from "../../src/engine/main/buffers.js";
import type { Carrier } from "../../src/engine/main/carrier.js";
import { openEngine } from "../../src/engine/main/engine.js";
import { openPool } from "../../src/engine/main/pool.js";
import { WorkerError } from "../../src/errors.js";
import { operationOf } from "../../src/operations.js";
import { writeCube } from "../../tools/generate/cube.js";
import { runQuery } from "../support/run-query.js";
import { scratchFolder } from "../support/scratch.js";

/** A peer that says it is well; pieces get another answer. */
const STATUS = {
  ...{ id: "other", version: "0", build: digestBuild(), draining: false, threads: 1, running: 0, progress: 0 },
  ...{ queued: 0, cache: { bytes: 1, used: 0, read: 0 }, datasets: 1 },
};

it("counts pieces as asked only where a peer was asked", async () => {
  const data = join(scratchFolder(), "data");
  mkdirSync(data);
  const cube = { kind: "random", nodes: [128, 128, 128], steps: 1, filter: "none", seed: 3, chunk: null } as const;
  await writeCube({ ...cube, name: "cube", folder: data }, () => {});
  const pieces: string[] = [];
  const server = createServer((request, response) => {
    if (request.url === "/v1/piece") pieces.push(request.url);
    request.resume();
    const body = JSON.stringify(STATUS);
    response.writeHead(200, { "content-type": "application/json", "content-length": body.length }).end(body);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const peer = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const config = loadConfig({ DATA: data, WORKERS: "1", CACHE_BYTES: "1048576", PEERS: `${peer},127.0.0.1:1` }, {});
  const log = pino({ level: "silent" });
  const cluster = new Cluster(config, log);
  const engine = await openEngine(config, log, undefined, cluster);
  try {
    await vi.waitFor(() => expect(cluster.status().peers.some(({ usable }) => usable)).toBe(true));
    rmSync(join(data, "cube.h5"));
    const query = { operation: "GetVelocity", dataset: "cube", time: 0 } as const;
    const words = { spatialInterpolation: "Lag4", temporalInterpolation: "None" } as const;
    const points = Float32Array.from({ length: 300 }, (_, i) => (i % 97) / 16);
    await expect(runQuery(engine, { ...query, ...words }, points)).rejects.toMatchObject({ code: "DataError" });
    expect(pieces).toEqual([]);
    expect(cluster.status().pieces).toMatchObject({ asked: 0, refused: 0 });
    expect(cluster.status().pieces?.own).toBeGreaterThan(0);
  } finally {
    await engine.close(1000);
    server.close();
  }
});

describe("a query that one of two processes fails at", () => {
  const folder = scratchFolder();
  const folderOfTimes = scratchFolder();
  const engines: Engine[] = [];
  const QUERY: Query = { operation: "GetVelocity", dataset: "cube", time: 0, spatialInterpolation: "Lag4" };
  const points = Float32Array.from({ length: 300 }, (_, i) => (i * 0.618) % 6.28);

  /** Two processes that divide all queries; the first runs tasks on `carrier`. */
  const open = async (
    settings: readonly Record<string, string>[],
    carrierOf: (config: Config) => Carrier = (config) => openPool(config),
  ): Promise<readonly Cluster[]> => {
    const peers = await freeAddresses(2);
    const clusters: Cluster[] = [];
    for (const [i, listen] of peers.entries()) {
      const common = {
        DATA: [folder, folderOfTimes].join(delimiter),
        WORKERS: "1",
        CACHE_BYTES: "1048576",
        PEERS: peers.join(","),
        PEER_LISTEN: listen,
      };
      const config = loadConfig({ ...common, ...settings[i] }, {});
      const cluster = new Cluster(config, pino({ level: "silent" }));
      const carrier = i === 0 ? carrierOf(config) : openPool(config);
      engines.push(await openEngine(config, pino({ level: "silent" }), carrier, cluster));
      await cluster.listen();
      clusters.push(cluster);
    }
    for (const cluster of clusters)
      await vi.waitFor(() => expect(cluster.status().peers.map(({ usable }) => usable)).toEqual([true]), 5000);
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
    const lost = (config: Config): Carrier => {
      const carrier = openPool(config);
      const run = carrier.run.bind(carrier);
      carrier.run = (task, options) => (task.kind === "batch" ? Promise.reject(new WorkerError()) : run(task, options));
      return carrier;
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
    const taken = vi.spyOn(BufferPool.prototype, "take");
    const given = vi.spyOn(BufferPool.prototype, "give");
    const answer = await runQuery(one, QUERY, points);
    expect(asked?.status().pieces).toMatchObject({ asked: 1, refused: 1 });
    const buffers = taken.mock.results.map(({ value }) => value as SharedArrayBuffer);
    expect(new Set(given.mock.calls.map(([buffer]) => buffer)), "what was lent is given back").toEqual(
      new Set(buffers),
    );
    for (const spy of [taken, given]) spy.mockRestore();
    expect(answer).toEqual(await runQuery(one, QUERY, points, [], { alone: true }));
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
    // The thread that serves requests has compiled its kernels after some small queries.
    await vi.waitFor(async () => {
      const [before, inlined] = [{ ...asked?.status().pieces }, one.status().inlined];
      expect(await runQuery(one, QUERY, mine)).toEqual(answer);
      expect([asked?.status().pieces, one.status().inlined]).toEqual([before, inlined + 1]);
    }, 5000);
  });
});

it("takes neither keys nor peers over where one of them cannot be used", () => {
  const list = join(scratchFolder(), "peers");
  writeFileSync(list, "127.0.0.1:1\n");
  const errors: string[] = [];
  const log = pino({ level: "error" }, { write: (line) => errors.push(line) });
  const cluster = new Cluster(loadConfig({ PEERS: list }, {}), log);
  const rekey = vi.spyOn(Peers.prototype, "rekey");
  const names = () => cluster.status().peers.map(({ name }) => name);
  const noKeys = "192.0.2.1:9080 is not a loopback address: a cluster of machines needs FIELDPROBE_PEER_CERT";
  const refused = [
    ["nonsense\n", "keys and peers stay as they were"],
    ["127.0.0.1:1\n192.0.2.1:9080\n", noKeys],
  ] as const;
  for (const [text, reason] of refused) {
    writeFileSync(list, text);
    cluster.reload();
    expect(rekey).not.toHaveBeenCalled();
    expect(names()).toEqual(["127.0.0.1:1"]);
    expect(errors.at(-1)).toContain(reason);
  }
  writeFileSync(list, "127.0.0.1:1\n127.0.0.1:2\n");
  cluster.reload();
  expect(rekey).toHaveBeenCalledTimes(1);
  expect(names()).toEqual(["127.0.0.1:1", "127.0.0.1:2"]);
  vi.restoreAllMocks();
  cluster.close();
});
