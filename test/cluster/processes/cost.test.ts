/** What a cluster costs: processor time and wall time of a million points against one process, in turn on the same machine. */
import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runModel } from "../../../bench/cluster-model.js";
import type { Engine, Query } from "../../../src/engine/query.js";
import { writeTriples } from "../../support/run-query.js";
import { randomPoints } from "./queries.js";
import { missing, openAlone, openGateway, type Running, startNats, startWorker } from "./support.js";

const reason = missing();
const POINTS = randomPoints(1_000_000, 17);
const ROUNDS = 7;
/** Rounds of the query that is shortest, and so most disturbed. */
const MANY_ROUNDS = 15;
/** Rounds of each query before it is measured. */
const WARM_UP = 2;
/** Queries before all: what handles messages runs hundreds of times before it is compiled, and costs half as much again until then. */
const COMPILED = 100;
const common = { dataset: "isotropic32", time: 0.31 } as const;
/** As the shipped manifests start the server. */
const SERVER = { GOGC: "800", GOMEMLIMIT: "512MiB" };

interface Cost {
  readonly wall: number;
  readonly cpu: number;
}

/** Milliseconds of processor time that the threads of a process have had. */
function processorTime({ child }: Running): number {
  const threads = readdirSync(`/proc/${child.pid}/task`);
  const times = threads.map((id) =>
    Number(readFileSync(`/proc/${child.pid}/task/${id}/schedstat`, "utf8").split(" ")[0]),
  );
  return times.reduce((sum, time) => sum + time, 0) / 1e6;
}

function median(costs: readonly Cost[], of: keyof Cost): number {
  return costs.map((cost) => cost[of]).toSorted((a, b) => a - b)[costs.length >> 1] as number;
}

/** Median of the ratios of rounds that ran one after the other, and half the distance of their quartiles. */
function ratio(single: readonly Cost[], shared: readonly Cost[], of: keyof Cost): { median: number; spread: number } {
  const ratios = shared.map((cost, i) => cost[of] / (single[i] as Cost)[of]).toSorted((x, y) => x - y);
  const at = (q: number): number => ratios[Math.round(q * (ratios.length - 1))] as number;
  return { median: at(0.5), spread: (at(0.75) - at(0.25)) / 2 };
}

describe.skipIf(reason !== null)(`cost${reason ? `: skipped, ${reason}` : ""}`, () => {
  const processes: Running[] = [];
  let alone: Engine;
  let gateway: Engine;

  beforeAll(async () => {
    const nats = await startNats([], "127.0.0.1", SERVER);
    processes.push(nats);
    for (const name of ["w1", "w2"]) processes.push(await startWorker(name, { url: nats.url }));
    alone = await openAlone([], 2);
    gateway = await openGateway(2, { url: nats.url, settings: { HEDGE_MS: "10000" } });
    const query = { ...common, operation: "GetVelocity", spatialInterpolation: "Lag4" } as const;
    for (let i = 0; i < COMPILED; i++) for (const engine of [alone, gateway]) await ask(engine, query);
  }, 180_000);
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

  async function compare(query: Query, rounds = ROUNDS) {
    const single: Cost[] = [];
    const shared: Cost[] = [];
    for (let round = -WARM_UP; round < rounds; round++) {
      const one = await ask(alone, query);
      const two = await ask(gateway, query);
      if (round < 0) continue;
      single.push(one);
      shared.push(two);
    }
    const [wall, cpu] = [ratio(single, shared, "wall"), ratio(single, shared, "cpu")];
    const text = (costs: readonly Cost[]): string =>
      `wall ${median(costs, "wall").toFixed(0)} ms, CPU ${median(costs, "cpu").toFixed(0)} ms`;
    const show = (found: typeof wall): string => `${found.median.toFixed(2)} ± ${found.spread.toFixed(2)}`;
    process.stdout.write(
      `${query.operation} ${query.spatialInterpolation} ${query.temporalInterpolation}: in process ${text(single)}; cluster ${text(shared)}; ratios wall ${show(wall)}, CPU ${show(cpu)}\n`,
    );
    return { single, shared, cpu: cpu.median, wall: wall.median };
  }

  it.each([
    ["Lag4", "None", MANY_ROUNDS],
    ["Lag6", "None", ROUNDS],
    ["Lag8", "None", ROUNDS],
    ["Lag4", "PCHIP", ROUNDS],
    ["Lag6", "PCHIP", ROUNDS],
    ["Lag8", "PCHIP", ROUNDS],
  ] as const)(
    "GetVelocity %s %s: at most 1.4 times the processor time and the wall time",
    {
      timeout: 120_000,
    },
    async (spatialInterpolation, temporalInterpolation, rounds) => {
      const query = { ...common, operation: "GetVelocity", spatialInterpolation, temporalInterpolation } as const;
      const { single, shared, cpu, wall } = await compare(query, rounds);
      expect(cpu).toBeLessThanOrEqual(1.4);
      expect(wall).toBeLessThanOrEqual(1.4);

      // The model with the processor times measured: batches on two threads, alone and with what the cluster adds to each.
      const batches = Math.ceil(POINTS.length / 3 / 65_536);
      const model = (cpu: number, gatewayMs: number): number =>
        runModel({
          workers: 2,
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
      process.stdout.write(`wall ratio by the model ${predicted.toFixed(2)}, measured ${wall.toFixed(2)}\n`);
      expect(predicted / wall).toBeGreaterThan(0.6);
      expect(predicted / wall).toBeLessThan(1.6);
    },
  );

  it.each(["None", "PCHIP"] as const)(
    "GetVelocityHessian Fd4Lag4 %s: at most twice both",
    {
      timeout: 240_000,
    },
    async (temporalInterpolation) => {
      const query = { ...common, operation: "GetVelocityHessian", spatialInterpolation: "Fd4Lag4" } as const;
      const { cpu, wall } = await compare({ ...query, temporalInterpolation });
      expect(cpu).toBeLessThanOrEqual(2);
      expect(wall).toBeLessThanOrEqual(2);
    },
  );
});
