/**
 * What must hold between answers because of the physics behind the data: identities of incompressible flow, filters,
 * stress.
 */
import { fileURLToPath } from "node:url";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Engine, Query } from "../../src/engine/contract/query.js";
import { openEngine } from "../../src/engine/main/engine.js";
import { createScheme } from "../../src/kernels/index.js";
import { loadConfig } from "../../src/shared/config.js";
import { LAPLACIAN_METHODS } from "../../src/shared/operations.js";
import { fieldByNode, periodicAxis } from "../kernels/fields.js";
import { generator, runQuery } from "../support/run-query.js";

const DATA = fileURLToPath(new URL("../../data/isotropic32", import.meta.url));
const PERIOD = 2 * Math.PI;
const SPACING = PERIOD / 32;
const POINTS = 3000;

function rms(numbers: readonly number[]): number {
  return Math.sqrt(numbers.reduce((sum, value) => sum + value * value, 0) / numbers.length);
}

/** Sum over i, j of A_ij A_ji for a row-major 3 x 3 matrix at `values[9 n]`. */
function doubleContraction(values: ArrayLike<number>, n: number): number {
  let sum = 0;
  for (let i = 0; i < 3; i++) {
    for (let j = 0; j < 3; j++) sum += (values[9 * n + 3 * i + j] as number) * (values[9 * n + 3 * j + i] as number);
  }
  return sum;
}

/** xx + yy + zz of a Hessian in the order xx, xy, xz, yy, yz, zz. */
function trace(values: ArrayLike<number>, n: number): number {
  return (values[6 * n] as number) + (values[6 * n + 3] as number) + (values[6 * n + 5] as number);
}

/** Smallest eigenvalue of the symmetric matrix xx, yy, zz, xy, xz, yz, by the cosine form of the cubic formula. */
function smallestEigenvalue([xx, yy, zz, xy, xz, yz]: readonly number[]): number {
  const [a, b, c, d, e, f] = [xx, yy, zz, xy, xz, yz] as [number, number, number, number, number, number];
  const mean = (a + b + c) / 3;
  const p = Math.sqrt(((a - mean) ** 2 + (b - mean) ** 2 + (c - mean) ** 2 + 2 * (d * d + e * e + f * f)) / 6);
  if (p === 0) return mean;
  const [u, v, w] = [(a - mean) / p, (b - mean) / p, (c - mean) / p];
  const [x, y, z] = [d / p, e / p, f / p];
  const half = (u * (v * w - z * z) - x * (x * w - z * y) + y * (x * z - v * y)) / 2;
  const angle = Math.acos(Math.min(1, Math.max(-1, half))) / 3;
  return mean + 2 * p * Math.cos(angle + (2 * Math.PI) / 3);
}

describe("the shipped turbulence", () => {
  let engine: Engine;
  const random = generator(11);
  const points = Float32Array.from({ length: 3 * POINTS }, () => random() * PERIOD);
  beforeAll(async () => {
    const settings = { DATA, WORKERS: "2", CACHE_BYTES: "67108864" };
    engine = await openEngine(loadConfig(settings, {}), pino({ level: "silent" }));
  });
  afterAll(() => engine.close(1000));

  const at = (
    operation: Query["operation"],
    spatialInterpolation: (typeof LAPLACIAN_METHODS)[number],
  ): Promise<Float32Array> =>
    runQuery(
      engine,
      { operation, dataset: "isotropic32", time: 1, spatialInterpolation, temporalInterpolation: "None" },
      points,
    );

  it.each(LAPLACIAN_METHODS)(
    "%s: the trace of the pressure Hessian is minus the double contraction of the gradient to 6 %%",
    async (method) => {
      const gradient = await at("GetVelocityGradient", method);
      const hessian = await at("GetPressureHessian", method);
      const sources = Array.from({ length: POINTS }, (_, n) => -doubleContraction(gradient, n));
      const difference = sources.map((source, n) => trace(hessian, n) - source);
      expect(rms(difference) / rms(sources)).toBeLessThan(0.06);
    },
  );

  it("has less divergence the higher the order of the difference", async () => {
    const divergence = [];
    for (const method of ["None_Fd4", "None_Fd6", "None_Fd8"] as const) {
      const gradient = await at("GetVelocityGradient", method);
      divergence.push(
        rms(
          Array.from({ length: POINTS }, (_, n) =>
            [0, 4, 8].reduce((sum, i) => sum + (gradient[9 * n + i] as number), 0),
          ),
        ),
      );
    }
    expect(divergence[1]).toBeLessThan(divergence[0] as number);
    expect(divergence[2]).toBeLessThan(divergence[1] as number);
  });

  const filtered = (operation: Query["operation"], cells: number, count: number): Promise<Float32Array> =>
    runQuery(
      engine,
      {
        operation,
        dataset: "isotropic32",
        time: 1,
        filterlength: Math.fround(cells * SPACING),
        nlayers: 1,
        temporalInterpolation: "None",
      },
      points.subarray(0, 3 * count),
    );

  it("loses filtered energy as the filter grows", async () => {
    const energies = [];
    for (const cells of [1.5, 3, 6, 12, 24])
      energies.push(rms([...(await filtered("GetBoxFilterVelocity", cells, 500))]));
    for (let i = 1; i < energies.length; i++) expect(energies[i]).toBeLessThan(energies[i - 1] as number);
  });

  it.each([2, 4, 8, 16])("has a sub-grid stress without negative eigenvalues at %i cells", async (cells) => {
    const stress = await filtered("GetBoxFilterSGSStress", cells, 300);
    for (let n = 0; n < stress.length; n += 6) {
      const tensor = [...stress.subarray(n, n + 6)];
      const sum = (tensor[0] as number) + (tensor[1] as number) + (tensor[2] as number);
      expect(smallestEigenvalue(tensor)).toBeGreaterThanOrEqual(-1e-6 * sum);
    }
  });
});

describe("analytic ABC cubes", () => {
  const [A, B, C] = [1, Math.sqrt(2 / 3), Math.sqrt(1 / 3)];
  const velocity = (x: number, y: number, z: number): [number, number, number] => [
    A * Math.sin(z) + C * Math.cos(y),
    B * Math.sin(x) + A * Math.cos(z),
    C * Math.sin(y) + B * Math.cos(x),
  ];

  /** rms of the trace of the pressure Hessian plus the double contraction, on float64 nodes. */
  function residual(nodes: number, method: string): number {
    const axis = periodicAxis(nodes);
    const axes = [axis, axis, axis] as const;
    const place = (i: number): number => i * axis.spacing;
    const u = fieldByNode(axes, 3, (i, j, k, c) => velocity(place(i), place(j), place(k))[c] as number);
    const p = fieldByNode(axes, 1, (i, j, k) => {
      const [a, b, c] = velocity(place(i), place(j), place(k));
      return -(a * a + b * b + c * c) / 2;
    });
    const random = generator(3);
    const count = 400;
    const positions = Float64Array.from({ length: 3 * count }, () => random() * PERIOD);
    const gradient = new Float64Array(9 * count);
    const hessian = new Float64Array(6 * count);
    const options = { fd8Legacy: false };
    createScheme("velocityGradient", method, axes, options).evaluate([u], positions, 0, count, gradient);
    createScheme("pressureHessian", method, axes, options).evaluate([p], positions, 0, count, hessian);
    return rms(Array.from({ length: count }, (_, n) => trace(hessian, n) + doubleContraction(gradient, n)));
  }

  it.each([
    ["None_Fd4", 4],
    ["None_Fd6", 6],
    ["None_Fd8", 8],
    ["Fd4Lag4", 4],
  ] as const)("%s: the same identity converges with order %i on 32, 64 and 128 nodes", (method, order) => {
    const cubes = [32, 64, 128];
    const errors = cubes.map((nodes) => residual(nodes, method));
    for (let i = 1; i < errors.length; i++) {
      // Rounding of float64 values of size 1 in second differences: beneath it nothing converges.
      const rounding = 8 * Number.EPSILON * ((cubes[i] as number) / PERIOD) ** 2;
      if ((errors[i] as number) < rounding) continue;
      expect(Math.abs(Math.log2((errors[i - 1] as number) / (errors[i] as number)) - order)).toBeLessThan(0.3);
    }
  });
});
