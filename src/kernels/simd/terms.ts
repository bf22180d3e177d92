/** Writes kernels as data: separable products for interpolation, Fd4Lag4 and splines. */
import { MIXED_DIFFERENCES } from "../finite-difference.js";
import { PAIRS } from "../nodal.js";
import { SPLINE_TERMS, type SplineQuantity } from "../spline.js";
import type { PointQuantity } from "../table.js";

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
  readonly output: number;
  readonly vectors: readonly [Vector, Vector, Vector];
}

const AXES = [0, 1, 2] as const;
const FIRST: Vector = { vector: 1, start: -2, length: 8 };
const SECOND: Vector = { vector: 2, start: -2, length: 8 };
const ONE_NODE: Vector = { vector: 3, start: -1, length: 6 };
const TWO_NODES: Vector = { vector: 4, start: -2, length: 8 };

function interpolation(order: number): Vector {
  return { vector: 0, start: 0, length: order };
}

/** One product: `vector` along the given axes, Lag4 along the others. */
function product(output: number, scale: number, vector: Vector, along: readonly number[]): Product {
  const other = interpolation(4);
  const at = (axis: number) => (along.includes(axis) ? vector : other);
  return { scale, output, vectors: [at(0), at(1), at(2)] };
}

/** Separable products of a quantity of a spline on `nodes` nodes; vector r is its r-th derivative. */
export function splineProducts(quantity: SimdQuantity, nodes: number): readonly Product[] {
  const vectorOf = (kind: number): Vector => ({ vector: kind, start: 0, length: nodes });
  return SPLINE_TERMS[quantity as SplineQuantity].map(({ output, kinds: [x, y, z], scale }) => ({
    scale,
    output,
    vectors: [vectorOf(x), vectorOf(y), vectorOf(z)],
  }));
}

/** Separable products of a quantity: interpolation of the given order, or Fd4Lag4. */
export function products(quantity: SimdQuantity, order: number): readonly Product[] {
  switch (quantity) {
    case "value": {
      const vector = interpolation(order);
      return [{ scale: 1, output: 0, vectors: [vector, vector, vector] }];
    }
    case "gradient":
      return AXES.map((axis) => product(axis, 1, FIRST, [axis]));
    case "laplacian":
      return AXES.map((axis) => product(0, 1, SECOND, [axis]));
    case "hessian":
      return PAIRS.flatMap(([a, b], output) =>
        a === b
          ? [product(output, 1, SECOND, [a])]
          : [
              product(output, MIXED_DIFFERENCES[4][0], ONE_NODE, [a, b]),
              product(output, MIXED_DIFFERENCES[4][1], TWO_NODES, [a, b]),
            ],
      );
  }
}
