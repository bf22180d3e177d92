/** Writes kernels as data: separable products for interpolation and Fd4Lag4, weighted nodes for the None options. */

import {
  type DifferenceOrder,
  FIRST_DIFFERENCES,
  MIXED_DIFFERENCES,
  PUBLISHED_SECOND_DIFFERENCE_8,
  SECOND_DIFFERENCES,
} from "../finite-difference.js";
import { SPLINE_TERMS, type SplineQuantity } from "../spline.js";
import type { PointQuantity } from "../table.js";
import type { Axes } from "../types.js";

/** Quantities that the module computes. */
export type SimdQuantity = Exclude<PointQuantity, "laplacianOfGradient">;

/** Bits of the weight vectors, besides interpolation, that a quantity needs. */
export const DERIVATIVES: Readonly<Record<SimdQuantity, number>> = {
  value: 0,
  gradient: 1,
  hessian: 2 + 4,
  laplacian: 2,
};

/**
 * One weight vector along an axis: its number in the module, and the nodes it covers, counted from the first one of the
 * interpolation.
 */
export interface Vector {
  readonly vector: number;
  readonly start: number;
  readonly length: number;
}

/** A product of one vector per axis, times `scale`, added to an output. */
export interface Product {
  readonly scale: number;
  readonly slot: number;
  readonly vectors: readonly [Vector, Vector, Vector];
}

/** A node around the nearest node and its weight in an output. */
export interface Tap {
  readonly weight: number;
  readonly slot: number;
  readonly offset: readonly [number, number, number];
}

const FIRST: Vector = { vector: 1, start: -2, length: 8 };
const SECOND: Vector = { vector: 2, start: -2, length: 8 };
const ONE_NODE: Vector = { vector: 3, start: -1, length: 6 };
const TWO_NODES: Vector = { vector: 4, start: -2, length: 8 };

/** Pairs of axes in the order of a Hessian, and which of them are mixed. */
const PAIRS = [
  [0, 0],
  [0, 1],
  [0, 2],
  [1, 1],
  [1, 2],
  [2, 2],
] as const;

const AXES = [0, 1, 2] as const;

function interpolation(order: number): Vector {
  return { vector: 0, start: 0, length: order };
}

/** One product: `vector` along the given axes, Lag4 along the others. */
function product(slot: number, scale: number, vector: Vector, along: readonly number[]): Product {
  const other = interpolation(4);
  const at = (axis: number) => (along.includes(axis) ? vector : other);
  return { scale, slot, vectors: [at(0), at(1), at(2)] };
}

/** Separable products of a quantity of a spline on `nodes` nodes; vector r is its r-th derivative. */
export function splineProducts(quantity: SimdQuantity, nodes: number): readonly Product[] {
  const vectorOf = (kind: number): Vector => ({ vector: kind, start: 0, length: nodes });
  return SPLINE_TERMS[quantity as SplineQuantity].map(({ output, kinds: [x, y, z], scale }) => ({
    scale,
    slot: output,
    vectors: [vectorOf(x), vectorOf(y), vectorOf(z)],
  }));
}

/** Separable products of a quantity: interpolation of the given order, or Fd4Lag4. */
export function products(quantity: SimdQuantity, order: number): readonly Product[] {
  switch (quantity) {
    case "value": {
      const vector = interpolation(order);
      return [{ scale: 1, slot: 0, vectors: [vector, vector, vector] }];
    }
    case "gradient":
      return AXES.map((axis) => product(axis, 1, FIRST, [axis]));
    case "laplacian":
      return AXES.map((axis) => product(0, 1, SECOND, [axis]));
    case "hessian":
      return PAIRS.flatMap(([a, b], slot) =>
        a === b
          ? [product(slot, 1, SECOND, [a])]
          : [
              product(slot, MIXED_DIFFERENCES[4][0], ONE_NODE, [a, b]),
              product(slot, MIXED_DIFFERENCES[4][1], TWO_NODES, [a, b]),
            ],
      );
  }
}

type Offset = readonly [number, number, number];

/** `steps` nodes along the given axes, each with its own sign. */
function offset(along: readonly number[], steps: readonly number[]): Offset {
  const at = [0, 0, 0];
  along.forEach((axis, i) => {
    at[axis] = steps[i];
  });
  return [at[0], at[1], at[2]];
}

function firstTaps(axis: number, slot: number, order: DifferenceOrder, axes: Axes): Tap[] {
  return FIRST_DIFFERENCES[order].flatMap((a, i) =>
    [1, -1].map((sign) => ({
      weight: (sign * a) / axes[axis].spacing,
      slot,
      offset: offset([axis], [sign * (i + 1)]),
    })),
  );
}

function secondTaps(axis: number, slot: number, order: DifferenceOrder, axes: Axes, legacy: boolean): Tap[] {
  const square = axes[axis].spacing ** 2;
  const coefficients = order === 8 && legacy ? PUBLISHED_SECOND_DIFFERENCE_8 : SECOND_DIFFERENCES[order];
  const sides = coefficients.flatMap((b, i) =>
    [1, -1].map((sign) => ({ weight: b / square, slot, offset: offset([axis], [sign * (i + 1)]) })),
  );
  const centre = coefficients.reduce((sum, b) => sum - 2 * b, 0);
  return [...sides, { weight: centre / square, slot, offset: [0, 0, 0] }];
}

function mixedTaps(a: number, b: number, slot: number, order: DifferenceOrder, axes: Axes): Tap[] {
  const signs = [
    [1, 1],
    [-1, -1],
    [1, -1],
    [-1, 1],
  ];
  const area = axes[a].spacing * axes[b].spacing;
  return MIXED_DIFFERENCES[order].flatMap((m, i) =>
    signs.map(([p, q]) => ({ weight: (p * q * m) / area, slot, offset: offset([a, b], [p * (i + 1), q * (i + 1)]) })),
  );
}

/** Nodes and weights of a quantity at the nearest node; the order of accuracy is not used for values. */
export function taps(quantity: SimdQuantity, order: DifferenceOrder, axes: Axes, legacy: boolean): readonly Tap[] {
  switch (quantity) {
    case "value":
      return [{ weight: 1, slot: 0, offset: [0, 0, 0] }];
    case "gradient":
      return AXES.flatMap((axis) => firstTaps(axis, axis, order, axes));
    case "laplacian":
      return AXES.flatMap((axis) => secondTaps(axis, 0, order, axes, legacy));
    case "hessian":
      return PAIRS.flatMap(([a, b], slot) =>
        a === b ? secondTaps(a, slot, order, axes, legacy) : mixedTaps(a, b, slot, order, axes),
      );
  }
}
