/** Lagrange weights: published values, unit sums, unit vectors on nodes, exactness for polynomials. */
import { describe, expect, it } from "vitest";
import {
  barycentricTable,
  createAxisWeights,
  lagrangeWeights,
  type Order,
  tabulatedWeights,
} from "../../src/kernels/lagrange.js";
import type { Axis } from "../../src/kernels/types.js";
import { fc } from "../support/property.js";
import { cosineAxis, endedAxis, nodeAt, periodicAxis, runningSum, tabulatedAxis } from "./fields.js";

const ORDERS = [4, 6, 8] as const;

function weights(order: number, fraction: number): number[] {
  const out = new Float64Array(order).fill(9);
  lagrangeWeights(order, fraction, out);
  return [...out];
}

function interpolant(axis: Axis, order: Order, f: (y: number) => number, x: number): number {
  const line = createAxisWeights(axis, order);
  line.locate(x);
  line.weigh();
  return line.weight.reduce((sum, weight, t) => sum + weight * f(nodeAt(axis, line.start + t)), 0);
}

describe("lagrangeWeights", () => {
  it.each([
    [4, 0.25, [-0.0546875, 0.8203125, 0.2734375, -0.0390625]],
    [4, 0.5, [-0.0625, 0.5625, 0.5625, -0.0625]],
    [6, 0.25, [0.0093994140625, -0.0845947265625, 0.845947265625, 0.281982421875, -0.0604248046875, 0.0076904296875]],
    [6, 0.5, [0.01171875, -0.09765625, 0.5859375, 0.5859375, -0.09765625, 0.01171875]],
    [
      8,
      0.25,
      [
        -0.0018882751464844, 0.0190925598144531, -0.1030998229980469, 0.8591651916503906, 0.2863883972167969,
        -0.0736427307128906, 0.0156211853027344, -0.0016365051269531,
      ],
    ],
    [
      8,
      0.5,
      [
        -0.00244140625, 0.02392578125, -0.11962890625, 0.59814453125, 0.59814453125, -0.11962890625, 0.02392578125,
        -0.00244140625,
      ],
    ],
  ])("order %d at %d as published", (order, fraction, published) => {
    weights(order, fraction).forEach((weight, i) => {
      expect(Math.abs(weight - (published[i] as number))).toBeLessThanOrEqual(1e-16);
    });
  });

  it.each(ORDERS)("order %d is a unit vector on every node of its stencil", (order) => {
    for (let node = 0; node < order; node++) {
      const expected = Array.from({ length: order }, (_, t) => (t === node ? 1 : 0));
      expect(weights(order, node - order / 2 + 1).map((weight) => weight + 0)).toEqual(expected);
    }
  });

  it.each(ORDERS)("order %d reproduces polynomials of lower degree, inside and beside the central cell", (order) => {
    fc.assert(
      fc.property(
        fc.double({ min: 1 - order / 2, max: order / 2, noNaN: true }),
        fc.nat(order - 1),
        (fraction, degree) => {
          const scale = order / 2;
          const value = weights(order, fraction).reduce(
            (sum, weight, t) => sum + weight * ((t - order / 2 + 1) / scale) ** degree,
            0,
          );
          expect(Math.abs(value - (fraction / scale) ** degree)).toBeLessThan(1e-13);
        },
      ),
    );
  });
});

describe("tabulated axes", () => {
  const axis = cosineAxis(8);

  it.each([
    [-0.95, 0.38675268993],
    [-0.3, 0.74058776878],
    [0, 0.9991861733],
    [0.1, 1.10452534104],
    [0.3, 1.34938075714],
    [0.95, 2.58576083005],
  ])("Lag4 of exp on eight cosine nodes at %d as published", (y, value) => {
    expect(Math.abs(interpolant(axis, 4, Math.exp, y) - value)).toBeLessThanOrEqual(1e-11);
  });

  it("has the published weights at -0.3", () => {
    const line = createAxisWeights(axis, 4);
    line.locate(-0.3);
    line.weigh();
    const published = [-0.0619202616, 0.2584778267, 0.8390507207, -0.0356082858];
    line.weight.forEach((weight, t) => {
      expect(Math.abs(weight - (published[t] as number))).toBeLessThanOrEqual(1e-10);
    });
  });

  it("returns the node value on a node and within 1e-12 stencil lengths of it, and not further away", () => {
    const nodes = axis.coordinates as Float64Array;
    const table = barycentricTable(nodes, 4);
    const out = new Float64Array(4);
    const length = (nodes[5] as number) - (nodes[2] as number);
    for (const distance of [0, 0.9e-12 * length, -0.9e-12 * length]) {
      tabulatedWeights(nodes, table, 2, 4, (nodes[3] as number) + distance, out);
      expect([...out]).toEqual([0, 1, 0, 0]);
    }
    tabulatedWeights(nodes, table, 2, 4, (nodes[3] as number) + 1e-10 * length, out);
    expect(out.every((weight) => weight !== 0)).toBe(true);
  });

  it("reproduces polynomials of degree below the order on irregular nodes", () => {
    const gaps = fc.array(fc.double({ min: 0.2, max: 2, noNaN: true }), { minLength: 9, maxLength: 14 });
    fc.assert(
      fc.property(
        gaps,
        fc.constantFrom(...ORDERS),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (steps, order, where) => {
          const uneven = tabulatedAxis(runningSum(0, steps).map((y, _, all) => y / (all.at(-1) as number)));
          const power = (y: number) => (y - 0.4) ** (order - 1);
          const scale = Math.max(1, power(0));
          expect(Math.abs(interpolant(uneven, order, power, where) - power(Math.min(where, 1))) / scale).toBeLessThan(
            1e-9,
          );
        },
      ),
    );
  });
});

describe("createAxisWeights", () => {
  it.each(ORDERS)("order %d needs as many nodes on an axis with ends, and any number on a periodic one", (order) => {
    expect(() => createAxisWeights(endedAxis(order - 1, 1), order)).toThrow(RangeError);
    expect(() => createAxisWeights(cosineAxis(order - 1), order)).toThrow(RangeError);
    const smallest = createAxisWeights(endedAxis(order, 1), order);
    smallest.locate(0.3);
    expect(smallest.start).toBe(0);
    const tiny = createAxisWeights(periodicAxis(2), order);
    tiny.locate(1);
    tiny.weigh();
    expect(tiny.weight.reduce((sum, weight) => sum + weight, 0)).toBeCloseTo(1, 14);
  });

  it("is the polynomial through the nodes of the slid stencil at uniform ends", () => {
    for (const order of ORDERS) {
      const axis = endedAxis(12, 1);
      const power = (y: number) => y ** (order - 1);
      for (const x of [0, 0.01, 0.97, 1]) expect(interpolant(axis, order, power, x)).toBeCloseTo(power(x), 11);
    }
  });
});
