/**
 * Makes the weight vectors of one axis of which derivatives are products: interpolation alone, and fused with
 * differences of several kinds.
 */
import {
  type DifferenceOrder,
  type DifferenceRows,
  differenceRows,
  FIRST_DIFFERENCES,
  fitsCentred,
  PUBLISHED_SECOND_DIFFERENCE_8,
  SECOND_DIFFERENCES,
  THIRD_DIFFERENCES,
} from "./finite-difference.js";
import type { Taps } from "./interpolate.js";
import { type AxisWeights, createAxisWeights } from "./lagrange.js";
import { wrap } from "./stencil.js";
import type { Axis } from "./types.js";

/** Interpolation alone. */
export const VALUE = 0;
/** First, second and third derivative. */
export const FIRST = 1;
export const SECOND = 2;
export const THIRD = 5;
/**
 * First derivative taken only at those nodes of the interpolation where the centred stencil fits, and only at the
 * others.
 */
export const FITTED = 3;
export const UNFITTED = 4;
/** PAIR + k - 1: (f(+k) - f(-k)) / spacing, k = 1 .. order / 2, at the nodes where the centred stencil fits. */
export const PAIR = 6;

/** Vectors on a common run of nodes; `locate` a coordinate, then `weigh` it. */
export interface AxisVectors {
  /** Longest run. */
  readonly span: number;
  /** The run of the coordinate located last: first node (0 <= start < nodes) and number of nodes. */
  readonly start: number;
  readonly length: number;
  /** By kind: bit t tells whether node t of the run belongs to the vector. Valid after `locate`. */
  readonly support: Int32Array;
  /** By kind: the vector. Valid after `weigh`; kinds that were not asked for are empty. */
  readonly taps: readonly Taps[];
  locate(x: number): void;
  weigh(): void;
}

/** The vectors of kinds on an axis: differences of an order at the `base` nodes of the interpolation, weighted by it. */
export class DifferenceVectors implements AxisVectors {
  readonly span: number;
  start = 0;
  length = 0;
  readonly support: Int32Array;
  readonly taps: readonly Taps[];
  readonly #axis: Axis;
  readonly #base: number;
  readonly #order: DifferenceOrder;
  readonly #used: readonly number[];
  readonly #values: AxisWeights;
  /** By kind, if it has one. */
  readonly #tables: ReadonlyMap<number, DifferenceRows>;
  readonly #distinct: readonly DifferenceRows[];
  readonly #dense: Float64Array;
  /** First node of the run before wrapping, and where in the run the interpolation begins. */
  #low = 0;
  #inset = 0;

  /** @throws RangeError when an axis that is not periodic has fewer nodes than a stencil */
  constructor(axis: Axis, base: 1 | 4, order: DifferenceOrder, kinds: ReadonlySet<number>, legacy: boolean) {
    const span = base + order + 4;
    this.span = span;
    this.support = new Int32Array(PAIR + order / 2);
    this.taps = Array.from(this.support, () => ({
      count: 0,
      node: new Int32Array(span),
      weight: new Float64Array(span),
    }));
    this.#axis = axis;
    this.#base = base;
    this.#order = order;
    this.#used = [...kinds].sort((a, b) => a - b);
    this.#values = createAxisWeights(axis, base);
    this.#tables = chooseTables(axis, order, this.#used, legacy);
    this.#distinct = [...new Set(this.#tables.values())];
    this.#dense = new Float64Array(span);
    // On a periodic axis inset, length and support are the same everywhere.
    this.locate(axis.origin);
    this.#findSupport();
  }

  locate(x: number): void {
    const axis = this.#axis;
    const base = this.#base;
    this.#values.locate(x);
    const begin = this.#values.start;
    if (axis.periodic && this.length > 0) {
      this.#low = begin - this.#inset;
      this.start = wrap(this.#low, axis.nodes);
      return;
    }
    let low = begin;
    let high = begin + base - 1;
    for (let node = begin; node < begin + base; node++) {
      for (const table of this.#distinct) {
        const r = table.shared ? 0 : node;
        const first = node + table.offset[r];
        low = Math.min(low, first);
        high = Math.max(high, first + 31 - Math.clz32(table.support[r]));
      }
    }
    this.#low = low;
    this.#inset = begin - low;
    this.start = wrap(low, axis.nodes);
    this.length = high - low + 1;
    if (!axis.periodic) this.#findSupport();
  }

  weigh(): void {
    const values = this.#values;
    values.weigh();
    for (const kind of this.#used) {
      this.#dense.fill(0);
      for (let n = 0; n < this.#base; n++) if (this.#takes(kind, n)) this.#accumulate(kind, n, values.weight[n]);
      collect(this.#dense, this.support[kind], this.taps[kind]);
    }
  }

  #findSupport(): void {
    for (const kind of this.#used) {
      let nodes = 0;
      for (let n = 0; n < this.#base; n++) if (this.#takes(kind, n)) nodes |= this.#bits(kind, n);
      this.support[kind] = nodes;
    }
  }

  /** Whether a kind uses the difference at node n of the interpolation. */
  #takes(kind: number, n: number): boolean {
    if (kind < FITTED || kind === THIRD) return true;
    return fitsCentred(this.#axis, this.#order, this.#low + this.#inset + n) === (kind !== UNFITTED);
  }

  /** Nodes of the run in the difference at node n of the interpolation, as bits. */
  #bits(kind: number, n: number): number {
    const at = this.#inset + n;
    if (kind === VALUE) return 1 << at;
    const table = this.#tables.get(kind);
    if (table === undefined) return (1 << (at + kind - PAIR + 1)) | (1 << (at - kind + PAIR - 1));
    const r = table.shared ? 0 : this.#low + at;
    return table.support[r] << (at + table.offset[r]);
  }

  /** Adds the difference at node n of the interpolation, times `weight`, to the dense vector. */
  #accumulate(kind: number, n: number, weight: number): void {
    const dense = this.#dense;
    const at = this.#inset + n;
    const table = this.#tables.get(kind);
    if (kind === VALUE) {
      dense[at] += weight;
    } else if (table === undefined) {
      const k = kind - PAIR + 1;
      dense[at + k] += weight / this.#axis.spacing;
      dense[at - k] -= weight / this.#axis.spacing;
    } else {
      const r = table.shared ? 0 : this.#low + at;
      const first = at + table.offset[r];
      const width = 32 - Math.clz32(table.support[r]);
      for (let t = 0; t < width; t++) dense[first + t] += weight * table.weight[r * table.width + t];
    }
  }
}

/** The difference table of each kind that has one. */
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
  if (used.includes(THIRD)) tables.set(THIRD, differenceRows(axis, order, 3, THIRD_DIFFERENCES[order]));
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
