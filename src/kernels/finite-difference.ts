/**
 * Computes finite-difference weights of order 4, 6 and 8 at nodes: centred on uniform axes, off-centre at ends,
 * tabulated elsewhere.
 */
import { barycentricWeights } from "./lagrange.js";
import { nodeStencil } from "./stencil.js";
import type { Axes, Axis } from "./types.js";

/** Order of accuracy of a difference. */
export type DifferenceOrder = 4 | 6 | 8;
type Coefficients = Readonly<Record<DifferenceOrder, readonly number[]>>;

/** f' = (1/h) sum_k a_k (f(+k) - f(-k)). */
export const FIRST_DIFFERENCES: Coefficients = {
  4: [2 / 3, -1 / 12],
  6: [3 / 4, -3 / 20, 1 / 60],
  8: [4 / 5, -1 / 5, 4 / 105, -1 / 280],
};

/** f'' = (1/h^2) sum_k b_k (f(+k) + f(-k) - 2 f(0)). */
export const SECOND_DIFFERENCES: Coefficients = {
  4: [4 / 3, -1 / 12],
  6: [3 / 2, -3 / 20, 1 / 90],
  8: [8 / 5, -1 / 5, 8 / 315, -1 / 560],
};

/** The second difference that the public turbulence database publishes as its eighth-order one; its order is 6. */
export const PUBLISHED_SECOND_DIFFERENCE_8: readonly number[] = [792 / 591, -207 / 2955, -104 / 8865, 9 / 3152];

/** f''' = (1/h^3) sum_k c_k (f(+k) - f(-k)), on the nodes of the first difference: of two orders less. */
export const THIRD_DIFFERENCES: Coefficients = {
  4: [-1, 1 / 2],
  6: [-13 / 8, 1, -1 / 8],
  8: [-61 / 30, 169 / 120, -3 / 10, 7 / 240],
};

/** f_xy = (1/(hx hy)) sum_k m_k (f(+k,+k) + f(-k,-k) - f(+k,-k) - f(-k,+k)). */
export const MIXED_DIFFERENCES: Coefficients = {
  4: [1 / 3, -1 / 48],
  6: [3 / 8, -3 / 80, 1 / 360],
  8: [2 / 5, -1 / 20, 2 / 315, -1 / 2240],
};

/**
 * Difference weights at the nodes of an axis, one row per node, or a single row if all nodes have the same. Row r:
 * weight t (0 <= t < width) belongs to node `node + offset[r] + t`; bit t of `support[r]` says whether that node is
 * part of the stencil at all.
 */
export interface DifferenceRows {
  /** One row serves all nodes. */
  readonly shared: boolean;
  readonly width: number;
  readonly offset: Int32Array;
  readonly support: Int32Array;
  readonly weight: Float64Array;
}

/** Axes for derivatives: a field is constant along a periodic one of one node, as if nodes were infinitely far apart. */
export function differencedAxes(axes: Axes): Axes {
  const apart = { spacing: Number.POSITIVE_INFINITY };
  return axes.map((axis) => (axis.periodic && axis.nodes === 1 ? { ...axis, ...apart } : axis)) as never;
}

/** Weights of the first derivative along each axis. Throws RangeError as `differenceRows` does. */
export function firstDifferences(axes: Axes, order: DifferenceOrder): readonly DifferenceRows[] {
  return differencedAxes(axes).map((axis) => differenceRows(axis, order, 1, FIRST_DIFFERENCES[order]));
}

/** Whether the centred stencil of an order fits at a node: never on tabulated axes, always on periodic ones. */
export function fitsCentred(axis: Axis, order: DifferenceOrder, node: number): boolean {
  if (axis.periodic) return true;
  return axis.coordinates === null && node >= order / 2 && node + order / 2 < axis.nodes;
}

/**
 * Weights of the first, second or third derivative at every node of an axis, scaled by its spacing.
 *
 * If the centred stencil of a uniform axis does not fit, and on tabulated axes: order + 1 nodes for the first and
 * the third and order + 2 for the second derivative, slid inward at the ends, so that the order is kept (of the third:
 * two less).
 *
 * @param centred the `order / 2` coefficients of the centred stencil
 * @throws RangeError when an axis that is not periodic has fewer nodes than the stencil
 */
export function differenceRows(
  axis: Axis,
  order: DifferenceOrder,
  derivative: 1 | 2 | 3,
  centred: readonly number[],
): DifferenceRows {
  const count = order + (derivative === 2 ? 2 : 1);
  if (!axis.periodic && axis.nodes < count)
    throw new RangeError(`an axis of ${axis.nodes} nodes has no room for ${count}`);
  const rows = axis.periodic ? 1 : axis.nodes;
  const offset = new Int32Array(rows);
  const support = new Int32Array(rows);
  const weight = new Float64Array(rows * count);
  const inner = axis.coordinates === null ? centredRow(derivative, centred, axis.spacing) : new Float64Array(0);
  for (let r = 0; r < rows; r++) {
    const row = weight.subarray(r * count, (r + 1) * count);
    if (fitsCentred(axis, order, r)) {
      offset[r] = -order / 2;
      row.set(inner);
      support[r] = (1 << inner.length) - 1 - (derivative === 2 ? 0 : 1 << (order / 2));
    } else {
      const start = nodeStencil(axis.nodes, r, count);
      const nodes = Float64Array.from({ length: count }, (_, t) => nodeCoordinate(axis, start + t));
      offset[r] = start - r;
      differentiationRow(nodes, r - start, derivative, row);
      support[r] = (1 << count) - 1;
    }
  }
  return { shared: axis.periodic, width: count, offset, support, weight };
}

/** The centred stencil as a dense row of 2 * coefficients + 1 weights. */
function centredRow(derivative: 1 | 2 | 3, coefficients: readonly number[], spacing: number): Float64Array {
  const half = coefficients.length;
  const row = new Float64Array(2 * half + 1);
  const square = spacing * spacing;
  coefficients.forEach((coefficient, i) => {
    const scaled = coefficient / (derivative === 1 ? spacing : derivative === 2 ? square : square * spacing);
    row[half + i + 1] = scaled;
    row[half - i - 1] = derivative === 2 ? scaled : -scaled;
  });
  row[half] = derivative === 2 ? coefficients.reduce((sum, coefficient) => sum - 2 * coefficient, 0) / square : 0;
  return row;
}

/** Node coordinates for differences; from node 0 on uniform axes, where only distances matter. */
function nodeCoordinate(axis: Axis, node: number): number {
  return axis.coordinates === null ? node * axis.spacing : axis.coordinates[node];
}

/**
 * Row `at` of the first, second or third differentiation matrix of the polynomial through the nodes `y`, into `out`.
 *
 * A basis polynomial is (x - y_at) g(x), so that its derivatives at y_at are g, 2 g' and 3 g''; with the sums S_n of
 * 1 / (y_at - y_m)^n over the other nodes, g' = g S_1 and g'' = g (S_1^2 - S_2).
 * Exact for degree < y.length. Source: Berrut and Trefethen, SIAM Review 46 (2004), section 9.3.
 */
function differentiationRow(y: Float64Array, at: number, derivative: 1 | 2 | 3, out: Float64Array): void {
  const omega = new Float64Array(y.length);
  barycentricWeights(y, omega);
  out[at] = 0;
  let sum = 0;
  for (let j = 0; j < y.length; j++) {
    if (j === at) continue;
    const first = omega[j] / omega[at] / (y[at] - y[j]);
    // The sums without j: as a difference of the whole sum they would cancel if two nodes are close.
    let others = 0;
    let squares = 0;
    for (let m = 0; m < y.length; m++) {
      if (m === at || m === j) continue;
      const inverse = 1 / (y[at] - y[m]);
      others += inverse;
      squares += inverse * inverse;
    }
    out[j] = derivative === 1 ? first : derivative === 2 ? 2 * first * others : 3 * first * (others * others - squares);
    sum += out[j];
  }
  out[at] = -sum;
}
