/** Processes and servers that die, stop or end while queries run. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Engine } from "../../../src/engine/query.js";
import { BusyError } from "../../../src/errors.js";
import { runQuery } from "../../support/run-query.js";
import { everyOperation, randomPoints, VELOCITY } from "./queries.js";
import {
  heard,
  missing,
  openAlone,
  openGateway,
  type Running,
  start,
  startGateway,
  startNats,
  startWorker,
} from "./support.js";

const reason = missing();
const POINTS = randomPoints(200_000, 21);

/** The order statistic at `q` of some times. */
function quantile(times: readonly number[], q: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] as number;
}

async function timed<T>(work: Promise<T>): Promise<{ value: T; ms: number }> {
  const since = performance.now();
  const value = await work;
  return { value, ms: performance.now() - since };
}

describe.skipIf(reason !== null)(`failures${reason ? `: skipped, ${reason}` : ""}`, () => {
  const started: (Running | Engine)[] = [];
  let alone: Engine;
  let expected: Float32Array;

  const keep = async <T extends Running | Engine>(one: Promise<T>): Promise<T> => {
    const value = await one;
    started.push(value);
    return value;
  };
  const same = (found: Float32Array): void => {
    expect(Buffer.from(found.buffer).equals(Buffer.from(expected.buffer))).toBe(true);
  };

  beforeAll(async () => {
    alone = await openAlone();
    expected = await runQuery(alone, VELOCITY, POINTS);
  });
  afterAll(() => alone?.close(1000));
  afterEach(async () => {
    for (const one of started.splice(0).toReversed()) await ("end" in one ? one.end() : one.close(1000));
  });

  it("a worker killed in the middle of a query costs less than the batch timeout", { timeout: 60_000 }, async () => {
    const { url } = await keep(startNats());
    const workers = await Promise.all(["w1", "w2", "w3"].map((name) => keep(startWorker(name, { url }))));
    const timeout = 1000;
    const settings = { BATCH_TIMEOUT_MS: String(timeout), HEDGE_MS: "60000" };
    const gateway = await keep(openGateway(3, { url, settings }));
    const usual: number[] = [];
    for (let i = 0; i < 5; i++) usual.push((await timed(runQuery(gateway, VELOCITY, POINTS))).ms);
    const running = timed(runQuery(gateway, VELOCITY, POINTS));
    await expect
      .poll(() => gateway.status().peers.find(({ name }) => name === "w1")?.outstanding, { interval: 1 })
      .toBeGreaterThan(0);
    await workers[0]?.end("SIGKILL");
    const { value, ms } = await running;
    same(value);
    expect(gateway.status().sending?.repeated).toBeGreaterThan(0);
    expect(ms - quantile(usual, 0.5)).toBeLessThan(timeout + 100);
    expect(gateway.status().peers.length).toBe(2);
  });

  it("a worker killed in the middle of queries of every operation changes no bit", { timeout: 120_000 }, async () => {
    const { url } = await keep(startNats());
    const workers = await Promise.all(["w1", "w2", "w3"].map((name) => keep(startWorker(name, { url }))));
    const gateway = await keep(openGateway(3, { url }));
    const operations = everyOperation("isotropic32");
    const ask = (engine: Engine): Promise<Float32Array[]> =>
      Promise.all(operations.map(({ query, points }, i) => runQuery(engine, query, randomPoints(points, i))));
    const wanted = await ask(alone);
    const running = ask(gateway);
    await expect
      .poll(() => gateway.status().peers.find(({ name }) => name === "w1")?.outstanding, { interval: 1 })
      .toBeGreaterThan(0);
    await workers[0]?.end("SIGKILL");
    const found = await running;
    operations.forEach(({ title }, i) => {
      const [one, other] = [wanted[i], found[i]] as [Float32Array, Float32Array];
      expect(Buffer.from(other.buffer).equals(Buffer.from(one.buffer)), title).toBe(true);
    });
    expect(gateway.status().sending?.repeated).toBeGreaterThan(0);
  });

  it("no live worker is a fault within 100 ms", { timeout: 60_000 }, async () => {
    const { url } = await keep(startNats());
    const none = await keep(openGateway(0, { url }));
    for (let i = 0; i < 3; i++) {
      const { value, ms } = await timed(runQuery(none, VELOCITY, POINTS).catch((error: unknown) => error));
      expect(value).toBeInstanceOf(BusyError);
      expect(ms).toBeLessThan(100);
    }
    const worker = await keep(startWorker("w1", { url }));
    await heard(none, 1);
    same(await runQuery(none, VELOCITY, POINTS));
    await worker.end("SIGKILL");
    const { value, ms } = await timed(runQuery(none, VELOCITY, POINTS).catch((error: unknown) => error));
    expect(value).toBeInstanceOf(BusyError);
    expect(ms).toBeLessThan(100);
  });

  it("SIGTERM under load loses no reply", { timeout: 60_000 }, async () => {
    const { url } = await keep(startNats());
    const workers = await Promise.all(["w1", "w2"].map((name) => keep(startWorker(name, { url }))));
    // Neither hedges nor timeouts may help.
    const settings = { BATCH_TIMEOUT_MS: "60000", HEDGE_MS: "60000" };
    const gateway = await keep(openGateway(2, { url, settings }));
    const asking = Array.from({ length: 4 }, async () => {
      for (let i = 0; i < 3; i++) same(await runQuery(gateway, VELOCITY, POINTS));
    });
    await expect
      .poll(() => gateway.status().peers.every(({ outstanding }) => outstanding > 0), { interval: 1 })
      .toBe(true);
    expect(await workers[0]?.end("SIGTERM")).toBe(0);
    await Promise.all(asking);
    expect(gateway.status().sending?.lost).toBe(0);
  });

  it("a worker and a gateway whose server is gone end when they are told to", { timeout: 60_000 }, async () => {
    const nats = await keep(startNats());
    const worker = await keep(startWorker("w1", nats));
    const gateway = await keep(startGateway(nats));
    await nats.end("SIGKILL");
    expect(await worker.end("SIGTERM")).toBe(0);
    expect(await gateway.end("SIGTERM")).toBe(0);
  });

  it("a stopped worker costs its first batches a hedge, and later queries nothing", { timeout: 240_000 }, async () => {
    const { url } = await keep(startNats());
    const names = ["w1", "w2", "w3"];
    const workers = await Promise.all(names.map((name) => keep(startWorker(name, { url }))));
    const hedge = 100;
    const gateway = await keep(openGateway(3, { url, settings: { HEDGE_MS: String(hedge) } }));
    // So few points go out as one batch: the time of a query is that of its batch.
    const small = POINTS.subarray(0, 3 * 1024);
    const query = { ...VELOCITY, operation: "GetVelocityHessian", spatialInterpolation: "Fd4Lag4" } as const;
    const ask = async (): Promise<number> => (await timed(runQuery(gateway, query, small))).ms;
    // Every worker has compiled and cached what it needs.
    for (let i = 0; i < 5; i++) await runQuery(gateway, query, POINTS);
    for (let i = 0; i < 20; i++) await ask();
    const usual: number[] = [];
    const stopped: number[] = [];
    const messages = (): number => {
      const { sent = 0, hedged = 0 } = gateway.status().sending ?? {};
      return sent - hedged;
    };
    // Several stops, so that one query in a hundred has met with one: fewer would leave the tail to chance.
    for (let stop = 0; stop < 3; stop++) {
      const before = messages();
      for (let i = 0; i < 100; i++) usual.push(await ask());
      expect(messages() - before).toBe(100);
      // The one that these points go to.
      const running = ask();
      await expect
        .poll(() => gateway.status().peers.some(({ outstanding }) => outstanding > 0), { interval: 0 })
        .toBe(true);
      const victim = gateway.status().peers.find(({ outstanding }) => outstanding > 0);
      await running;
      const { child } = workers[names.indexOf(victim?.name ?? "")] as Running;
      const hedged = gateway.status().sending?.hedged ?? 0;
      child.kill("SIGSTOP");
      for (let i = 0; i < 100; i++) stopped.push(await ask());
      child.kill("SIGCONT");
      expect(gateway.status().sending?.hedged).toBeGreaterThan(hedged);
      await expect
        .poll(() => gateway.status().peers.every((node) => node.outstanding === 0 && !node.suspect), {
          timeout: 10_000,
        })
        .toBe(true);
      await heard(gateway, 3);
    }
    const batch = quantile(usual, 0.5);
    process.stdout.write(
      `stopped worker: batch p50 ${batch.toFixed(1)} ms before; query p50 ${quantile(stopped, 0.5).toFixed(1)} ms, p99 ${quantile(stopped, 0.99).toFixed(1)} ms after; hedge ${hedge} ms\n`,
    );
    expect(quantile(stopped, 0.99)).toBeLessThan(hedge + 3 * batch);
  });

  it("a gateway process answers over HTTP, shows its nodes, and says when it has none", {
    timeout: 60_000,
  }, async () => {
    const { url } = await keep(startNats());
    const gateway = await keep(startGateway({ url }));
    const get = async (path: string): Promise<[number, string]> => {
      const response = await fetch(gateway.line + path);
      return [response.status, await response.text()];
    };
    expect((await get("/readyz"))[0]).toBe(503);
    const worker = await keep(startWorker("w1", { url }));
    await expect.poll(async () => (await get("/readyz"))[0]).toBe(200);
    const metrics = (await get("/metrics"))[1];
    expect(metrics).toMatch(/fieldprobe_node_threads\{node="w1"\} 1/);
    expect(metrics).toMatch(/fieldprobe_node_batches_total\{kind="lost"\} 0/);
    const cli = await start(
      process.execPath,
      ["bin/fieldprobe.js", "cluster", "status", "--nats", url, "--expect", "w1"],
      /^w1 .*isotropic32@[0-9a-f]{8}/m,
    );
    expect(await new Promise((resolve) => cli.child.once("exit", resolve))).toBe(0);
    expect(await worker.end("SIGTERM")).toBe(0);
    await expect.poll(async () => (await get("/readyz"))[0], { timeout: 5000 }).toBe(503);
    expect(await gateway.end("SIGTERM")).toBe(0);
  });
});
