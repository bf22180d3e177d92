/** A process that cannot read its own files asks nobody for the same bytes; keys and peers change together. */
import { once } from "node:events";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { pino } from "pino";
import { expect, it, vi } from "vitest";
import { Cluster } from "../../src/cluster/cluster.js";
import { Peers } from "../../src/cluster/peers.js";
import { loadConfig } from "../../src/config.js";
import { digestBuild } from "../../src/engine/build-digest.js";
import { openEngine } from "../../src/engine/engine.js";
import { writeCube } from "../../src/generate/cube.js";
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

it("takes no peers of other machines over without keys", () => {
  const list = join(scratchFolder(), "peers");
  writeFileSync(list, "127.0.0.1:1\n");
  const errors: string[] = [];
  const log = pino({ level: "error" }, { write: (line) => errors.push(line) });
  const cluster = new Cluster(loadConfig({ PEERS: list }, {}), log);
  writeFileSync(list, "127.0.0.1:1\n192.0.2.1:9080\n");
  cluster.reload();
  expect(cluster.status().peers.map(({ name }) => name)).toEqual(["127.0.0.1:1"]);
  expect(errors.join()).toMatch(/192\.0\.2\.1:9080 is not a loopback address.*PEER_CERT/);
  cluster.close();
});

it("takes neither keys nor peers over where one of them cannot be used", () => {
  const list = join(scratchFolder(), "peers");
  writeFileSync(list, "127.0.0.1:1\n");
  const errors: string[] = [];
  const log = pino({ level: "error" }, { write: (line) => errors.push(line) });
  const cluster = new Cluster(loadConfig({ PEERS: list }, {}), log);
  const rekey = vi.spyOn(Peers.prototype, "rekey");
  const names = () => cluster.status().peers.map(({ name }) => name);
  writeFileSync(list, "nonsense\n");
  cluster.reload();
  expect(rekey).not.toHaveBeenCalled();
  expect(names()).toEqual(["127.0.0.1:1"]);
  expect(errors.join()).toContain("keys and peers stay as they were");
  writeFileSync(list, "127.0.0.1:1\n127.0.0.1:2\n");
  cluster.reload();
  expect(rekey).toHaveBeenCalledTimes(1);
  expect(names()).toEqual(["127.0.0.1:1", "127.0.0.1:2"]);
  vi.restoreAllMocks();
  cluster.close();
});
