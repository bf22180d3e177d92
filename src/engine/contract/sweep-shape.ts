/**
 * The shape of a sweep over bricks: columns side by side, each swept layer by layer, a layer row by row.
 *
 * Points are ordered by the brick of the lowest node of a stencil (`STENCIL_REACH`), so those of one brick touch it and
 * its next neighbours only: 8 bricks, not 27. Along a column, a brick is needed again after at most two layers and two
 * rows. If the cache holds those, and the rows by which workers are apart, each column reads its bricks once.
 */
import { wrap } from "../../kernels/stencil.js";
import type { Axes, Axis, Bricking, Triple } from "../../kernels/types.js";

/** Nodes below a point's cell that any stencil may need: four of a centred difference of order eight. */
export const STENCIL_REACH = 4;

/** The order in which bricks are swept. */
export interface SweepShape {
  /** Axes: the one along a row, the one from row to row, the one along which columns are swept. */
  readonly axes: Triple;
  /** Bricks of a column along x, y, z; all there are along the last of `axes`. */
  readonly width: Triple;
  /** The node by whose brick a point is ordered, counted from its cell: the lowest or highest one of a stencil. */
  readonly reference: number;
}

/** A shape and its cost. */
export interface SweepCost {
  readonly shape: SweepShape;
  /** Bricks read per brick of the frame. */
  readonly reads: number;
}

const AXIS_ORDERS: readonly Triple[] = [
  [0, 1, 2],
  [1, 0, 2],
  [0, 2, 1],
  [2, 0, 1],
  [1, 2, 0],
  [2, 1, 0],
];

/**
 * Chooses the shape that reads least among those whose working set fits; columns of single bricks if none does.
 *
 * @param room    bricks of a frame that the cache holds
 * @param workers threads that sweep a column together
 */
export function chooseShape(axes: Axes, bricking: Bricking, room: number, workers: number): SweepCost {
  return leastReads(axes, bricking, -STENCIL_REACH, ([row, next], wide, deep) => {
    const { count } = bricking;
    const across = Math.min(count[row], wide + 1);
    const rows = Math.min(count[next], deep + 1);
    return across * (2 * rows + 2 + workers) <= room;
  });
}

/** The node whose brick orders a point: the lowest of its stencil. */
export function referenceNode({ nodes, periodic }: Axis, cell: number, reference: number): number {
  const node = cell + reference;
  return periodic ? wrap(node, nodes) : Math.min(Math.max(node, 0), nodes - 1);
}

/**
 * Chooses the shape that reads least among those that fit; columns of single bricks if none fits.
 * @param fits called with an order of axes and the width of columns along the first two, in bricks
 * @param shared bricks along an axis that two neighbouring columns both read
 */
export function leastReads(
  axes: Axes,
  { count }: Bricking,
  reference: number,
  fits: (order: readonly [0, 1, 2], wide: number, deep: number) => boolean,
  shared: 1 | 2 = 1,
): SweepCost {
  let best: SweepCost | null = null;
  for (const order of AXIS_ORDERS) {
    const axesInOrder = order as readonly [0, 1, 2];
    const [row, next, along] = axesInOrder;
    for (const wide of evenWidths(count[row])) {
      for (const deep of evenWidths(count[next])) {
        const width: [number, number, number] = [...count];
        width[row] = wide;
        width[next] = deep;
        if (wide * deep > 1 && !fits(axesInOrder, wide, deep)) continue;
        const reads =
          overlap(count[row], wide, shared, axes[row].periodic, false) *
          overlap(count[next], deep, shared, axes[next].periodic, false) *
          overlap(count[along], count[along], shared, axes[along].periodic, true);
        if (!best || reads < best.reads) best = { shape: { axes: order, width, reference }, reads };
      }
    }
  }
  return best as SweepCost;
}

/** The widths that cut `count` bricks into equal columns, the last one perhaps narrower. */
function evenWidths(count: number): number[] {
  return [...new Set(Array.from({ length: count }, (_, i) => Math.ceil(count / (i + 1))))];
}

/** How often bricks along an axis are read: neighbouring columns share some, and at a seam the first are read again. */
function overlap(count: number, width: number, shared: number, periodic: boolean, along: boolean): number {
  const columns = Math.ceil(count / width);
  if (count === 1 || (columns === 1 && !(along && periodic))) return 1;
  return (count + shared * (periodic ? columns : columns - 1)) / count;
}
