/** Differentiates fields at points: per axis a few weight vectors, and sums of their tensor products. */
import { DifferenceVectors, FIRST, FITTED, PAIR, SECOND, THIRD, UNFITTED } from "./axis-vectors.js";
import { type DifferenceOrder, MIXED_DIFFERENCES } from "./finite-difference.js";
import { createNodalSum, nodalTaps } from "./nodal.js";
import { across, along, createProducts, type Term } from "./products.js";
import { type PointQuantity, RESULTS } from "./table.js";
import type { Axes, Scheme } from "./types.js";

/** A derivative of a field; its results follow each other as in the record of the same name. */
export type Derivative = Exclude<PointQuantity, "value">;

/** Positions of xx, yy, zz, and of xy, xz, yz with their axes, in a Hessian. */
export const PURE = [0, 3, 5] as const;
export const MIXED = [
  { output: 1, axes: [0, 1] },
  { output: 2, axes: [0, 2] },
  { output: 4, axes: [1, 2] },
] as const;

/**
 * The scheme of a derivative of a field with `size` components (1 or 3); results of a component stay together.
 *
 * The derivative is that of the discrete field, by differences of `order` at the nearest node; with `base` 4 the
 * differences at 4 x 4 x 4 nodes are interpolated by fourth-order Lagrange weights, fused into one weight vector per
 * axis. Mixed derivatives use the plane diagonals if the centred stencil fits on both axes, as the sum over k of
 * m_k D_k(a) D_k(b) with D_k f = f(+k) - f(-k), and the product of two first derivatives elsewhere.
 *
 * The Laplacian of the gradient is made of third derivatives and products of first and second ones.
 *
 * @param legacy published coefficients for the second derivative of order 8
 * @throws RangeError when an axis that is not periodic has fewer nodes than the stencil
 */
export function createDerivative(
  axes: Axes,
  derivative: Derivative,
  method: { readonly base: 1 | 4; readonly order: DifferenceOrder },
  size: 1 | 3,
  legacy: boolean,
): Scheme {
  const terms = TERMS[derivative](axes, method.order);
  const vectors = axes.map((axis, a) => {
    const kinds = new Set(terms.map((term) => term.kinds[a]));
    return new DifferenceVectors(axis, method.base, method.order, kinds, legacy);
  });
  const { base, order } = method;
  const nodal = base === 1 && derivative !== "laplacianOfGradient" && axes.every(({ periodic }) => periodic);
  const sum = nodal ? createNodalSum(derivative, nodalTaps(derivative, order, axes, legacy), order / 2) : undefined;
  return createProducts(axes, vectors, terms, RESULTS[derivative], [size], sum);
}

/** The terms of each derivative; products of first derivatives only if an axis is bounded. */
const TERMS: Readonly<Record<Derivative, (axes: Axes, order: DifferenceOrder) => readonly Term[]>> = {
  gradient: () => [0, 1, 2].map((a) => ({ output: a, kinds: along(a, FIRST), scale: 1 })),
  laplacian: () => [0, 1, 2].map((a) => ({ output: 0, kinds: along(a, SECOND), scale: 1 })),
  laplacianOfGradient: () =>
    [0, 1, 2].flatMap((a) =>
      [0, 1, 2].map((b) => ({ output: a, kinds: a === b ? along(a, THIRD) : across(a, FIRST, b, SECOND), scale: 1 })),
    ),
  hessian: (axes, order) => [
    ...PURE.map((output, a) => ({ output, kinds: along(a, SECOND), scale: 1 })),
    ...MIXED.flatMap(({ output, axes: [a, b] }) => [
      ...MIXED_DIFFERENCES[order].map((scale, k) => ({ output, kinds: across(a, PAIR + k, b, PAIR + k), scale })),
      ...(axes[a].periodic && axes[b].periodic
        ? []
        : [
            { output, kinds: across(a, UNFITTED, b, FIRST), scale: 1 },
            { output, kinds: across(a, FITTED, b, UNFITTED), scale: 1 },
          ]),
    ]),
  ],
};
