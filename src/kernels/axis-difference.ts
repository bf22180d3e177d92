/** The weight vectors of one axis that derivatives are composed of: interpolation, fused with differences of several kinds. */

import {
  type DifferenceOrder,
  type DifferenceRows,
  differenceRows,
  FIRST_DIFFERENCES,
  fitsCentred,
  PUBLISHED_SECOND_DIFFERENCE_8,
  SECOND_DIFFERENCES,
} from "./finite-difference.js";
import type { Taps } from "./interpolate.js";
import { createAxisWeights } from "./lagrange.js";
import { wrap } from "./stencil.js";
import type { Axis } from "./types.js";

/** Interpolation alone. */
export const VALUE = 0;
/** First and second derivative. */
export const FIRST = 1;
export const SECOND = 2;
/** First derivative taken only at those nodes of the interpolation where the centred stencil stands, and only at the others. */
export const FITTED = 3;
export const UNFITTED = 4;
/** PAIR + k - 1: (f(+k) - f(-k)) / spacing, k = 1 .. order / 2, at the nodes where the centred stencil stands. */
export const PAIR = 5;

/** Vectors on a common run of nodes; `locate` a coordinate, then `weigh` it. */
export interface AxisDifferences {
  /** Longest run. */
  readonly span: number;
  /** The run of the coordinate located last: first node (0 <= start < nodes) and number of nodes. */
  start: number;
  length: number;
  /** By kind: bit t tells whether node t of the run belongs to the vector. Valid after `locate`. */
  readonly support: Int32Array;
  /** By kind: the vector. Valid after `weigh`; kinds that were not asked for are empty. */
  readonly taps: readonly Taps[];
  locate(x: number): void;
  weigh(): void;
}

/**
 * The vectors of `kinds` on an axis: differences of `order` at the `base` nodes of the interpolation, weighted by it.
 *
 * @throws RangeError when an axis that is not periodic has fewer nodes than a stencil
 */
export function createAxisDifferences(
  axis: Axis,
  base: 1 | 4,
  order: DifferenceOrder,
  kinds: ReadonlySet<number>,
  legacy: boolean,
): AxisDifferences {
  const values = createAxisWeights(axis, base);
  const half = order / 2;
  const span = base + order + 4;
  const used = [...kinds].sort((a, b) => a - b);
  const tables = chooseTables(axis, order, used, legacy);
  const distinct = [...new Set(tables.values())];
  const support = new Int32Array(PAIR + half);
  const dense = new Float64Array(span);
  const taps = Array.from(support, () => ({ count: 0, node: new Int32Array(span), weight: new Float64Array(span) }));
  /** First node of the run before wrapping, and where in the run the interpolation begins. */
  let low = 0;
  let inset = 0;

  /** Whether a kind uses the difference at node n of the interpolation. */
  const takes = (kind: number, n: number): boolean => {
    if (kind < FITTED) return true;
    return fitsCentred(axis, order, low + inset + n) === (kind !== UNFITTED);
  };

  /** Nodes of the run in the difference at node n of the interpolation, as bits. */
  const bits = (kind: number, n: number): number => {
    const at = inset + n;
    if (kind === VALUE) return 1 << at;
    const table = tables.get(kind);
    if (table === undefined) return (1 << (at + kind - PAIR + 1)) | (1 << (at - kind + PAIR - 1));
    const r = table.shared ? 0 : low + at;
    return table.support[r] << (at + table.offset[r]);
  };

  /** Adds the difference at node n of the interpolation, times `weight`, to `dense`. */
  const accumulate = (kind: number, n: number, weight: number): void => {
    const at = inset + n;
    const table = tables.get(kind);
    if (kind === VALUE) {
      dense[at] += weight;
    } else if (table === undefined) {
      const k = kind - PAIR + 1;
      dense[at + k] += weight / axis.spacing;
      dense[at - k] -= weight / axis.spacing;
    } else {
      const r = table.shared ? 0 : low + at;
      const first = at + table.offset[r];
      const width = 32 - Math.clz32(table.support[r]);
      for (let t = 0; t < width; t++) dense[first + t] += weight * table.weight[r * table.width + t];
    }
  };

  const findSupport = (): void => {
    for (const kind of used) {
      let nodes = 0;
      for (let n = 0; n < base; n++) if (takes(kind, n)) nodes |= bits(kind, n);
      support[kind] = nodes;
    }
  };

  const self: AxisDifferences = {
    span,
    start: 0,
    length: 0,
    support,
    taps,
    locate(x) {
      values.locate(x);
      const begin = values.start;
      if (axis.periodic && self.length > 0) {
        low = begin - inset;
        self.start = wrap(low, axis.nodes);
        return;
      }
      low = begin;
      let high = begin + base - 1;
      for (let node = begin; node < begin + base; node++) {
        for (const table of distinct) {
          const r = table.shared ? 0 : node;
          const first = node + table.offset[r];
          low = Math.min(low, first);
          high = Math.max(high, first + 31 - Math.clz32(table.support[r]));
        }
      }
      inset = begin - low;
      self.start = wrap(low, axis.nodes);
      self.length = high - low + 1;
      if (!axis.periodic) findSupport();
    },
    weigh() {
      values.weigh();
      for (const kind of used) {
        dense.fill(0);
        for (let n = 0; n < base; n++) if (takes(kind, n)) accumulate(kind, n, values.weight[n]);
        collect(dense, support[kind], taps[kind]);
      }
    },
  };
  // On a periodic axis inset, length and support are the same everywhere.
  self.locate(axis.origin);
  findSupport();
  return self;
}

/** The difference table behind each kind that has one. */
function chooseTables(
  axis: Axis,
  order: DifferenceOrder,
  used: readonly number[],
  legacy: boolean,
): Map<number, DifferenceRows> {
  const tables = new Map<number, DifferenceRows>();
  const first = used.filter((kind) => kind === FIRST || kind === FITTED || kind === UNFITTED);
  if (first.length > 0) {
    const rows = differenceRows(axis, order, 1, FIRST_DIFFERENCES[order]);
    for (const kind of first) tables.set(kind, rows);
  }
  if (used.includes(SECOND)) {
    const centred = legacy && order === 8 ? PUBLISHED_SECOND_DIFFERENCE_8 : SECOND_DIFFERENCES[order];
    tables.set(SECOND, differenceRows(axis, order, 2, centred));
  }
  return tables;
}

/** The entries of `dense` whose bit in `support` is set, as taps. */
function collect(dense: Float64Array, support: number, taps: Taps): void {
  let count = 0;
  for (let t = 0; t < dense.length; t++) {
    if ((support & (1 << t)) === 0) continue;
    taps.node[count] = t;
    taps.weight[count] = dense[t];
    count++;
  }
  taps.count = count;
}
