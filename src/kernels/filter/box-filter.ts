/** Filters with boxes: means over a cube centred on the point and over its halved sub-cubes, in several layers. */
import { BOX_KERNELS } from "../table.js";
import type { Axes, BrickReader, FrameWeights } from "../types.js";
import { createBoxMean } from "./box-mean.js";
import { createIntervalSums } from "./interval-sums.js";
import { itemsPerPoint } from "./octree.js";
import { createStress } from "./sgs.js";

export { itemsPerPoint } from "./octree.js";

/** Keeps a filter length known to float32 only from gaining a layer. */
const LAYER_TOLERANCE = 1e-6;
/** A length below the spacing by this fraction, a rounding to float32 or seven digits, is the spacing. */
const LENGTH_TOLERANCE = 1e-6;

/** A filter bound to a grid, a filter length and a number of layers. */
export interface BoxFilter {
  /** Numbers per record. */
  readonly components: number;
  /** Records per point: the whole cube, then its 8 sub-cubes, then their 64, ... */
  readonly itemsPerPoint: number;
  /**
   * Overwrites `out[itemsPerPoint * components * i ..]` for the points `first .. first + count - 1`.
   *
   * @param stop polled between tiles of work; when true the rest of `out` is left unchanged
   */
  evaluate(
    readers: readonly BrickReader[],
    frames: FrameWeights,
    positions: Float64Array,
    first: number,
    count: number,
    out: Float64Array,
    stop?: () => boolean,
  ): void;
  /** Whether the stencils of all leaves around a position (x, y, z) lie inside the axes that are not periodic. */
  boxInside(position: ArrayLike<number>): boolean;
}

/** Smallest spacing of a grid. */
function smallestSpacing(axes: Axes): number {
  return Math.min(...axes.map((axis) => axis.spacing));
}

/** The number of times that a cube is halved until its leaves are no longer than the smallest spacing. */
export function totalLayers(filterLength: number, axes: Axes): number {
  return Math.max(0, Math.ceil(Math.log2(filterLength / smallestSpacing(axes)) - LAYER_TOLERANCE));
}

/** Whether axes belong to several grids. */
function isList(axes: Axes | readonly [Axes, Axes, Axes]): axes is readonly [Axes, Axes, Axes] {
  return Array.isArray(axes[0]);
}

/** Whether box filters are defined on a grid. */
function isUniform(axes: Axes): boolean {
  return axes.every((axis) => axis.coordinates === null);
}

/** The text of the fault for a filter length and number of layers, or null when they are accepted. */
export function checkFilter(filterLength: number, nlayers: number, axes: Axes): string | null {
  if (nlayers <= 0) return `Invalid input of nlayers: ${nlayers}`;
  const least = smallestSpacing(axes);
  if (!(filterLength >= least * (1 - LENGTH_TOLERANCE))) {
    return `Filter length is smaller than grid size. Filter calculation not operated. The least length is ${short(least)}.`;
  }
  if (!Number.isFinite(filterLength)) return "Filter length is not a finite number.";
  // A cube as long as the spacing is a single leaf, and has the one layer of the whole cube.
  const most = Math.max(1, totalLayers(filterLength, axes));
  if (nlayers > most)
    return (
      `The input for nlayers exceeds the number of total layers, which is ${most} for the length ${short(filterLength)} ` +
      `and nodes ${short(least)} apart`
    );
  return null;
}

const short = (value: number): number => Number(value.toPrecision(7));

/**
 * Makes the filter of a box kernel for one thread: it holds its own scratch.
 *
 * The cube of side `filterLength` is halved `totalLayers` times; its leaves are points at which the field is
 * interpolated (Lag4) or differentiated (Fd4Lag4), and every result is a mean over the leaves of a sub-cube, or the
 * covariance of the velocity over them. Cubes larger than the period are folded.
 *
 * @param axes the grid, or that of each component for the covariance of components with nodes of their own
 * @throws RangeError for another kernel, a tabulated axis, or arguments that `checkFilter` refuses
 */
export function createBoxFilter(
  kernel: string,
  axes: Axes | readonly [Axes, Axes, Axes],
  filterLength: number,
  nlayers: number,
): BoxFilter {
  const kind = BOX_KERNELS.get(kernel);
  const grids: readonly Axes[] = isList(axes) ? axes : [axes];
  // The grid with the smallest spacing decides how deep the leaves lie.
  const [finest] = grids.toSorted((a, b) => smallestSpacing(a) - smallestSpacing(b));
  const refusal = grids.every(isUniform)
    ? checkFilter(filterLength, nlayers, finest)
    : "a tabulated axis has no box filter";
  if (kind === undefined) throw new RangeError(`${kernel} is not a box filter`);
  if (refusal !== null) throw new RangeError(refusal);
  const layers = totalLayers(filterLength, finest);
  const leaves = 2 ** layers;
  const gradient = kind.quantity === "meanGradient";
  const addSums = createIntervalSums();
  const cube =
    kind.quantity === "stress"
      ? createStress(grids, filterLength, leaves, nlayers)
      : createBoxMean({ axes: finest, size: kind.size, gradient, filterLength, leaves, nlayers, addSums });
  const items = itemsPerPoint(nlayers);
  const { components } = kind;
  return {
    components,
    itemsPerPoint: items,
    evaluate(readers, frames, positions, first, count, out, stop = () => false) {
      for (let i = first; i < first + count; i++) {
        cube(readers, frames, positions, i, out, i * items * components, stop);
      }
    },
    boxInside: (position) => grids.every((own) => boxInside(own, filterLength, leaves, gradient, position)),
  };
}

function boxInside(
  axes: Axes,
  filterLength: number,
  leaves: number,
  gradient: boolean,
  position: ArrayLike<number>,
): boolean {
  // Nodes below and above the cell of a leaf.
  const below = gradient ? 3 : 1;
  const above = gradient ? 4 : 2;
  const half = (filterLength - filterLength / leaves) / 2;
  return axes.every((axis, a) => {
    if (axis.periodic) return true;
    const lowest = Math.floor((position[a] - half - axis.origin) / axis.spacing);
    const highest = Math.floor((position[a] + half - axis.origin) / axis.spacing);
    return lowest - below >= 0 && highest + above <= axis.nodes - 1;
  });
}
