/** Point schemes handle NaN, periods, far coordinates, nodes, several fields and float32. */
import { describe, expect, it } from "vitest";
import { createScheme } from "../../src/kernels/index.js";
import type { Axes, BrickField, Triple } from "../../src/kernels/types.js";
import { fc } from "../support/property.js";
import {
  cosineAxis,
  endedAxis,
  fieldByNode,
  fieldOf,
  methodsOf,
  periodicAxis,
  rough,
  scatter,
  T16,
  valuesAt,
} from "./fields.js";

const PLAIN = { fd8Legacy: false };
const SCHEMES = [
  ...methodsOf("value").map((method) => ["velocity", method] as const),
  ...methodsOf("gradient").map((method) => ["velocityGradient", method] as const),
];

describe("NaN", () => {
  it("reaches exactly the points whose stencil holds the node, weight 0 or not, and only its component", () => {
    const axes: Axes = [periodicAxis(12, 12), periodicAxis(12, 12), periodicAxis(12, 12)];
    const value = (i: number, j: number, k: number, c: number) =>
      i === 5 && j === 5 && k === 5 && c === 1 ? Number.NaN : rough(i, j, k, c);
    const field = fieldByNode(axes, 3, value, [5, 5, 5]);
    const hit = (kernel: string, method: string, x: number, y = 5, z = 5) =>
      (valuesAt(createScheme(kernel, method, axes, PLAIN), [field], [[x, y, z]])[0] as number[]).map(Number.isNaN);
    for (const [method, below, above] of [
      ["None", 0.5, 0.49],
      ["Lag4", 2, 1.99],
      ["Lag6", 3, 2.99],
      ["Lag8", 4, 3.99],
    ] as const) {
      expect(hit("velocity", method, 5 - below)).toEqual([false, true, false]);
      expect(hit("velocity", method, 5 - below - 0.01)).toEqual([false, false, false]);
      expect(hit("velocity", method, 5 + above)[1]).toBe(true);
      expect(hit("velocity", method, 5 + above + 0.01)[1]).toBe(false);
    }
    // The centre is no node of a centred first difference; it is one of a second difference.
    expect(hit("velocityGradient", "None_Fd4", 5).some(Boolean)).toBe(false);
    expect(hit("velocityLaplacian", "None_Fd4", 5)).toEqual([false, true, false]);
    expect(hit("velocityGradient", "None_Fd4", 7).map(Number).join("")).toBe("000100000");
    expect(hit("velocityGradient", "None_Fd4", 8).some(Boolean)).toBe(false);
    // Mixed derivatives read the diagonals of their plane: not the axes, not between.
    const mixed = (x: number, y: number) => hit("velocityHessian", "None_Fd6", x, y).slice(6, 12);
    expect(mixed(7, 7)).toEqual([false, true, false, false, false, false]);
    expect(mixed(7, 6)).toEqual([false, false, false, false, false, false]);
    expect(mixed(5, 8)).toEqual([false, false, false, true, false, false]);
    // The fused kernel reads 8 nodes along the derivative and 4 across.
    expect(hit("velocityGradient", "Fd4Lag4", 8.5).map(Number).join("")).toBe("000100000");
    expect(hit("velocityGradient", "Fd4Lag4", 9).some(Boolean)).toBe(false);
    expect(hit("velocityGradient", "Fd4Lag4", 5, 8.5).map(Number).join("")).toBe("000010000");
  });
});

describe("positions", () => {
  const fields = [fieldOf(T16.axes, 3, T16.velocity, [6, 6, 6])];

  it.each(SCHEMES)("%s by %s repeats with the period, also far away and below zero", (kernel, method) => {
    const scheme = createScheme(kernel, method, T16.axes, PLAIN);
    const [home] = valuesAt(scheme, fields, [T16.point]);
    for (const periods of [1, -1, 1000, -4096]) {
      const [away] = valuesAt(scheme, fields, [T16.point.map((x) => x + periods * 2 * Math.PI) as unknown as Triple]);
      away?.forEach((value, c) => {
        expect(Math.abs(value - (home?.[c] as number))).toBeLessThan(1e-10);
      });
    }
  });

  it("follows the field when both are moved by whole nodes", () => {
    const axes: Axes = [periodicAxis(16, 16), periodicAxis(12, 12), periodicAxis(10, 10)];
    const move: Triple = [5, 7, 3];
    const moved = fieldByNode(axes, 3, (i, j, k, c) =>
      rough((i + 16 - 5) % 16, (j + 12 - 7) % 12, (k + 10 - 3) % 10, c),
    );
    for (const [kernel, method] of [
      ["velocity", "Lag6"],
      ["velocityHessian", "Fd4Lag4"],
    ] as const) {
      const scheme = createScheme(kernel, method, axes, PLAIN);
      const point: Triple = [3.25, 9.5, 8.75];
      const there = point.map((x, a) => x + (move[a] as number)) as unknown as Triple;
      expect(valuesAt(scheme, [moved], [there])).toEqual(valuesAt(scheme, [fieldByNode(axes, 3, rough)], [point]));
    }
  });

  it("gives finite values for every finite float32", () => {
    const scheme = createScheme("velocity", "Lag8", T16.axes, PLAIN);
    const coordinate = fc.float({ noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(coordinate, coordinate, coordinate, (x, y, z) => {
        expect(
          valuesAt(scheme, fields, [[x, y, z]])
            .flat()
            .every(Number.isFinite),
        ).toBe(true);
      }),
    );
  });

  it("returns node values on nodes, bit for bit", () => {
    const axes: Axes = [periodicAxis(16, 16), endedAxis(10, 9), cosineAxis(9)];
    const field = fieldByNode(axes, 3, rough, [4, 4, 4]);
    for (const method of methodsOf("value")) {
      const scheme = createScheme("velocity", method, axes, PLAIN);
      for (const [i, j, k] of [
        [0, 0, 0],
        [15, 9, 8],
        [7, 4, 4],
        [3, 1, 7],
      ] as Triple[]) {
        const z = axes[2].coordinates?.[k] as number;
        expect(valuesAt(scheme, [field], [[i, j, z]])).toEqual([[0, 1, 2].map((c) => rough(i, j, k, c))]);
      }
    }
  });

  it("takes fields of different bricking together", () => {
    const velocity = fieldOf(T16.axes, 3, T16.velocity, [5, 5, 5]);
    const pressure = fieldOf(T16.axes, 1, T16.pressure, [16, 3, 7]);
    const whole = [fieldOf(T16.axes, 3, T16.velocity), fieldOf(T16.axes, 1, T16.pressure)];
    const scheme = createScheme("velocityPressure", "Lag8", T16.axes, PLAIN);
    const points = scatter(T16.axes, 30);
    expect(valuesAt(scheme, [velocity, pressure], points)).toEqual(valuesAt(scheme, whole, points));
  });

  it("reads float32 nodes as the numbers they are", () => {
    const rounded = { ...(fields[0] as BrickField) };
    const single = { ...rounded, data: Float32Array.from(rounded.data) };
    const double = { ...rounded, data: Float64Array.from(single.data) };
    const scheme = createScheme("velocityGradient", "Fd4Lag4", T16.axes, PLAIN);
    const points = scatter(T16.axes, 20);
    expect(valuesAt(scheme, [single], points)).toEqual(valuesAt(scheme, [double], points));
  });
});
