/** The Laplacian of the gradient: what its differences make of a plane wave, and that of the continuous one. */
import { describe, expect, it } from "vitest";
import { createScheme } from "../../src/kernels/index.js";
import type { Axes, Triple } from "../../src/kernels/types.js";
import { endedAxis, fieldOf, periodicAxis, valuesAt } from "./fields.js";

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
  /** What differences along each axis multiply a wave by, without the turn of its phase. */
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

  it("is refused on axes with ends, and no other option gives it", () => {
    const ended: Axes = [AXES[0], endedAxis(20, 1), AXES[2]];
    const make = (axes: Axes, method: string) =>
      createScheme("pressureLaplacianOfGradient", method, axes, { fd8Legacy: false });
    expect(make(AXES, `None_Fd${order}`).components).toBe(3);
    expect(() => make(ended, `None_Fd${order}`)).toThrow(RangeError);
    for (const method of ["Fd4Lag4", "M2Q8", "Lag8"]) expect(() => make(AXES, method)).toThrow(RangeError);
  });
});
