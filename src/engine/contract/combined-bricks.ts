/**
 * Combined bricks: float64 sums over the frames of a swept query. They are smaller than stored bricks, so that a sweep
 * drops early what no later point needs: all of a row but the nodes next to the following row, and so for layers.
 */
import type { Axes, Bricking, Triple } from "../../kernels/types.js";
import { brickBytes } from "../../storage/bricks/directory.js";
import { leastReads, type SweepCost, type SweepShape } from "./sweep-shape.js";

/** Rows of stored bricks that are kept whole: two that contain batches, and the ones before and after them. */
const WHOLE_ROWS = 4;
/** Rows, in addition to those of a column, whose nodes next to the following layer are kept for two layers at once. */
const TWICE_ROWS = 2;

/** A row number beyond all rows of a sweep. */
export const NO_ROW = 2 ** 31 - 1;

export interface CombinedSweep {
  /** Source number of the first field's combined bricks in the brick cache; the other fields follow. */
  readonly source: number;
  readonly shape: SweepShape;
  /** Bricks of the field that gives the sweep its shape. */
  readonly bricking: Bricking;
  /** Nodes of a stencil below its highest one, along an axis. */
  readonly halo: number;
  readonly rows: SweepRows;
  /** Number of batches of the sweep before this one. */
  readonly batch: number;
  /** Whether an earlier time slice has begun the batch. */
  readonly isResumed?: boolean;
}

/** Rows of stored bricks in the sequence of a sweep, counted from the first one, in memory that threads share. */
export interface SweepRows {
  /** For each field the last row that has been passed. */
  readonly passed: Int32Array;
  /** By worker index, the row in which it evaluates a batch; `NO_ROW` if it evaluates none. */
  readonly evaluated: Int32Array;
  /** Word 0: the number of batches that threads have begun. */
  readonly begun: Int32Array;
}

export function sweepRows(workers: number): SweepRows {
  const shared = (length: number): Int32Array => new Int32Array(new SharedArrayBuffer(4 * length));
  // A query reads at most two fields; the spare thread has an index too.
  return { passed: shared(2), evaluated: shared(workers + 1).fill(NO_ROW), begun: shared(1) };
}

/**
 * Cuts stored bricks into combined ones. Along a row, these are as long as stored bricks; along the other axes, they
 * are the thinnest equal parts that hold `halo` nodes.
 */
export function combinedBricking({ edge }: Bricking, axes: Axes, row: number, halo: number): Bricking {
  const cut = edge.map((length, a) => (a === row ? length : leastDivisor(length, halo)));
  const count = axes.map(({ nodes }, a) => Math.ceil(nodes / cut[a]));
  return { edge: cut as unknown as Triple, count: count as unknown as Triple };
}

/** The least divisor of `length` that is at least `least`, or `length` itself. */
function leastDivisor(length: number, least: number): number {
  for (let divisor = least; divisor < length; divisor++) if (length % divisor === 0) return divisor;
  return length;
}

/**
 * Chooses, among the sweep shapes whose working set fits `bytes`, the one that reads least; null if none fits.
 * @param components components of each field
 */
export function chooseCombinedShape(
  axes: Axes,
  bricking: Bricking,
  components: readonly number[],
  bytes: number,
  reference: number,
  halo: number,
): SweepCost | null {
  const { count } = bricking;
  const fits = ([row, next, along]: Triple, wide: number, deep: number): boolean => {
    const layers = bricking.edge[along] / combinedBricking(bricking, axes, row, halo).edge[along];
    const whole = combinedBytes(axes, bricking, components, row, halo);
    const across = Math.min(count[row], wide + 1);
    const wraps = deep === count[next] && axes[next].periodic;
    const rows = WHOLE_ROWS + (wraps ? 1 : 0);
    const kept = Math.min(count[next], deep + 1) + TWICE_ROWS;
    return across * whole * (Math.min(rows, kept) + kept / layers) <= bytes;
  };
  const cost = leastReads(axes, bricking, reference, fits);
  const { axes: order, width } = cost.shape;
  return fits(order, width[order[0]], width[order[1]]) ? cost : null;
}

/** Bytes of the combined bricks of a stored brick, for all fields. */
export function combinedBytes(
  axes: Axes,
  bricking: Bricking,
  components: readonly number[],
  row: number,
  halo: number,
): number {
  const { edge } = combinedBricking(bricking, axes, row, halo);
  const parts = edge.reduce((product, length, a) => (product * bricking.edge[a]) / length, 1);
  const values = edge.reduce((product, length) => product * length, 2);
  return components.reduce((sum, size) => sum + parts * brickBytes(size * values), 0);
}
