/** Nodes and weights of differences at a node: exact for monomials up to their order, each node once a result. */
import { describe, expect, it } from "vitest";
import { nodalTaps } from "../../src/kernels/nodal.js";
import type { Axes } from "../../src/kernels/types.js";
import { periodicAxis } from "./fields.js";

const AXES: Axes = [periodicAxis(16, 4), periodicAxis(16, 2), periodicAxis(16, 8)];
const ORDERS = [4, 6, 8] as const;
/** For each result the derivatives, as orders along x, y, z, whose sum it is. */
const RESULTS = {
  gradient: [[[1, 0, 0]], [[0, 1, 0]], [[0, 0, 1]]],
  hessian: [[[2, 0, 0]], [[1, 1, 0]], [[1, 0, 1]], [[0, 2, 0]], [[0, 1, 1]], [[0, 0, 2]]],
  laplacian: [
    [
      [2, 0, 0],
      [0, 2, 0],
      [0, 0, 2],
    ],
  ],
} as const;

const factorial = (n: number): number => (n <= 1 ? 1 : n * factorial(n - 1));

describe.each(Object.keys(RESULTS) as (keyof typeof RESULTS)[])("%s", (quantity) => {
  it.each(ORDERS)("of order %d is exact for monomials around the node", (order) => {
    const taps = nodalTaps(quantity, order, AXES, false);
    RESULTS[quantity].forEach((derivatives, output) => {
      const own = taps.filter((tap) => tap.output === output);
      for (let a = 0; a <= order; a++) {
        for (let b = 0; a + b <= order; b++) {
          for (let c = 0; a + b + c <= order; c++) {
            const powers = [a, b, c];
            const sum = own.reduce((total, { weight, offset }) => {
              const value = powers.reduce((v, p, i) => v * (offset[i] as number) ** p, 1);
              return total + weight * value;
            }, 0);
            const spacings = powers.reduce((v, p, i) => v * (AXES[i] as Axes[0]).spacing ** p, 1);
            const expected = derivatives.some((orders) => orders.every((r, i) => r === powers[i]))
              ? powers.reduce((v, p) => v * factorial(p), 1)
              : 0;
            expect(Math.abs(sum * spacings - expected)).toBeLessThan(1e-9);
          }
        }
      }
    });
  });

  it("uses the published coefficients only where they are asked for", () => {
    const [standard, published] = [false, true].map((legacy) => nodalTaps(quantity, 8, AXES, legacy));
    if (quantity === "gradient") expect(published).toEqual(standard);
    else expect(published).not.toEqual(standard);
    expect(nodalTaps(quantity, 6, AXES, true)).toEqual(nodalTaps(quantity, 6, AXES, false));
  });
});

it("takes the node itself for a value", () => {
  expect(nodalTaps("value", 4, AXES, false)).toEqual([{ weight: 1, output: 0, offset: [0, 0, 0] }]);
});
