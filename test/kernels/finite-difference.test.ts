/**
 * Difference weights: published tables, exactness at every node of every kind of axis, and which nodes a stencil holds.
 */
import { describe, expect, it } from "vitest";
import {
  type DifferenceOrder,
  differenceRows,
  FIRST_DIFFERENCES,
  fitsCentred,
  MIXED_DIFFERENCES,
  PUBLISHED_SECOND_DIFFERENCE_8,
  SECOND_DIFFERENCES,
} from "../../src/kernels/finite-difference.js";
import type { Axis } from "../../src/kernels/types.js";
import { cosineAxis, endedAxis, nodeAt, periodicAxis } from "./fields.js";

const ORDERS: readonly DifferenceOrder[] = [4, 6, 8];

function differentiate(
  axis: Axis,
  order: DifferenceOrder,
  derivative: 1 | 2,
  f: (y: number) => number,
  node: number,
): number {
  const table = derivative === 1 ? FIRST_DIFFERENCES : SECOND_DIFFERENCES;
  const rows = differenceRows(axis, order, derivative, table[order]);
  const r = rows.shared ? 0 : node;
  let sum = 0;
  for (let t = 0; t < rows.width; t++) {
    if ((((rows.support[r] as number) >> t) & 1) === 0) continue;
    const at = node + (rows.offset[r] as number) + t;
    if (!axis.periodic) expect(at >= 0 && at < axis.nodes).toBe(true);
    sum += (rows.weight[r * rows.width + t] as number) * f(nodeAt(axis, at));
  }
  return sum;
}

const moment = (coefficients: readonly number[], power: number) =>
  coefficients.reduce((sum, c, i) => sum + c * (i + 1) ** power, 0);

describe("coefficients", () => {
  it.each(ORDERS)("order %d satisfies the moment conditions of first, second and mixed derivatives", (order) => {
    const conditions = [
      [FIRST_DIFFERENCES[order], 1, 1 / 2],
      [SECOND_DIFFERENCES[order], 2, 1],
      [MIXED_DIFFERENCES[order], 2, 1 / 4],
    ] as const;
    for (const [coefficients, power, value] of conditions) {
      expect(coefficients).toHaveLength(order / 2);
      expect(moment(coefficients, power)).toBeCloseTo(value, 14);
      for (let i = 1; i < order / 2; i++) expect(Math.abs(moment(coefficients, power + 2 * i))).toBeLessThan(1e-11);
    }
  });

  it("keeps the published second difference of order 8 as it is: its eighth moment is not zero", () => {
    expect(moment(PUBLISHED_SECOND_DIFFERENCE_8, 2)).toBeCloseTo(1, 14);
    expect(moment(PUBLISHED_SECOND_DIFFERENCE_8, 4)).toBeCloseTo(0, 12);
    expect(moment(PUBLISHED_SECOND_DIFFERENCE_8, 6)).toBeCloseTo(0, 11);
    expect(moment(PUBLISHED_SECOND_DIFFERENCE_8, 8)).toBeCloseTo(18432 / 197, 9);
  });
});

describe("published derivatives", () => {
  it.each([
    [SECOND_DIFFERENCES[4], 4, -0.9236387447],
    [SECOND_DIFFERENCES[6], 6, -0.9238736255],
    [SECOND_DIFFERENCES[8], 8, -0.9238793723],
    [PUBLISHED_SECOND_DIFFERENCE_8, 8, -0.9238644363],
  ] as const)("second derivative of sin at node 3 of 16 with %j", (centred, order, value) => {
    const axis = periodicAxis(16);
    const rows = differenceRows(axis, order, 2, centred);
    let sum = 0;
    for (let t = 0; t <= order; t++) sum += (rows.weight[t] as number) * Math.sin((3 - order / 2 + t) * axis.spacing);
    expect(Math.abs(sum - value)).toBeLessThanOrEqual(1e-10);
  });

  // The second derivative at node 0 was also found in exact rational arithmetic, 0.366222116738; a printed 0.3662221177
  // is in error.
  it.each([
    [0, 0.3677128188, 0.3662221167],
    [2, 0.5358934046, 0.5362379785],
    [6, 2.4623003754, 2.4615383841],
  ])("order 4 of exp at node %d of eight cosine nodes", (node, first, second) => {
    expect(Math.abs(differentiate(cosineAxis(8), 4, 1, Math.exp, node) - first)).toBeLessThanOrEqual(1e-10);
    expect(Math.abs(differentiate(cosineAxis(8), 4, 2, Math.exp, node) - second)).toBeLessThanOrEqual(1e-10);
  });
});

describe("differenceRows", () => {
  const axes: readonly (readonly [string, Axis])[] = [
    ["ended", endedAxis(14, 2, -0.5)],
    ["tabulated", cosineAxis(14)],
  ];
  for (const [name, axis] of axes) {
    it.each(ORDERS)(`order %d is exact for polynomials at every node of the ${name} axis`, (order) => {
      for (let node = 0; node < axis.nodes; node++) {
        const y = nodeAt(axis, node);
        for (const derivative of [1, 2] as const) {
          const degree = order - 1 + derivative;
          const power = (x: number) => x ** degree;
          const exact = derivative === 1 ? degree * y ** (degree - 1) : degree * (degree - 1) * y ** (degree - 2);
          expect(Math.abs(differentiate(axis, order, derivative, power, node) - exact)).toBeLessThan(1e-6);
        }
      }
    });
  }

  it.each(ORDERS)(
    "order %d is centred wherever it fits on a uniform axis, without the centre for first derivatives",
    (order) => {
      const rows = differenceRows(endedAxis(14, 13), order, 1, FIRST_DIFFERENCES[order]);
      const second = differenceRows(endedAxis(14, 13), order, 2, SECOND_DIFFERENCES[order]);
      for (let node = 0; node < 14; node++) {
        const fits = node >= order / 2 && node <= 13 - order / 2;
        expect(fitsCentred(endedAxis(14, 13), order, node)).toBe(fits);
        const full = (1 << (order + 1)) - 1;
        expect(rows.support[node]).toBe(fits ? full - (1 << (order / 2)) : full);
        expect(second.support[node]).toBe(fits ? full : 2 * full + 1);
      }
      expect(fitsCentred(periodicAxis(4), order, 0)).toBe(true);
      expect(fitsCentred(cosineAxis(30), order, 15)).toBe(false);
    },
  );

  it("refuses axes with ends that are too short", () => {
    expect(() => differenceRows(endedAxis(8, 1), 8, 1, FIRST_DIFFERENCES[8])).toThrow(RangeError);
    expect(() => differenceRows(cosineAxis(9), 8, 2, SECOND_DIFFERENCES[8])).toThrow(RangeError);
    expect(differenceRows(periodicAxis(2), 8, 2, SECOND_DIFFERENCES[8]).shared).toBe(true);
  });
});
