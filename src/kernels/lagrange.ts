/** Computes Lagrange weights of order 4, 6 and 8: closed form on uniform axes, barycentric on tabulated ones. */
import { type Place, place } from "./stencil.js";
import type { Axis } from "./types.js";

/** Nodes per axis: 1 is the nearest node alone. */
export type Order = 1 | 4 | 6 | 8;

/** A coordinate this fraction of the stencil's length from a node counts as on the node (barycentric form only). */
const ON_NODE = 1e-12;

/**
 * Weights of the Lagrange basis on `order` equispaced nodes.
 *
 * @param order    4, 6 or 8
 * @param fraction offset from the left central node in grid spacings; outside 0 .. 1 if a stencil was slid inward
 * @param out      length at least `order`; overwritten; sums to 1, and is a unit vector when the fraction is on a node
 *
 * Exact for polynomials of degree < order; error O(h^order).
 * Source: Berrut and Trefethen, SIAM Review 46 (2004), section 2.
 */
export function lagrangeWeights(order: number, fraction: number, out: Float64Array): void {
  if (order === 4) lagrange4(fraction, out);
  else if (order === 6) lagrange6(fraction, out);
  else lagrange8(fraction, out);
}

/**
 * The products of distances to nodes, times the reciprocals of the whole numbers that they are at their own node; the
 * SIMD module multiplies in this order, so that its weights have the same bits.
 */
function lagrange4(f: number, out: Float64Array): void {
  const b = f + 1;
  const d = f - 1;
  const e = f - 2;
  const de = d * e;
  out[0] = f * de * (1 / -6);
  out[1] = b * de * (1 / 2);
  out[2] = b * f * e * (1 / -2);
  out[3] = b * f * d * (1 / 6);
}

function lagrange6(f: number, out: Float64Array): void {
  const a = f + 2;
  const b = f + 1;
  const d = f - 1;
  const e = f - 2;
  const g = f - 3;
  const ab = a * b;
  const abf = ab * f;
  const de = d * e;
  const eg = e * g;
  const deg = d * eg;
  out[0] = b * f * deg * (1 / -120);
  out[1] = a * f * deg * (1 / 24);
  out[2] = ab * deg * (1 / -12);
  out[3] = abf * eg * (1 / 12);
  out[4] = abf * (d * g) * (1 / -24);
  out[5] = abf * de * (1 / 120);
}

function lagrange8(f: number, out: Float64Array): void {
  const z = f + 3;
  const a = f + 2;
  const b = f + 1;
  const d = f - 1;
  const e = f - 2;
  const g = f - 3;
  const h = f - 4;
  const bf = b * f;
  const za = z * a;
  const zab = za * b;
  const zabf = za * bf;
  const de = d * e;
  const gh = g * h;
  const degh = de * gh;
  out[0] = a * bf * degh * (1 / -5040);
  out[1] = z * bf * degh * (1 / 720);
  out[2] = za * f * degh * (1 / -240);
  out[3] = zab * degh * (1 / 144);
  out[4] = zabf * (e * gh) * (1 / -144);
  out[5] = zabf * (d * gh) * (1 / 240);
  out[6] = zabf * (de * h) * (1 / -720);
  out[7] = zabf * (de * g) * (1 / 5040);
}

/**
 * Barycentric weights of every stencil of `order` consecutive nodes: row s has the weights of nodes s .. s + order - 1.
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
 * Products of distances, without a division by their sum, which cancels if nodes are very unequally spaced.
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
