/** The engine with real worker threads on the shipped turbulence. */
import { cpSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Engine, Query } from "../../../src/engine/contract/query.js";
import { openEngine } from "../../../src/engine/main/engine.js";
import { loadConfig } from "../../../src/shared/config.js";
import { OLDER_OPERATIONS } from "../../../src/shared/operations.js";
import { hermiteSlowly, interpolateSlowly, readField, type StoredField } from "../../support/oracle.js";
import { generator, runQuery, velocityAt } from "../../support/run-query.js";
import { scratchFolder } from "../../support/scratch.js";

const DATA = fileURLToPath(new URL("../../../data/isotropic32", import.meta.url));
const PERIOD = 2 * Math.PI;
const NODES = 32;
const log = pino({ level: "silent" });

function open(settings: Record<string, string>): Promise<Engine> {
  return openEngine(loadConfig({ DATA, CACHE_BYTES: String(64 * 1024 * 1024), ...settings }, {}), log);
}

const QUERIES: readonly Query[] = OLDER_OPERATIONS.flatMap(({ name, family, spatial }): Query[] => {
  const common = { operation: name, dataset: "isotropic32" } as const;
  if (family === "echo") return [{ operation: name }];
  if (family === "filter") {
    return [{ ...common, time: 0.31, filterlength: Math.fround(0.9), nlayers: 2, temporalInterpolation: "PCHIP" }];
  }
  const spatialInterpolation = spatial.at(-1) ?? "None";
  if (name === "GetPosition") return [{ ...common, StartTime: 0.1, dt: 0.05, nt: 6, spatialInterpolation }];
  if (name === "GetPositionParticleControl")
    return [{ ...common, StartTime: 0.1, EndTime: 0.15, spatialInterpolation }];
  if (name === "GetPositionInertialParticle")
    return [{ ...common, StartTime: 0.1, EndTime: 0.15, Tp: 0.02, spatialInterpolation }];
  // One spline stands for all: the kernels' own tests go through them.
  const methods = spatial.filter((method) => !/^M\dQ/.test(method) || method === "M2Q8");
  return methods.map((method) => ({
    ...common,
    time: 0.31,
    spatialInterpolation: method,
    temporalInterpolation: "PCHIP",
  }));
});

function randomPoints(count: number, seed: number, scale = 3 * PERIOD): Float32Array {
  const random = generator(seed);
  return Float32Array.from({ length: 3 * count }, () => (random() - 0.5) * scale);
}

describe("engine on the shipped turbulence", () => {
  let engine: Engine;
  /** One worker, and a cache smaller than the data. */
  let lone: Engine;
  let velocity: StoredField;

  beforeAll(async () => {
    engine = await open({ WORKERS: "2" });
    lone = await open({ WORKERS: "1", CACHE_BYTES: String(1024 * 1024) });
    velocity = await readField(join(DATA, "isotropic32.h5"), "/velocity");
  });
  afterAll(async () => {
    await engine.close(1000);
    await lone.close(1000);
  });

  it("reads JSON on its threads, whose refusals it passes on", async () => {
    const points = Array.from({ length: 20_000 }, (_, i) => [i, i / 8, -1 - i]);
    const bytes = Buffer.from(JSON.stringify({ time: 0.25, points }));
    const shared = Buffer.from(new SharedArrayBuffer(bytes.length));
    bytes.copy(shared);
    const rows = Float64Array.from(points.flat());
    for (const given of [bytes, shared])
      expect(await engine.readJson(given, undefined)).toEqual({ time: 0.25, points: { rows, width: 3 } });
    const doubled = Buffer.from(`{"time":0.25,${JSON.stringify({ time: 0.5, points }).slice(1)}`);
    await expect(engine.readJson(doubled, undefined)).rejects.toMatchObject({
      code: "InvalidRequest",
      context: { member: "body" },
    });
  });

  it("agrees with a slow evaluation to 3e-7 of the velocity's rms at 300 random points and times", async () => {
    const random = generator(1);
    const { values } = velocity;
    const rms = Math.sqrt(values.reduce((sum, value) => sum + value * value, 0) / values.length);
    const orders = { None: 1, Lag4: 4, Lag6: 6, Lag8: 8 } as const;
    let worst = 0;
    for (let i = 0; i < 300; i++) {
      const point = Float32Array.from({ length: 3 }, () => (random() - 0.5) * 4 * PERIOD);
      const time = Math.fround(random() * 2.2);
      const method = (["None", "Lag4", "Lag6", "Lag8"] as const)[i % 4] as keyof typeof orders;
      const found = await runQuery(engine, velocityAt(time, method), point);
      const frame = Math.floor((time + 0.2) / 0.2);
      const at = [point[0], point[1], point[2]] as [number, number, number];
      const frames = [-1, 0, 1, 2].map((k) => interpolateSlowly(velocity, frame + k, at, orders[method], PERIOD));
      for (let c = 0; c < 3; c++) {
        const samples = frames.map((frameValues) => frameValues[c]) as [number, number, number, number];
        const expected = hermiteSlowly(samples, time - (frame - 1) * 0.2, 0.2);
        worst = Math.max(worst, Math.abs((found[c] as number) - expected));
      }
    }
    expect(worst / rms).toBeLessThan(3e-7);
  });

  it.each(["GetBoxFilter", "GetBoxFilterGradient"] as const)(
    "gives by %s for many points what few have",
    async (operation) => {
      const width = (5 * PERIOD) / NODES;
      const query = {
        operation,
        dataset: "isotropic32",
        field: "u",
        time: 0.4,
        filterwidth: width,
        spacing: width,
      } as const;
      // More than a batch has, so that they are evaluated in the order of a sweep.
      const points = randomPoints(33_000, 11);
      const all = await runQuery(lone, query, points);
      const size = all.length / 33_000;
      for (const [first, count] of [
        [0, 400],
        [32_000, 1000],
      ] as const) {
        const some = await runQuery(engine, query, points.subarray(3 * first, 3 * (first + count)));
        expect(some).toEqual(all.subarray(size * first, size * (first + count)));
      }
      expect(await runQuery(engine, query, points)).toEqual(all);
    },
  );

  it("returns stored values at nodes on stored times", async () => {
    const points: number[] = [];
    for (let i = 0; i < NODES; i += 5)
      points.push((i * PERIOD) / NODES, (((i * 3) % NODES) * PERIOD) / NODES, (((i * 7) % NODES) * PERIOD) / NODES);
    const found = await runQuery(
      engine,
      velocityAt(Math.fround(0.4), "None", "PCHIP", "iso32"),
      Float32Array.from(points),
    );
    for (let n = 0; n < points.length / 3; n++) {
      const nodeOf = (a: number) => Math.round(((points[3 * n + a] as number) / PERIOD) * NODES) % NODES;
      const [x = 0, y = 0, z = 0] = [0, 1, 2].map(nodeOf);
      for (let c = 0; c < 3; c++) {
        expect(found[3 * n + c]).toBe(velocity.values[(((3 * NODES + z) * NODES + y) * NODES + x) * 3 + c]);
      }
    }
  });

  it("is continuous across every brick face and both periodic ends", async () => {
    const step = 1e-4;
    const points: number[] = [];
    const random = generator(5);
    for (let axis = 0; axis < 3; axis++) {
      for (const face of [0, 16, 32]) {
        for (let i = 0; i < 20; i++) {
          const point = [random() * PERIOD, random() * PERIOD, random() * PERIOD];
          for (const side of [-step, step]) {
            point[axis] = (face * PERIOD) / NODES + side;
            points.push(...point);
          }
        }
      }
    }
    const found = await runQuery(engine, velocityAt(1, "Lag8", "None"), Float32Array.from(points));
    let jump = 0;
    for (let i = 0; i < found.length; i += 6) {
      for (let c = 0; c < 3; c++)
        jump = Math.max(jump, Math.abs((found[i + c] as number) - (found[i + 3 + c] as number)));
    }
    // The velocity changes by at most max |grad u| (about 15) times the distance across the face.
    expect(jump).toBeLessThan(15 * 2 * step);
  });

  it.each(QUERIES.map((query) => [`${query.operation} ${query.spatialInterpolation ?? ""}`, query] as const))(
    "%s: the same bytes for any number of workers, any split and any order of the points",
    async (_name, query) => {
      const count = query.operation.startsWith("GetBox") || query.StartTime !== undefined ? 30 : 300;
      const points = randomPoints(count, 77);
      const whole = await runQuery(engine, query, points);
      const width = whole.length / count;
      const parts: Float32Array[] = [];
      for (let i = 0; i < count; ) {
        const size = Math.min(count - i, 1 + (i % 97));
        parts.push(await runQuery(engine, query, points.subarray(3 * i, 3 * (i + size))));
        i += size;
      }
      expect(Buffer.concat(parts.map((part) => Buffer.from(part.buffer)))).toEqual(Buffer.from(whole.buffer));
      const reversed = Float32Array.from(
        points,
        (_, k) => points[3 * (count - 1 - Math.floor(k / 3)) + (k % 3)] as number,
      );
      const backward = await runQuery(engine, query, reversed);
      for (let i = 0; i < count; i += 7) {
        expect(backward.subarray(width * (count - 1 - i), width * (count - i))).toEqual(
          whole.subarray(width * i, width * (i + 1)),
        );
      }
      expect(Buffer.from((await runQuery(lone, query, points)).buffer)).toEqual(Buffer.from(whole.buffer));
    },
  );

  it.each(["GetVelocity", "GetVelocityAndPressure", "GetVelocityHessian"] as const)(
    "%s: sweeping data that does not fit the cache, frame by frame, changes no byte",
    async (operation) => {
      const spatialInterpolation = operation === "GetVelocityHessian" ? "Fd4Lag4" : "Lag6";
      const query: Query = {
        operation,
        dataset: "isotropic32",
        time: 0.31,
        spatialInterpolation,
        temporalInterpolation: "PCHIP",
      };
      const points = randomPoints(operation === "GetVelocityHessian" ? 3_000 : 10_000, 8);
      const before = lone.status().bytesRead;
      const swept = await runQuery(lone, query, points);
      expect(Buffer.from(swept.buffer)).toEqual(Buffer.from((await runQuery(engine, query, points)).buffer));
      // Each of the four frames is read about once: 8 bricks of 16^3 nodes, 3 or 4 float32 values a node.
      const frames = 4 * NODES ** 3 * 4 * (operation === "GetVelocityAndPressure" ? 4 : 3);
      expect(lone.status().bytesRead - before).toBeLessThanOrEqual(2 * frames);
    },
  );

  it("answers no point, one point and 100 000 points", async () => {
    const query = velocityAt(0.1);
    expect((await runQuery(engine, query, [])).length).toBe(0);
    const many = randomPoints(100_000, 3);
    const all = await runQuery(engine, query, many);
    const one = await runQuery(engine, query, many.subarray(3 * 99_999));
    expect([...one]).toEqual([...all.subarray(3 * 99_999)]);
  });

  it("takes coordinates below zero and far away by their remainder", async () => {
    const query = velocityAt(0.1, "Lag8", "None");
    const far = Float32Array.from([-1000.25, 5000.5, -0.001, 3e7, -3e7, 1e-30]);
    const found = await runQuery(engine, query, far);
    for (let i = 0; i < far.length / 3; i++) {
      const at = [far[3 * i], far[3 * i + 1], far[3 * i + 2]] as [number, number, number];
      // t = 0.1 lies half-way: the later frame.
      const expected = interpolateSlowly(velocity, 2, at, 8, PERIOD);
      for (let c = 0; c < 3; c++) expect(found[3 * i + c]).toBeCloseTo(expected[c] as number, 5);
    }
  });

  it("records paths whose last record is the plain answer", async () => {
    const query = {
      operation: "GetPosition",
      dataset: "isotropic32",
      StartTime: 0,
      dt: 0.05,
      nt: 7,
      spatialInterpolation: "Lag4",
    } as const;
    const points = randomPoints(40, 9);
    const plain = await runQuery(engine, query, points);
    const recorded = await runQuery(engine, { ...query, recordEvery: 3 }, points);
    expect(recorded.length).toBe(4 * plain.length);
    const shorter = await runQuery(engine, { ...query, nt: 6 }, points);
    for (let i = 0; i < 40; i++) {
      const path = recorded.subarray(12 * i, 12 * (i + 1));
      expect(path.subarray(0, 3)).toEqual(points.subarray(3 * i, 3 * i + 3));
      expect(path.subarray(6, 9)).toEqual(shorter.subarray(3 * i, 3 * i + 3));
      expect(path.subarray(9)).toEqual(plain.subarray(3 * i, 3 * i + 3));
    }
  });

  it("takes each brick of each frame from the cache once per velocity evaluation of a group", async () => {
    const single = await open({ WORKERS: "1" });
    try {
      const points = randomPoints(16, 4, 2 * PERIOD);
      const query = {
        operation: "GetPosition",
        dataset: "isotropic32",
        StartTime: 0.05,
        dt: 0.01,
        nt: 5,
        spatialInterpolation: "Lag6",
      } as const;
      await runQuery(single, query, points);
      const { cacheHits, cacheMisses } = single.status();
      await runQuery(single, query, points);
      // 8 bricks, 4 frames, 2 evaluations a step.
      expect(single.status().cacheHits - cacheHits).toBe(8 * 4 * 2 * 5);
      expect(cacheMisses).toBe(8 * 4);
      expect(single.status().cacheMisses).toBe(cacheMisses);
    } finally {
      await single.close(1000);
    }
  });
});

describe("engine and its data folder", () => {
  const folder = scratchFolder();
  it("starts with what is good, notices what comes and goes, and never serves a replaced file's old numbers", async () => {
    const engine = await open({ DATA: folder, WORKERS: "1" });
    try {
      expect(engine.datasets()).toEqual([]);
      cpSync(DATA, join(folder, "copy"), { recursive: true });
      writeFileSync(join(folder, "broken.h5"), "this is not HDF5");
      await engine.reload();
      expect(engine.datasets().map(({ name }) => name)).toEqual(["isotropic32"]);
      const query = velocityAt(0.1);
      await runQuery(engine, query, [1, 2, 3]);
      rmSync(join(folder, "copy"), { recursive: true });
      await engine.reload();
      await expect(runQuery(engine, query, [1, 2, 3])).rejects.toThrow("Invalid set name: isotropic32");
    } finally {
      await engine.close(1000);
    }
  });
});
