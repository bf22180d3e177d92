/** What a cluster costs: processor time and wall time of a million points against one process, in turn on the same machine. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { simulateTail } from "../../src/engine/cluster/simulate.js";
import type { Engine, Query } from "../../src/engine/query.js";
import { writeTriples } from "../support/run-query.js";
import { randomPoints } from "./queries.js";
import { missing, openAlone, openGateway, type Running, startNats, startWorker } from "./support.js";

const reason = missing();
const POINTS = randomPoints(1_000_000, 17);
const ROUNDS = 5;
const TICKS_PER_SECOND = 100;

interface Cost {
  readonly wall: number;
  readonly cpu: number;
}

/** Milliseconds of processor time that a process has had. */
function processorTime({ child }: Running): number {
  const fields = readFileSync(`/proc/${child.pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND;
}

function median(costs: readonly Cost[], of: keyof Cost): number {
  return costs.map((cost) => cost[of]).toSorted((a, b) => a - b)[costs.length >> 1] as number;
}

/** The least disturbed round. */
function least(costs: readonly Cost[], of: keyof Cost): number {
  return Math.min(...costs.map((cost) => cost[of]));
}

describe.skipIf(reason !== null)(`cost${reason ? `: skipped, ${reason}` : ""}`, () => {
  const processes: Running[] = [];
  let alone: Engine;
  let gateway: Engine;

  beforeAll(async () => {
    const nats = await startNats();
    processes.push(nats);
    for (const name of ["w1", "w2"]) processes.push(await startWorker(name, { url: nats.url }));
    alone = await openAlone([], 2);
    gateway = await openGateway(2, { url: nats.url, settings: { HEDGE_MS: "10000" } });
  });
  afterAll(async () => {
    await gateway?.close(1000);
    await alone?.close(1000);
    for (const running of processes.toReversed()) await running.end();
  });

  /** What the processes have to say about a failure. */
  const logs = (): string => processes.map((running) => running.log()).join("\n");

  async function ask(engine: Engine, query: Query): Promise<Cost> {
    const before = process.cpuUsage();
    const others = processes.map(processorTime);
    const since = performance.now();
    const evaluation = engine.start(query, {});
    writeTriples(evaluation.points, POINTS);
    const result = await evaluation.finish().catch((error: Error) => {
      throw new Error(`${error.message}\n${logs()}`, { cause: error });
    });
    const wall = performance.now() - since;
    result.release();
    const { user, system } = process.cpuUsage(before);
    const elsewhere = processes.reduce((sum, running, i) => sum + processorTime(running) - (others[i] as number), 0);
    return { wall, cpu: (user + system) / 1000 + elsewhere };
  }

  async function compare(query: Query): Promise<{ readonly single: Cost[]; readonly shared: Cost[] }> {
    const single: Cost[] = [];
    const shared: Cost[] = [];
    for (let round = -1; round < ROUNDS; round++) {
      const one = await ask(alone, query);
      const two = await ask(gateway, query);
      if (round < 0) continue;
      single.push(one);
      shared.push(two);
    }
    const text = (costs: readonly Cost[]): string =>
      `wall ${median(costs, "wall").toFixed(0)} ms, CPU ${median(costs, "cpu").toFixed(0)} ms`;
    const ratio = (of: keyof Cost): string => (median(shared, of) / median(single, of)).toFixed(2);
    process.stdout.write(
      `${query.operation} ${query.spatialInterpolation} ${query.temporalInterpolation}: in process ${text(single)}; cluster ${text(shared)}; ratios wall ${ratio("wall")}, CPU ${ratio("cpu")}\n`,
    );
    return { single, shared };
  }

  const common = { dataset: "isotropic32", time: 0.31, temporalInterpolation: "PCHIP" } as const;

  it("GetVelocity: at most 1.4 times the processor time and the wall time", { timeout: 120_000 }, async () => {
    const { single, shared } = await compare({ ...common, operation: "GetVelocity", spatialInterpolation: "Lag8" });
    expect(median(shared, "cpu") / median(single, "cpu")).toBeLessThanOrEqual(1.4);
    expect(least(shared, "wall") / least(single, "wall")).toBeLessThanOrEqual(1.4);

    // The model with the processor times measured: batches on two threads, alone and with what the cluster adds to each.
    const batches = Math.ceil(POINTS.length / 3 / 32_768);
    const model = (cpu: number, gatewayMs: number): number =>
      simulateTail({
        nodes: 2,
        threads: 1,
        replicas: 2,
        load: 0,
        queries: 10,
        batches,
        batchMs: cpu / batches,
        gatewayMs,
        slow: 0,
        slowFactor: 1,
        hedgeMs: null,
        hedgeShare: 0,
        choice: "least",
        seed: 1,
      }).p50;
    const added = Math.max(0, median(shared, "cpu") - median(single, "cpu")) / batches;
    const predicted = model(median(shared, "cpu"), added / 2) / model(median(single, "cpu"), 0);
    const measured = median(shared, "wall") / median(single, "wall");
    process.stdout.write(`wall ratio by the model ${predicted.toFixed(2)}, measured ${measured.toFixed(2)}\n`);
    expect(predicted / measured).toBeGreaterThan(0.6);
    expect(predicted / measured).toBeLessThan(1.6);
  });

  it("GetVelocityHessian: at most twice both", { timeout: 240_000 }, async () => {
    const { single, shared } = await compare({
      ...common,
      operation: "GetVelocityHessian",
      spatialInterpolation: "Fd4Lag4",
    });
    expect(median(shared, "cpu") / median(single, "cpu")).toBeLessThanOrEqual(2);
    expect(least(shared, "wall") / least(single, "wall")).toBeLessThanOrEqual(2);
  });
});
