/**
 * Differentiates at the nearest node of grids that are periodic along every axis: weighted nodes around it, added one
 * by one.
 *
 * The order of the nodes is part of the answer's bits; the SIMD module reads the same list.
 */
import type { PointSums } from "./evaluate.js";
import {
  type DifferenceOrder,
  FIRST_DIFFERENCES,
  MIXED_DIFFERENCES,
  PUBLISHED_SECOND_DIFFERENCE_8,
  SECOND_DIFFERENCES,
} from "./finite-difference.js";
import { type PointQuantity, RESULTS } from "./table.js";
import type { Axes } from "./types.js";

/** Quantities that are sums over nodes around one. */
export type NodalQuantity = Exclude<PointQuantity, "laplacianOfGradient">;

/** A node around the nearest node and its weight in an output. */
export interface Tap {
  readonly weight: number;
  readonly output: number;
  readonly offset: readonly [number, number, number];
}

/** Pairs of axes in the order of a Hessian. */
export const PAIRS = [
  [0, 0],
  [0, 1],
  [0, 2],
  [1, 1],
  [1, 2],
  [2, 2],
] as const;

const AXES = [0, 1, 2] as const;

/**
 * The sums of the taps in a box of nodes.
 *
 * @param reach nodes of the box before the nearest one, along every axis
 */
export function createNodalSum(quantity: NodalQuantity, taps: readonly Tap[], reach: number): PointSums["sum"] {
  const results = RESULTS[quantity];
  return ({ data, base, strideY, strideZ }, size, out, at) => {
    for (const { weight, output, offset } of taps) {
      const node = base + (offset[0] + reach) * size + (offset[1] + reach) * strideY + (offset[2] + reach) * strideZ;
      for (let c = 0; c < size; c++) out[at + c * results + output] += weight * data[node + c];
    }
  };
}

type Offset = readonly [number, number, number];

/** `steps` nodes along the given axes, each with its own sign. */
const offset = (along: readonly number[], steps: readonly number[]): Offset =>
  AXES.map((a) => steps[along.indexOf(a)] ?? 0) as unknown as Offset;

function firstTaps(axis: number, output: number, order: DifferenceOrder, axes: Axes): Tap[] {
  const { spacing } = axes[axis];
  return FIRST_DIFFERENCES[order].flatMap((a, i) =>
    [1, -1].map((sign) => ({ weight: (sign * a) / spacing, output, offset: offset([axis], [sign * (i + 1)]) })),
  );
}

function secondTaps(axis: number, output: number, order: DifferenceOrder, axes: Axes, legacy: boolean): Tap[] {
  const square = axes[axis].spacing ** 2;
  const coefficients = order === 8 && legacy ? PUBLISHED_SECOND_DIFFERENCE_8 : SECOND_DIFFERENCES[order];
  const sides = coefficients.flatMap((b, i) =>
    [1, -1].map((sign) => ({ weight: b / square, output, offset: offset([axis], [sign * (i + 1)]) })),
  );
  // The weights as they are rounded sum to 0, so that the mean of a field adds no further rounding.
  const centre = coefficients.reduce((sum, b) => sum - 2 * (b / square), 0);
  return [...sides, { weight: centre, output, offset: [0, 0, 0] }];
}

function mixedTaps(a: number, b: number, output: number, order: DifferenceOrder, axes: Axes): Tap[] {
  const signs = [
    [1, 1],
    [-1, -1],
    [1, -1],
    [-1, 1],
  ];
  const area = axes[a].spacing * axes[b].spacing;
  return MIXED_DIFFERENCES[order].flatMap((m, i) =>
    signs.map(([p, q]) => ({ weight: (p * q * m) / area, output, offset: offset([a, b], [p * (i + 1), q * (i + 1)]) })),
  );
}

/** Nodes and weights of a quantity at the nearest node; the order of accuracy is not used for values. */
export function nodalTaps(
  quantity: NodalQuantity,
  order: DifferenceOrder,
  axes: Axes,
  legacy: boolean,
): readonly Tap[] {
  switch (quantity) {
    case "value":
      return [{ weight: 1, output: 0, offset: [0, 0, 0] }];
    case "gradient":
      return AXES.flatMap((axis) => firstTaps(axis, axis, order, axes));
    case "laplacian":
      return AXES.flatMap((axis) => secondTaps(axis, 0, order, axes, legacy));
    case "hessian":
      return PAIRS.flatMap(([a, b], output) =>
        a === b ? secondTaps(a, output, order, axes, legacy) : mixedTaps(a, b, output, order, axes),
      );
  }
}
