/** Queries that compete for the worker threads: short ones are not held up, and long ones keep every bit. */
import { fileURLToPath } from "node:url";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Engine, Evaluation, Query } from "../../../src/engine/contract/query.js";
import { openEngine } from "../../../src/engine/main/engine.js";
import { loadConfig } from "../../../src/shared/config.js";
import { generator, runQuery, velocityAt, writeTriples } from "../../support/run-query.js";

const DATA = fileURLToPath(new URL("../../../data/isotropic32", import.meta.url));
const COMMON = { dataset: "isotropic32" } as const;
const SMALL = velocityAt(0.31, "Lag4", "None");
const STEPPED = { ...COMMON, operation: "GetPosition", StartTime: 0.1, spatialInterpolation: "Lag8" } as const;
/** The longest that the limits allow, of one particle, of many points, and of one point that is not divided. */
const LARGEST: readonly (readonly [Query, number])[] = [
  [{ ...STEPPED, dt: 1e-9, nt: 50_000_000 }, 1],
  [{ ...STEPPED, dt: 0.0001, nt: 500 }, 100_000],
  [{ ...COMMON, operation: "GetBoxFilterSGSStress", time: 0.31, filterlength: 100, nlayers: 1 }, 3],
];

function pointsOf(count: number): Float32Array {
  const random = generator(count);
  return Float32Array.from({ length: 3 * count }, () => 2 * Math.PI * random());
}

describe("an engine with one worker", () => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await openEngine(loadConfig({ DATA, WORKERS: "1" }, {}), pino({ level: "silent" }));
  });
  afterAll(() => engine.close(0));

  it("answers short queries while the largest ones run", async () => {
    const large = LARGEST.flatMap((one) => [one, one]).map(([query, count]): Evaluation => {
      const evaluation = engine.start(query, {});
      writeTriples(evaluation.points, pointsOf(count));
      return evaluation;
    });
    let ended = 0;
    const over = large.map((evaluation) =>
      evaluation
        .finish()
        .catch(() => {})
        .finally(() => ended++),
    );
    try {
      for (let i = 0; i < 5; i++) {
        await Promise.race([runQuery(engine, SMALL, pointsOf(10)), ...over]);
        expect(ended).toBe(0);
      }
    } finally {
      for (const evaluation of large) evaluation.abort();
    }
    await Promise.all(over);
  });

  it("answers long queries in turns with one that would run for minutes", async () => {
    const longest = engine.start({ ...STEPPED, dt: 1e-9, nt: 50_000_000 }, {});
    writeTriples(longest.points, pointsOf(1));
    let ended = false;
    const over = longest
      .finish()
      .catch(() => {})
      .finally(() => {
        ended = true;
      });
    const long: Query = { ...SMALL, operation: "GetVelocityHessian", spatialInterpolation: "Fd4Lag4" };
    try {
      await Promise.race([runQuery(engine, long, pointsOf(20_000)), over]);
      expect(ended).toBe(false);
    } finally {
      longest.abort();
    }
    await over;
  });

  it("gives long queries that take turns every bit of their answers", async () => {
    const queries: readonly (readonly [Query, number])[] = [
      [{ ...STEPPED, dt: 0.0005, nt: 100, recordEvery: 30 }, 300],
      [{ ...STEPPED, dt: 0.0005, nt: 80 }, 250],
      [{ ...STEPPED, operation: "GetPositionInertialParticle", EndTime: 0.15, Tp: 0.02 }, 200],
      [{ ...SMALL, operation: "GetVelocityHessian", spatialInterpolation: "Fd4Lag4" }, 50_000],
      [{ ...COMMON, operation: "GetBoxFilterSGSStress", time: 0.31, filterlength: 3, nlayers: 2 }, 20],
      [
        { ...COMMON, operation: "GetForce", time: 0.31, spatialInterpolation: "None", temporalInterpolation: "None" },
        5000,
      ],
    ];
    const alone: Float32Array[] = [];
    for (const [query, count] of queries) alone.push(await runQuery(engine, query, pointsOf(count)));
    const together = await Promise.all(queries.map(([query, count]) => runQuery(engine, query, pointsOf(count))));
    expect(together).toEqual(alone);
  });

  it("moves nothing within an interval of no length, and refuses steps of no length at once", async () => {
    const points = pointsOf(2);
    const interval = { operation: "GetPositionParticleControl", StartTime: 0.1, EndTime: 0.1 } as const;
    const still = { ...COMMON, ...interval, spatialInterpolation: "Lag8" } as const;
    expect(await runQuery(engine, still, points)).toEqual(points);
    expect(await runQuery(engine, { ...still, recordEvery: 100 }, points)).toEqual(points);
    for (const Tp of [0, 0.5])
      expect(await runQuery(engine, { ...still, operation: "GetPositionInertialParticle", Tp }, points)).toEqual(
        points,
      );
    await expect(runQuery(engine, { ...STEPPED, dt: 0, nt: 25_000_000 }, points)).rejects.toThrow("dt must not be 0");
  });
});
