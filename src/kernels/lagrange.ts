/** Computes Lagrange weights of order 4, 6 and 8: closed form on uniform axes, barycentric on tabulated ones. */

import { type Place, place } from "./stencil.js";
import type { Axis } from "./types.js";

/** Nodes per axis: 1 is the nearest node alone. */
export type Order = 1 | 4 | 6 | 8;

/** A coordinate this fraction of the stencil's length from a node counts as on the node (barycentric form only). */
const ON_NODE = 1e-12;

/** Products of (k - m) over m != k for the nodes k = 0 .. order - 1. */
const DENOMINATORS: Readonly<Record<number, Float64Array>> = {
  4: denominators(4),
  6: denominators(6),
  8: denominators(8),
};

function denominators(order: number): Float64Array {
  const out = new Float64Array(order).fill(1);
  for (let k = 0; k < order; k++) for (let m = 0; m < order; m++) if (m !== k) out[k] *= k - m;
  return out;
}

/**
 * Weights of the Lagrange basis on `order` equispaced nodes.
 *
 * @param order    4, 6 or 8
 * @param fraction offset from the left central node in grid spacings; outside 0 .. 1 where a stencil was slid inward
 * @param out      length at least `order`; overwritten; sums to 1, and is a unit vector when the fraction is on a node
 *
 * Exact for polynomials of degree < order; error O(h^order).
 * Source: Berrut and Trefethen, SIAM Review 46 (2004), section 2.
 */
export function lagrangeWeights(order: number, fraction: number, out: Float64Array): void {
  const denominator = DENOMINATORS[order];
  const x = fraction + (order >> 1) - 1;
  let product = 1;
  for (let k = 0; k < order; k++) {
    out[k] = product;
    product *= x - k;
  }
  product = 1;
  for (let k = order - 1; k >= 0; k--) {
    out[k] = (out[k] * product) / denominator[k];
    product *= x - k;
  }
}

/**
 * Barycentric weights of every stencil of `order` consecutive nodes: row s holds those of nodes s .. s + order - 1.
 *
 * @returns (nodes - order + 1) * order numbers, as `barycentricWeights` has them
 */
export function barycentricTable(coordinates: Float64Array, order: number): Float64Array {
  const rows = coordinates.length - order + 1;
  const table = new Float64Array(rows * order);
  for (let row = 0; row < rows; row++) {
    barycentricWeights(coordinates.subarray(row, row + order), table.subarray(row * order, (row + 1) * order));
  }
  return table;
}

/**
 * 1 / product of (y_j - y_m) over m != j for the nodes `y`, into `out`; distances are taken in units of the stencil's
 * length.
 */
export function barycentricWeights(y: Float64Array, out: Float64Array): void {
  const scale = 1 / (y[y.length - 1] - y[0]);
  for (let j = 0; j < y.length; j++) {
    let product = 1;
    for (let m = 0; m < y.length; m++) if (m !== j) product *= (y[j] - y[m]) * scale;
    out[j] = 1 / product;
  }
}

/**
 * Weights of the Lagrange basis on the nodes `start .. start + order - 1` of a tabulated axis.
 *
 * @param table rows of `barycentricTable`
 * @param out   length at least `order`; overwritten; sums to 1; a unit vector within 1e-12 stencil lengths of a node
 *
 * Products of distances, without a division by their sum, which cancels where nodes are very unequally spaced.
 * Source: Berrut and Trefethen, SIAM Review 46 (2004), section 3 (first barycentric form); Higham, IMA Journal of
 * Numerical Analysis 24 (2004), for its stability.
 */
export function tabulatedWeights(
  coordinates: Float64Array,
  table: Float64Array,
  start: number,
  order: number,
  x: number,
  out: Float64Array,
): void {
  const scale = 1 / (coordinates[start + order - 1] - coordinates[start]);
  let product = 1;
  for (let j = 0; j < order; j++) {
    const distance = (x - coordinates[start + j]) * scale;
    if (Math.abs(distance) <= ON_NODE) {
      out.fill(0, 0, order);
      out[j] = 1;
      return;
    }
    out[j] = product * table[start * order + j];
    product *= distance;
  }
  product = 1;
  for (let j = order - 1; j >= 0; j--) {
    out[j] *= product;
    product *= (x - coordinates[start + j]) * scale;
  }
}

/** The interpolation of one axis: `locate` a coordinate, then `weigh` it. */
export interface AxisWeights extends Place {
  /** Weights of nodes start .. start + order - 1, valid after `weigh`. */
  readonly weight: Float64Array;
  /** Sets `start` and `offset`. */
  locate(x: number): void;
  /** Sets `weight` for the coordinate located last. */
  weigh(): void;
}

/**
 * Interpolation of an order on an axis.
 *
 * @throws RangeError when an axis that is not periodic has fewer nodes than the stencil
 */
export function createAxisWeights(axis: Axis, order: Order): AxisWeights {
  if (!axis.periodic && axis.nodes < order)
    throw new RangeError(`an axis of ${axis.nodes} nodes has no room for ${order}`);
  const { coordinates } = axis;
  const table = coordinates === null || order === 1 ? null : barycentricTable(coordinates, order);
  const weight = new Float64Array(order).fill(1);
  const self: AxisWeights = {
    start: 0,
    offset: 0,
    weight,
    locate: (x) => place(axis, order, x, self),
    weigh: () => {
      if (order === 1) return;
      if (coordinates === null || table === null) lagrangeWeights(order, self.offset, weight);
      else tabulatedWeights(coordinates, table, self.start, order, self.offset, weight);
    },
  };
  return self;
}
