/** Networks that break and networks that are slow: a worker in a namespace of its own, and a relay that takes its time. */
import { execFileSync, spawnSync } from "node:child_process";
import { connect, createServer, type Server, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Engine } from "../../../src/engine/query.js";
import { runQuery } from "../../support/run-query.js";
import { randomPoints, VELOCITY } from "./queries.js";
import { heard, missing, openAlone, openGateway, type Running, startNats, startWorker } from "./support.js";

const NAME = `fp${process.pid % 100_000}`;
const NET = `10.77.${process.pid % 250}`;
const POINTS = randomPoints(100_000, 23);

const ip = (...args: string[]): void => {
  execFileSync("ip", args, { stdio: "pipe" });
};

/** Why there can be no namespace here, or null. */
function noNamespaces(): string | null {
  const made = spawnSync("ip", ["netns", "add", `${NAME}t`], { encoding: "utf8" });
  if (made.error) return "iproute2 is not installed";
  if (made.status !== 0) return `namespaces are not permitted: ${made.stderr.trim()}`;
  const pair = spawnSync("ip", ["link", "add", `${NAME}t`, "type", "veth", "peer", "name", `${NAME}u`], {
    encoding: "utf8",
  });
  if (pair.status === 0) ip("link", "del", `${NAME}t`);
  ip("netns", "del", `${NAME}t`);
  return pair.status === 0 ? null : `no pairs of interfaces: ${pair.stderr.trim()}`;
}

const noNats = missing();
const reason = noNats ?? noNamespaces();

describe.skipIf(reason !== null)(`partition${reason ? `: skipped, ${reason}` : ""}`, () => {
  const processes: Running[] = [];
  let alone: Engine;
  let gateway: Engine;
  let expected: Float32Array;

  beforeAll(async () => {
    ip("netns", "add", NAME);
    ip("link", "add", `${NAME}a`, "type", "veth", "peer", "name", `${NAME}b`);
    ip("link", "set", `${NAME}b`, "netns", NAME);
    ip("addr", "add", `${NET}.1/30`, "dev", `${NAME}a`);
    ip("link", "set", `${NAME}a`, "up");
    ip("-n", NAME, "addr", "add", `${NET}.2/30`, "dev", `${NAME}b`);
    ip("-n", NAME, "link", "set", `${NAME}b`, "up");
    const nats = await startNats([], `${NET}.1`);
    processes.push(nats);
    processes.push(await startWorker("near", nats));
    processes.push(await startWorker("far", { ...nats, within: ["ip", "netns", "exec", NAME] }));
    alone = await openAlone();
    expected = await runQuery(alone, VELOCITY, POINTS);
    gateway = await openGateway(2, { ...nats, settings: { BATCH_TIMEOUT_MS: "1000" } });
  });
  afterAll(async () => {
    await gateway?.close(1000);
    await alone?.close(1000);
    for (const running of processes.toReversed()) await running.end();
    ip("netns", "del", NAME);
  });

  it("in the middle of a query changes no bit, and the worker comes back when it ends", {
    timeout: 90_000,
  }, async () => {
    expect(await runQuery(gateway, VELOCITY, POINTS)).toEqual(expected);
    const running = runQuery(gateway, VELOCITY, POINTS);
    const far = () => gateway.status().peers.find(({ name }) => name === "far");
    await expect.poll(() => far()?.outstanding, { interval: 1 }).toBeGreaterThan(0);
    ip("link", "set", `${NAME}a`, "down");
    expect(await running).toEqual(expected);
    await heard(gateway, 1);
    expect(await runQuery(gateway, VELOCITY, POINTS)).toEqual(expected);
    ip("link", "set", `${NAME}a`, "up");
    await heard(gateway, 2);
    expect(await runQuery(gateway, VELOCITY, POINTS)).toEqual(expected);
  });
});

describe.skipIf(noNats !== null)(`delay${noNats ? `: skipped, ${noNats}` : ""}`, () => {
  const DELAY_MS = 40;
  const processes: Running[] = [];
  const sockets = new Set<Socket>();
  let relay: Server;
  let alone: Engine;
  let gateway: Engine;

  beforeAll(async () => {
    const nats = await startNats();
    processes.push(nats);
    relay = createServer((near) => {
      const far = connect(nats.port, "127.0.0.1");
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        sockets.add(from);
        from.on("data", (chunk) => setTimeout(() => to.writable && to.write(chunk), DELAY_MS));
        from.on("close", () => to.destroy());
        from.on("error", () => to.destroy());
      }
    });
    await new Promise<void>((resolve) => relay.listen(0, "127.0.0.1", resolve));
    const { port } = relay.address() as { port: number };
    processes.push(await startWorker("near", nats));
    processes.push(await startWorker("far", { url: `nats://127.0.0.1:${port}`, settings: {} }));
    alone = await openAlone();
    gateway = await openGateway(2, { ...nats, settings: { HEDGE_MS: "1000" } });
  });
  afterAll(async () => {
    await gateway?.close(1000);
    await alone?.close(1000);
    for (const running of processes.toReversed()) await running.end();
    for (const socket of sockets) socket.destroy();
    relay?.close();
  });

  it("of 40 ms each way changes no bit, and both workers are used", { timeout: 60_000 }, async () => {
    const expected = await runQuery(alone, VELOCITY, POINTS);
    for (let i = 0; i < 3; i++) expect(await runQuery(gateway, VELOCITY, POINTS)).toEqual(expected);
    expect(gateway.status().sending).toMatchObject({ lost: 0, repeated: 0 });
    await expect
      .poll(() => gateway.status().peers.map(({ cache }) => cache.misses > 0), { timeout: 5000 })
      .toEqual([true, true]);
  });
});
