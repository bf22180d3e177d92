/**
 * Weights on tabulated axes against the same polynomials in exact rational arithmetic, also where nodes nearly
 * coincide.
 */
import { describe, expect, it } from "vitest";
import {
  type DifferenceOrder,
  differenceRows,
  FIRST_DIFFERENCES,
  SECOND_DIFFERENCES,
} from "../../src/kernels/finite-difference.js";
import { createAxisWeights, type Order } from "../../src/kernels/lagrange.js";
import type { Axis } from "../../src/kernels/types.js";
import { generator } from "../support/run-query.js";

/** Coordinates are whole numbers of these. */
const UNIT = 2 ** -30;
/** Digits of a quotient after the point, in bits. */
const BITS = 200n;

/** An axis of `nodes` whole coordinates, intervals from 1 unit to 2^24, in units and as float64. */
function irregular(nodes: number, seed: number): { units: bigint[]; axis: Axis } {
  const random = generator(seed);
  const units = [BigInt(Math.floor(random() * 2 ** 20))];
  while (units.length < nodes) units.push((units.at(-1) as bigint) + BigInt(Math.ceil(2 ** (24 * random()))));
  const coordinates = Float64Array.from(units, (unit) => Number(unit) * UNIT);
  return { units, axis: { nodes, origin: 0, spacing: UNIT, periodic: false, coordinates } };
}

function quotient(numerator: bigint, denominator: bigint): number {
  return Number((numerator << BITS) / denominator) / 2 ** Number(BITS);
}

/**
 * Derivative `d` at `x`, in units, of the Lagrange polynomial of node `j`: the coefficients of prod (t + x - y_m)
 * around x.
 */
function exactWeight(y: readonly bigint[], j: number, x: bigint, d: number): number {
  let polynomial = [1n];
  let denominator = 1n;
  y.forEach((node, m) => {
    if (m === j) return;
    const from = x - node;
    const shifted = [0n, ...polynomial];
    polynomial = shifted.map((coefficient, power) => coefficient + from * (polynomial[power] ?? 0n));
    denominator *= (y[j] as bigint) - node;
  });
  const factorial = d === 2 ? 2n : 1n;
  return quotient(factorial * (polynomial[d] as bigint), denominator) / UNIT ** d;
}

/** Compares weights with exact ones, relative to the largest of them. */
function expectWeights(actual: ArrayLike<number>, exact: readonly number[], tolerance: number): void {
  const largest = Math.max(...exact.map(Math.abs));
  exact.forEach((weight, j) => {
    expect(Math.abs((actual[j] as number) - weight) / largest).toBeLessThan(tolerance);
  });
}

describe.each([12, 13, 21])("on an axis of %d irregular nodes", (nodes) => {
  const { units, axis } = irregular(nodes, nodes);

  it.each<Order>([4, 6, 8])("interpolation of order %d", (order) => {
    const weights = createAxisWeights(axis, order);
    const random = generator(order);
    const [first, last] = [units[0], units.at(-1)] as [bigint, bigint];
    for (let i = 0; i < 200; i++) {
      const x = first + BigInt(Math.floor(random() * Number(last - first)));
      weights.locate(Number(x) * UNIT);
      weights.weigh();
      const y = units.slice(weights.start, weights.start + order);
      expectWeights(
        weights.weight,
        y.map((_, j) => exactWeight(y, j, x, 0)),
        1e-13,
      );
    }
  });

  it.each(
    ([4, 6, 8] as const).flatMap((order): [DifferenceOrder, 1 | 2][] => [
      [order, 1],
      [order, 2],
    ]),
  )("differences of order %d, derivative %d", (order, derivative) => {
    const centred = derivative === 1 ? FIRST_DIFFERENCES : SECOND_DIFFERENCES;
    const rows = differenceRows(axis, order, derivative, centred[order]);
    for (let node = 0; node < nodes; node++) {
      const start = node + (rows.offset[node] as number);
      const y = units.slice(start, start + order + derivative);
      const exact = y.map((_, j) => exactWeight(y, j, units[node] as bigint, derivative));
      expectWeights(rows.weight.subarray(node * rows.width, (node + 1) * rows.width), exact, 1e-12);
    }
  });
});
