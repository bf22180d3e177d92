/** The Laplacian of the gradient: what its differences make of a plane wave, and that of the continuous one. */
import { describe, expect, it } from "vitest";
import { createScheme } from "../../src/kernels/index.js";
import type { Axes, Triple } from "../../src/kernels/types.js";
import { cosineAxis, endedAxis, fieldOf, nodeAt, periodicAxis, tabulatedAxis, valuesAt } from "./fields.js";

/** Coefficients of the first, second and third difference by order, as they are published. */
const PUBLISHED = {
  4: { first: [2 / 3, -1 / 12], second: [4 / 3, -1 / 12], third: [-1, 1 / 2] },
  6: { first: [3 / 4, -3 / 20, 1 / 60], second: [3 / 2, -3 / 20, 1 / 90], third: [-13 / 8, 1, -1 / 8] },
  8: {
    first: [4 / 5, -1 / 5, 4 / 105, -1 / 280],
    second: [8 / 5, -1 / 5, 8 / 315, -1 / 560],
    third: [-61 / 30, 169 / 120, -3 / 10, 7 / 240],
  },
} as const;
const WAVE: Triple = [1, 2, -1];
const AXES: Axes = [periodicAxis(32), periodicAxis(48), periodicAxis(24)];

describe.each([4, 6, 8] as const)("None_Fd%d", (order) => {
  const phase = (x: number, y: number, z: number) => WAVE[0] * x + WAVE[1] * y + WAVE[2] * z;
  const wave = (x: number, y: number, z: number) => [Math.sin(phase(x, y, z)), Math.cos(phase(x, y, z)), 2];
  const [i, j, k] = [5, 40, 23];
  const point = AXES.map(({ spacing }, a) => ([i, j, k][a] as number) * spacing) as unknown as Triple;
  const scheme = createScheme("velocityLaplacianOfGradient", `None_Fd${order}`, AXES, { fd8Legacy: false });
  const values = valuesAt(scheme, [fieldOf(AXES, 3, wave, [9, 8, 7])], [point])[0] as number[];
  /** The factor by which differences along each axis multiply a wave, without the turn of its phase. */
  const factors = AXES.map(({ spacing: h }, a) => {
    const angle = (WAVE[a] as number) * h;
    const { first, second, third } = PUBLISHED[order];
    const sum = (c: readonly number[], of: (n: number) => number) =>
      c.reduce((total, weight, n) => total + 2 * weight * of((n + 1) * angle), 0);
    return {
      first: sum(first, Math.sin) / h,
      second: sum(second, (n) => Math.cos(n) - 1) / h ** 2,
      third: sum(third, Math.sin) / h ** 3,
    };
  });

  it("is the sum of its differences, rows by component", () => {
    const [sine, cosine] = wave(...point) as [number, number];
    factors.forEach(({ first, third }, a) => {
      const others = factors.reduce((sum, { second }, b) => sum + (a === b ? 0 : second), 0);
      const factor = third + first * others;
      [cosine * factor, -sine * factor, 0].forEach((expected, c) => {
        expect(Math.abs((values[3 * c + a] as number) - expected)).toBeLessThan(1e-9);
      });
    });
  });

  it("comes close to the derivative of the wave", () => {
    const [, cosine] = wave(...point) as [number, number];
    WAVE.forEach((number, a) => {
      expect(Math.abs((values[a] as number) / (-6 * number * cosine) - 1)).toBeLessThan(order === 4 ? 0.05 : 2e-3);
    });
  });

  it("is given by no other option, and not where an axis has fewer nodes than the stencil", () => {
    const make = (axes: Axes, method: string) =>
      createScheme("pressureLaplacianOfGradient", method, axes, { fd8Legacy: false });
    expect(make(AXES, `None_Fd${order}`).components).toBe(3);
    expect(() => make([AXES[0], endedAxis(order + 1, 1), AXES[2]], `None_Fd${order}`)).toThrow(RangeError);
    for (const method of ["Fd4Lag4", "M2Q8", "Lag8"]) expect(() => make(AXES, method)).toThrow(RangeError);
  });

  const stretched = (nodes: number) =>
    tabulatedAxis(Array.from({ length: nodes }, (_, n) => (n + 0.1 * Math.sin(n)) / 8));
  it.each([
    ["open axes", [endedAxis(16, 1.5), endedAxis(14, 1.2, -0.3), endedAxis(12, 2)]],
    ["stretched axes", [stretched(14), stretched(16), cosineAxis(12)]],
    ["a stretched axis between periodic ones", [periodicAxis(16), cosineAxis(16), periodicAxis(12)]],
  ] as const)("is exact for polynomials of degree %#, at both ends too, on %s", (_, axes) => {
    // Third derivatives are exact below degree order + 1, the products of first and second ones in each factor.
    const degree = order;
    const free = axes.map(({ periodic }) => !periodic);
    const power = (x: number, a: number, d: number): number => {
      if (!free[a]) return d === 0 ? 1 : 0;
      let factor = 1;
      for (let n = 0; n < d; n++) factor *= degree - n;
      return factor * x ** (degree - d) + (d === 0 ? 1 : 0);
    };
    const field = (x: number, y: number, z: number) => [power(x, 0, 0) * power(y, 1, 0) * power(z, 2, 0)];
    const scheme = createScheme("pressureLaplacianOfGradient", `None_Fd${order}`, axes, { fd8Legacy: false });
    const places = [0, 1, 5, -2, -1].map((n) =>
      axes.map((axis, a) => nodeAt(axis, n < 0 ? axis.nodes + n : n + (n === 5 ? a : 0))),
    ) as unknown as Triple[];
    const found = valuesAt(scheme, [fieldOf(axes, 1, field, [5, 7, 6])], places);
    places.forEach((place, n) => {
      for (const a of [0, 1, 2]) {
        const expected = [0, 1, 2].reduce((sum, b) => {
          const orders = [0, 1, 2].map((c) => (c === a ? 1 : 0) + (c === b ? 2 : 0));
          return sum + orders.reduce((product, d, c) => product * power(place[c] as number, c, d), 1);
        }, 0);
        expect(Math.abs((found[n]?.[a] as number) - expected), `${n} ${a}`).toBeLessThan(
          1e-6 * (1 + Math.abs(expected)),
        );
      }
    });
  });

  it("falls by its order on open axes", () => {
    const error = (nodes: number): number => {
      const axes: Axes = [endedAxis(nodes, 1), endedAxis(nodes, 1), endedAxis(nodes, 1)];
      const smooth = (x: number, y: number, z: number) => [Math.sin(2 * x + 3 * y + z)];
      const scheme = createScheme("pressureLaplacianOfGradient", `None_Fd${order}`, axes, { fd8Legacy: false });
      const [first] = valuesAt(scheme, [fieldOf(axes, 1, smooth)], [[0, 0, 0]]) as [number[]];
      return Math.max(...first.map((value, a) => Math.abs(value + 14 * ([2, 3, 1][a] as number))));
    };
    expect(Math.log2(error(13) / error(25))).toBeGreaterThan(order - 2.6);
  });
});
