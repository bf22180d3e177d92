/** Computes the derivatives of None_Fd4, None_Fd6 and None_Fd8 at all nodes of a box at once. */
import {
  type DifferenceOrder,
  type DifferenceRows,
  differencedAxes,
  differenceRows,
  firstDifferences,
  fitsCentred,
  MIXED_DIFFERENCES,
  SECOND_DIFFERENCES,
} from "./finite-difference.js";
import { reachOf, strideOf, type TileDifferences, tileDifferences } from "./threshold.js";
import type { Axes, Triple } from "./types.js";

/** Values of a component at the nodes around a box, dense, x fastest. */
export interface Surroundings {
  readonly nodes: Float64Array;
  /** First node of the dense box, and nodes along x, y, z. */
  readonly low: Triple;
  readonly span: Triple;
}

/** The box at whose nodes derivatives are computed. */
export interface DifferencedNodes {
  readonly first: Triple;
  readonly count: Triple;
}

const AXES = [0, 1, 2] as const;
export type AxisIndex = (typeof AXES)[number];

/** Derivatives at nodes on one grid; values are in arrays of one number per node, x fastest. */
export class NodeDerivatives {
  readonly #axes: Axes;
  readonly #order: DifferenceOrder;
  readonly #first: readonly DifferenceRows[];
  readonly #second: readonly DifferenceRows[];

  /** @throws RangeError when an axis that is not periodic has fewer nodes than the stencil */
  constructor(axes: Axes, order: DifferenceOrder) {
    this.#axes = differencedAxes(axes);
    this.#order = order;
    this.#first = firstDifferences(axes, order);
    this.#second = this.#axes.map((axis) => differenceRows(axis, order, 2, SECOND_DIFFERENCES[order]));
  }

  /** The dense box that derivatives at a box need. `highest`: derivative, 0 for none. */
  surroundings(
    { first, count }: DifferencedNodes,
    highest: 0 | 1 | 2,
  ): { readonly low: Triple; readonly span: Triple } {
    const low = [...first] as [number, number, number];
    const span = [...count] as [number, number, number];
    for (const a of AXES) {
      const tables = [this.#first[a], this.#second[a]].slice(0, highest);
      const reaches = tables.map((table) => reachOf(this.#axes[a], table, first[a], count[a]));
      const below = Math.max(0, ...reaches.map((reach) => reach.below));
      low[a] -= below;
      span[a] += below + Math.max(0, ...reaches.map((reach) => reach.above));
    }
    return { low, span };
  }

  /** Overwrites `out` with the first or second derivative along an axis at the nodes of a box. */
  derivative(
    field: Surroundings,
    box: DifferencedNodes,
    axis: AxisIndex,
    derivative: 1 | 2,
    out: Float64Array,
  ): Float64Array {
    const table = (derivative === 1 ? this.#first : this.#second)[axis];
    const step = strideOf(field.span, axis);
    // All nodes of an evenly spaced periodic axis have the weights of its first one.
    const taps = tileDifferences(table, box.first[axis], table.shared ? 1 : box.count[axis], step);
    const [nx, ny, nz] = box.count;
    // Nodes of a row share their weights, except along x on an axis whose nodes differ.
    const run = axis === 0 && !table.shared ? 1 : nx;
    for (let z = 0, to = 0; z < nz; z++)
      for (let y = 0; y < ny; y++) {
        const from = rowOf(field, box, y, z);
        for (let x = 0; x < nx; x += run, to += run) {
          const n = table.shared ? 0 : axis === 0 ? x : axis === 1 ? y : z;
          addTaps(field.nodes, from + x, run, taps, n, out, to);
        }
      }
    return out;
  }

  /** The mixed second derivative: on the plane diagonals if the centred stencil fits, else by first differences. */
  mixed(field: Surroundings, box: DifferencedNodes, a: AxisIndex, b: AxisIndex, out: Float64Array): Float64Array {
    const { nodes, span } = field;
    const strides = AXES.map((axis) => strideOf(span, axis));
    const tiles = AXES.map((axis) =>
      tileDifferences(this.#first[axis], box.first[axis], box.count[axis], strides[axis]),
    );
    const centred = MIXED_DIFFERENCES[this.#order].map((m) => m / (this.#axes[a].spacing * this.#axes[b].spacing));
    const isCentred = (axis: AxisIndex, node: number): boolean =>
      fitsCentred(this.#axes[axis], this.#order, box.first[axis] + node);
    const local = [0, 0, 0];
    for (let n = 0; n < out.length; n++) {
      const row = Math.floor(n / box.count[0]);
      local[0] = n % box.count[0];
      local[1] = row % box.count[1];
      local[2] = Math.floor(row / box.count[1]);
      const at = rowOf(field, box, local[1], local[2]) + local[0];
      let sum = 0;
      if (isCentred(a, local[a]) && isCentred(b, local[b])) {
        for (let k = 0; k < centred.length; k++) {
          const [p, q] = [(k + 1) * strides[a], (k + 1) * strides[b]];
          sum += centred[k] * (nodes[at + p + q] + nodes[at - p - q] - nodes[at + p - q] - nodes[at - p + q]);
        }
      } else {
        const [s, t] = [tiles[a], tiles[b]];
        for (let i = local[a] * s.width; i < local[a] * s.width + s.count[local[a]]; i++)
          for (let j = local[b] * t.width; j < local[b] * t.width + t.count[local[b]]; j++)
            sum += s.weight[i] * t.weight[j] * nodes[at + s.offset[i] + t.offset[j]];
      }
      out[n] = sum;
    }
    return out;
  }
}

/** Where a row of the box begins in the dense box. */
function rowOf({ low, span }: Surroundings, { first }: DifferencedNodes, y: number, z: number): number {
  const row = (first[2] + z - low[2]) * span[1] + first[1] + y - low[1];
  return row * span[0] + first[0] - low[0];
}

/** Overwrites a run of `out` with the sums of the taps of node `n`; four at a time, in their order. */
function addTaps(
  nodes: Float64Array,
  from: number,
  length: number,
  { count, width, offset, weight }: TileDifferences,
  n: number,
  out: Float64Array,
  to: number,
): void {
  const end = n * width + count[n];
  let t = n * width;
  if (end - t >= 4) {
    let a = from + offset[t];
    const b = offset[t + 1] - offset[t];
    const c = offset[t + 2] - offset[t];
    const d = offset[t + 3] - offset[t];
    const p = weight[t];
    const q = weight[t + 1];
    const r = weight[t + 2];
    const s = weight[t + 3];
    for (let i = to; i < to + length; i++, a++)
      out[i] = p * nodes[a] + q * nodes[a + b] + r * nodes[a + c] + s * nodes[a + d];
    t += 4;
  } else out.fill(0, to, to + length);
  for (; t < end; t++) {
    const p = weight[t];
    for (let i = to, a = from + offset[t]; i < to + length; i++, a++) out[i] += p * nodes[a];
  }
}
