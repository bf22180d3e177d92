/** Computes the derivatives of None_Fd4, None_Fd6 and None_Fd8 at all nodes of a box at once. */
import {
  type DifferenceOrder,
  type DifferenceRows,
  differenceRows,
  FIRST_DIFFERENCES,
  fitsCentred,
  MIXED_DIFFERENCES,
  SECOND_DIFFERENCES,
} from "./finite-difference.js";
import { reachOf, tileDifferences } from "./threshold.js";
import type { Axes, Triple } from "./types.js";

/** Nodes of a field around a box, dense, in the layout [z][y][x][component]. */
export interface Surroundings {
  readonly nodes: Float32Array;
  readonly components: number;
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
type AxisIndex = (typeof AXES)[number];

/** Derivatives at nodes on one grid; values are in arrays of one number per node, x fastest. */
export class NodeDerivatives {
  readonly #axes: Axes;
  readonly #order: DifferenceOrder;
  readonly #first: readonly DifferenceRows[];
  readonly #second: readonly DifferenceRows[];

  /** @throws RangeError when an axis that is not periodic has fewer nodes than the stencil */
  constructor(axes: Axes, order: DifferenceOrder) {
    this.#axes = axes;
    this.#order = order;
    this.#first = axes.map((axis) => differenceRows(axis, order, 1, FIRST_DIFFERENCES[order]));
    this.#second = axes.map((axis) => differenceRows(axis, order, 2, SECOND_DIFFERENCES[order]));
  }

  /** The dense box that derivatives at a box need. @param highest derivative, 0 for none */
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

  /** The first or second derivative of one component along an axis. */
  derivative(
    field: Surroundings,
    box: DifferencedNodes,
    component: number,
    axis: AxisIndex,
    derivative: 1 | 2,
  ): Float64Array {
    const table = (derivative === 1 ? this.#first : this.#second)[axis];
    const step = field.components * strideOf(field.span, axis);
    const taps = tileDifferences(table, box.first[axis], box.count[axis], step);
    const { components, nodes } = field;
    return this.#rows(field, box, (out, to, from, y, z) => {
      const inRow = axis === 0 && !table.shared;
      for (let x = 0; x < (inRow ? box.count[0] : 1); x++) {
        const n = axis === 0 ? x : axis === 1 ? y : z;
        const end = inRow ? x + 1 : box.count[0];
        for (let t = 0; t < taps.count[n]; t++) {
          const weight = taps.weight[n * taps.width + t];
          const at = from + component + taps.offset[n * taps.width + t];
          for (let i = x; i < end; i++) out[to + i] += weight * nodes[at + i * components];
        }
      }
    });
  }

  /** The mixed second derivative: on the plane diagonals if the centred stencil fits, else by first differences. */
  mixed(field: Surroundings, box: DifferencedNodes, component: number, a: AxisIndex, b: AxisIndex): Float64Array {
    const { components, nodes, span } = field;
    const strides = AXES.map((axis) => components * strideOf(span, axis));
    const tiles = AXES.map((axis) =>
      tileDifferences(this.#first[axis], box.first[axis], box.count[axis], strides[axis]),
    );
    const centred = MIXED_DIFFERENCES[this.#order].map((m) => m / (this.#axes[a].spacing * this.#axes[b].spacing));
    const isCentred = (axis: AxisIndex, node: number): boolean =>
      fitsCentred(this.#axes[axis], this.#order, box.first[axis] + node);
    return this.#rows(field, box, (out, to, from, y, z) => {
      for (let x = 0; x < box.count[0]; x++) {
        const local = [x, y, z];
        const at = from + x * components + component;
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
        out[to + x] = sum;
      }
    });
  }

  /** Fills an array row by row. @param fill gets where a row begins in the array and in the dense box */
  #rows(
    { components, low, span }: Surroundings,
    { first, count }: DifferencedNodes,
    fill: (out: Float64Array, to: number, from: number, y: number, z: number) => void,
  ): Float64Array {
    const out = new Float64Array(count[0] * count[1] * count[2]);
    for (let z = 0; z < count[2]; z++) {
      for (let y = 0; y < count[1]; y++) {
        const row = (first[2] + z - low[2]) * span[1] + first[1] + y - low[1];
        fill(out, (z * count[1] + y) * count[0], components * (row * span[0] + first[0] - low[0]), y, z);
      }
    }
    return out;
  }
}

/** Nodes between neighbours along an axis of a dense box. */
function strideOf(span: Triple, axis: AxisIndex): number {
  return axis === 0 ? 1 : axis === 1 ? span[0] : span[0] * span[1];
}
