/** The model of a cluster against queueing theory, against itself and against the figures of docs/cluster.md. */
import { describe, expect, it } from "vitest";
import { type ModelOptions, placementFigures, runModel } from "../../bench/cluster-model.js";

const BASE: ModelOptions = {
  workers: 4,
  threads: 1,
  replicas: 2,
  load: 0,
  queries: 2000,
  batches: 1,
  batchMs: 10,
  gatewayMs: 0,
  slow: 0,
  slowFactor: 10,
  hedgeMs: null,
  hedgeShare: 0.05,
  choice: "least",
  seed: 3,
};

describe("the model of a cluster", () => {
  it("answers a lone query in the time of its batches", () => {
    expect(runModel(BASE)).toEqual({ p50: 10, p99: 10, p999: 10, hedged: 0 });
    const shared = runModel({ ...BASE, workers: 2, batches: 30 });
    expect(shared.p50).toBe(150);
    const gateway = runModel({ ...BASE, workers: 2, batches: 30, gatewayMs: 8 });
    expect(gateway.p50).toBeCloseTo(30 * 8 + 10);
  });

  it("waits at one thread as an M/D/1 queue does", () => {
    // At load 0.8 half of the customers wait less than about 1.5 service times, and the mean wait is 2 (Pollaczek-Khinchine).
    const { p50, p99 } = runModel({ ...BASE, workers: 1, replicas: 1, load: 0.8, queries: 100_000 });
    expect(p50).toBeGreaterThan(20);
    expect(p50).toBeLessThan(28);
    expect(p99).toBeGreaterThan(90);
    expect(p99).toBeLessThan(150);
  });

  it("shows what least outstanding and hedges are worth", () => {
    const busy = { ...BASE, workers: 32, threads: 4, load: 0.8, batches: 20, queries: 3000, slow: 0.01 };
    const random = runModel({ ...busy, choice: "random" });
    const least = runModel(busy);
    const hedged = runModel({ ...busy, hedgeMs: 30 });
    expect(least.p50).toBeLessThan(0.7 * random.p50);
    expect(hedged.p99).toBeLessThan(0.6 * least.p99);
    expect(hedged.hedged).toBeLessThanOrEqual(0.05);
    expect(runModel({ ...busy, hedgeMs: 1 }).hedged).toBeLessThanOrEqual(0.05);
  });

  it("repeats itself for a seed", () => {
    const busy = { ...BASE, load: 0.5, slow: 0.1 };
    expect(runModel(busy)).toEqual(runModel(busy));
    expect(runModel({ ...busy, seed: 4 })).not.toEqual(runModel(busy));
  });

  it("places shards evenly and moves few of them", () => {
    const { maxToMean, moved } = placementFigures(128, 2);
    expect(maxToMean).toBeLessThanOrEqual(1.2);
    expect(moved).toBeLessThanOrEqual(0.012);
  });
});
