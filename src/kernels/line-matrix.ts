/** Matrices along lines of nodes: filters and differences on axes that transforms do not take. */
import { cellWidths } from "./cells.js";
import { type DifferenceOrder, differenceRows, FIRST_DIFFERENCES } from "./finite-difference.js";
import type { Axis } from "./types.js";

/** Row i of a matrix: its weights are of the nodes from `first[i]` on. */
export interface LineMatrix {
  readonly first: Int32Array;
  readonly weights: readonly Float64Array[];
}

/** Where a kernel has fallen to 1e-8 of its middle, in widths of the filter. */
const REACH = Math.sqrt(Math.log(1e8) / 6);

/**
 * The mean by exp(-6 r^2 / width^2), whose transfer function is exp(-k^2 width^2 / 24): each node weighs the width
 * of its cell, nodes at which the kernel is below 1e-8 are left out, and the weights of a row sum to 1,
 * also where a wall cuts the kernel. The axis is not periodic.
 */
export function gaussianLines(axis: Axis, width: number): LineMatrix {
  const { nodes, origin, spacing, coordinates } = axis;
  const cells = cellWidths(axis);
  const at = (i: number): number => coordinates?.[i] ?? origin + i * spacing;
  const first = new Int32Array(nodes);
  const weights = Array.from({ length: nodes }, (_, i) => {
    let [low, high] = [i, i];
    while (low > 0 && at(i) - at(low - 1) <= REACH * width) low--;
    while (high < nodes - 1 && at(high + 1) - at(i) <= REACH * width) high++;
    first[i] = low;
    const row = Float64Array.from({ length: high - low + 1 }, (_, j) => {
      const r = (at(low + j) - at(i)) / width;
      return Math.exp(-6 * r * r) * cells[low + j];
    });
    const sum = row.reduce((total, weight) => total + weight, 0);
    return row.map((weight) => weight / sum);
  });
  return { first, weights };
}

/** First differences at the nodes of an axis that is not periodic. Throws RangeError as `differenceRows` does. */
export function differenceLines(axis: Axis, order: DifferenceOrder): LineMatrix {
  const { width, offset, weight } = differenceRows(axis, order, 1, FIRST_DIFFERENCES[order]);
  const first = offset.map((by, i) => i + by);
  return { first, weights: Array.from(first, (_, i) => weight.slice(i * width, (i + 1) * width)) };
}

/** The product: `b` is applied first. */
export function productOfLines(a: LineMatrix, b: LineMatrix): LineMatrix {
  const first = new Int32Array(a.first.length);
  const weights = a.weights.map((row, i) => {
    const used = Array.from(row, (_, j) => a.first[i] + j);
    const low = Math.min(...used.map((k) => b.first[k]));
    const out = new Float64Array(Math.max(...used.map((k) => b.first[k] + b.weights[k].length)) - low);
    used.forEach((k, j) => {
      for (let l = 0; l < b.weights[k].length; l++) out[b.first[k] + l - low] += row[j] * b.weights[k][l];
    });
    first[i] = low;
    return out;
  });
  return { first, weights };
}

/** Multiplies lines in place: number n of line l is `values[at + n * step + l]`. */
export function applyLines(
  { first, weights }: LineMatrix,
  values: Float64Array,
  at: number,
  step: number,
  lines: number,
): void {
  const nodes = first.length;
  const before = new Float64Array(nodes * lines);
  for (let n = 0; n < nodes; n++) for (let l = 0; l < lines; l++) before[n * lines + l] = values[at + n * step + l];
  for (let n = 0; n < nodes; n++) {
    const to = at + n * step;
    values.fill(0, to, to + lines);
    weights[n].forEach((weight, j) => {
      const from = (first[n] + j) * lines;
      for (let l = 0; l < lines; l++) values[to + l] += weight * before[from + l];
    });
  }
}
