/** Filters over cubes of grid nodes: means, covariances and differences of means around the node nearest to a point. */
import { axisEnd, axisStart, type Place, place, wrap } from "../stencil.js";
import type { Axes, BrickReader, Triple } from "../types.js";
import { type ComponentPair, createNodeSums, SumsScratch, sharedEdges } from "./node-sums.js";

/**
 * A quantity computed over cubes: a mean, mean(ab) - mean(a) mean(b), or a centred difference of means along every
 * axis.
 */
export type FilterQuantity = "mean" | "covariance" | "gradient";

/** A filter bound to a grid, a width in nodes and the components of the fields it reads. */
export interface NodeFilter {
  /** Numbers per point. */
  readonly components: number;
  /** Nodes along each axis within which points share sums: points further apart may be evaluated in turn at no loss. */
  readonly edges: Triple;
  /**
   * Overwrites `out[components * i ..]` for the points `first .. first + count - 1`. Points that are close together
   * share running sums, which changes no bit of an answer: pass as many at once as there are.
   *
   * @param stop polled between steps; when true it ends early and `out` is not valid
   */
  evaluate(
    readers: readonly BrickReader[],
    frame: number,
    positions: Float64Array,
    first: number,
    count: number,
    out: Float64Array,
    stop?: () => boolean,
  ): void;
  /** Whether all nodes for a position (x, y, z) lie inside the axes that are not periodic. */
  boxInside(position: ArrayLike<number>): boolean;
}

/**
 * The odd number of nodes nearest to a filter width; exact even multiples of the spacing go down, and it is at least 1.
 *
 * @param filterWidth > 0, in the units of `spacing`; both may be known to float32 only
 */
export function filterNodes(filterWidth: number, spacing: number): number {
  const width = Math.round(filterWidth / spacing);
  if (width % 2 === 1) return width;
  return Math.max(1, filterWidth <= width * spacing * (1 + 2 ** -22) ? width - 1 : width + 1);
}

/** Pairs of components whose products a covariance takes: xx, yy, zz, xy, xz, yz of one vector, all of two fields. */
function pairsOf(sizes: readonly number[]): ComponentPair[] {
  const [a, b] = sizes;
  if (b === undefined) {
    const pairs = [0, 1, 2].map((i): ComponentPair => [i, i]);
    return a === 1 ? pairs.slice(0, 1) : [...pairs, [0, 1], [0, 2], [1, 2]];
  }
  return Array.from({ length: a * b }, (_, i): ComponentPair => [Math.floor(i / b), a + (i % b)]);
}

/**
 * The filter of cubes of `width` nodes, for one thread.
 *
 * A mean has the components of its field. A covariance of one vector is xx, yy, zz, xy, xz, yz; of two fields component
 * i of the first with component j of the second, row by row. A gradient is the mean `step` nodes further minus the mean
 * `step` nodes before, over their distance: d/dx, d/dy, d/dz of each component. Sums are float64; an answer does not
 * depend on other points.
 *
 * @param width odd number of nodes per axis
 * @param sizes components of the fields: one, or two for a covariance of two
 * @param step  nodes, at least 1; for gradients only
 * @param scratch that of the thread
 * @throws RangeError when an axis is tabulated or has fewer nodes than the cube
 */
export function createNodeFilter(
  quantity: FilterQuantity,
  axes: Axes,
  width: number,
  sizes: readonly (1 | 3)[],
  step = 0,
  scratch = new SumsScratch(),
): NodeFilter {
  if (axes.some(({ coordinates, nodes }) => coordinates !== null || nodes < width))
    throw new RangeError(`an axis has no cubes of ${width} nodes`);
  const products = quantity === "covariance" ? pairsOf(sizes) : [];
  const size = sizes.reduce((sum: number, components) => sum + components, 0);
  const channels = size + products.length;
  const sums = createNodeSums(axes, width, sizes, products, scratch);
  const volume = width ** 3;
  const distances = axes.map(({ spacing }) => 2 * step * spacing);
  const reach = (width - 1) / 2;
  const components = quantity === "mean" ? size : quantity === "covariance" ? products.length : 3 * size;
  /** Cubes per point: one, or two along every axis. */
  const cubes = quantity === "gradient" ? 6 : 1;
  const cell: Place = { start: 0, offset: 0 };
  const nearest = (a: number, x: number): number => {
    place(axes[a], 1, x, cell);
    return cell.start;
  };

  /** First nodes of the cubes of a point. */
  const locate = (positions: Float64Array, point: number, starts: Int32Array, at: number): void => {
    for (let a = 0; a < 3; a++) {
      const node = nearest(a, positions[3 * point + a]) - reach;
      for (let cube = 0; cube < cubes; cube++) {
        const offset = cubes === 1 || cube >> 1 !== a ? 0 : cube % 2 === 0 ? -step : step;
        starts[at + 3 * cube + a] = wrap(node + offset, axes[a].nodes);
      }
    }
  };

  return {
    components,
    edges: sharedEdges(width, channels),
    evaluate(readers, frame, positions, first, count, out, stop = () => false) {
      const starts = new Int32Array(3 * cubes * count);
      for (let i = 0; i < count; i++) locate(positions, first + i, starts, 3 * cubes * i);
      const totals = new Float64Array(channels * cubes * count);
      sums(readers, frame, starts, totals, stop);
      for (let i = 0; i < totals.length; i++) totals[i] /= volume;
      for (let i = 0; i < count; i++) {
        const at = channels * cubes * i;
        const to = components * (first + i);
        if (quantity === "mean") for (let c = 0; c < size; c++) out[to + c] = totals[at + c];
        else if (quantity === "covariance") putCovariances(totals, at, size, products, out, to);
        else putDifferences(totals, at, size, distances, out, to);
      }
    },
    boxInside: (position) =>
      axes.every((axis, a) => {
        if (axis.periodic) return true;
        const x = Math.min(Math.max(position[a], axisStart(axis)), axisEnd(axis));
        const node = nearest(a, x);
        return node - reach - step >= 0 && node + reach + step < axis.nodes;
      }),
  };
}

/** Means of products, which follow the means of the components, less products of means. */
function putCovariances(
  means: Float64Array,
  at: number,
  size: number,
  products: readonly ComponentPair[],
  out: Float64Array,
  to: number,
): void {
  for (let p = 0; p < products.length; p++) {
    const [a, b] = products[p];
    out[to + p] = means[at + size + p] - means[at + a] * means[at + b];
  }
}

/** Differences of the means before and after a node on every axis, divided by their distance; rows by component. */
function putDifferences(
  means: Float64Array,
  at: number,
  size: number,
  distances: readonly number[],
  out: Float64Array,
  to: number,
): void {
  for (let a = 0; a < 3; a++) {
    const before = at + 2 * a * size;
    for (let c = 0; c < size; c++) {
      out[to + 3 * c + a] = (means[before + size + c] - means[before + c]) / distances[a];
    }
  }
}
