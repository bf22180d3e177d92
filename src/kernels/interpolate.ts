/** Interpolates fields at points: Lagrange weights per axis, applied as a tensor product to a box of nodes. */
import { type Block, createBlockReader, markBricks } from "./block.js";
import { evaluateBlocks } from "./evaluate.js";
import { createAxisWeights, type Order } from "./lagrange.js";
import type { Axes, Scheme, Values } from "./types.js";

/** Sparse weights on one axis of a block: `weight[i]` belongs to node `node[i]` of the block, for i < count. */
export interface Taps {
  count: number;
  readonly node: Int32Array;
  readonly weight: Float64Array;
}

/**
 * Adds `scale` times the sum over the taps of `wx * wy * wz * f` to `out[at + c * stride]` for the components
 * c = 0 .. components - 1.
 *
 * Only nodes that are taps on all three axes are read; a tap of weight 0 is read too, so NaN passes through it.
 */
export type Contraction = (
  block: Block,
  components: number,
  x: Taps,
  y: Taps,
  z: Taps,
  scale: number,
  out: Float64Array,
  at: number,
  stride: number,
) => void;

/**
 * Sums over boxes of up to `span` nodes per axis.
 *
 * Order of summation: first over the rows (y fastest), separately for each x; then over even x, over odd x, and the two
 * sums. The SIMD module adds in this order, so that its sums are bit-identical.
 */
export function createContraction(span: number): Contraction {
  const rows: Rows = { count: 0, start: new Int32Array(span * span), weight: new Float64Array(span * span) };
  return (block, components, x, y, z, scale, out, at, stride) => {
    listRows(block, y, z, rows);
    if (components === 3) contractVector(block.data, rows, x, scale, out, at, stride);
    else contractScalar(block.data, rows, x, scale, out, at);
  };
}

/** The rows of a box: where they start, and the products of the weights along y and z. */
interface Rows {
  count: number;
  readonly start: Int32Array;
  readonly weight: Float64Array;
}

function listRows({ base, strideY, strideZ }: Block, y: Taps, z: Taps, rows: Rows): void {
  const { start, weight } = rows;
  let row = 0;
  for (let k = 0; k < z.count; k++) {
    const plane = base + z.node[k] * strideZ;
    for (let j = 0; j < y.count; j++) {
      start[row] = plane + y.node[j] * strideY;
      weight[row] = z.weight[k] * y.weight[j];
      row++;
    }
  }
  rows.count = row;
}

function contractScalar(data: Values, rows: Rows, x: Taps, scale: number, out: Float64Array, at: number): void {
  const { start, weight, count } = rows;
  let even = 0;
  let odd = 0;
  let i = 0;
  for (; i + 1 < x.count; i += 2) {
    const first = x.node[i];
    const second = x.node[i + 1];
    let f = 0;
    let g = 0;
    for (let row = 0; row < count; row++) {
      f += weight[row] * data[start[row] + first];
      g += weight[row] * data[start[row] + second];
    }
    even += f * x.weight[i];
    odd += g * x.weight[i + 1];
  }
  if (i < x.count) {
    let f = 0;
    for (let row = 0; row < count; row++) f += weight[row] * data[start[row] + x.node[i]];
    even += f * x.weight[i];
  }
  out[at] += scale * (even + odd);
}

function contractVector(
  data: Values,
  rows: Rows,
  x: Taps,
  scale: number,
  out: Float64Array,
  at: number,
  stride: number,
): void {
  const { start, weight, count } = rows;
  let evenU = 0;
  let evenV = 0;
  let evenW = 0;
  let oddU = 0;
  let oddV = 0;
  let oddW = 0;
  for (let i = 0; i < x.count; i += 2) {
    const isLast = i + 1 === x.count;
    const first = 3 * x.node[i];
    const second = isLast ? first : 3 * x.node[i + 1];
    let u = 0;
    let v = 0;
    let w = 0;
    let nextU = 0;
    let nextV = 0;
    let nextW = 0;
    for (let row = 0; row < count; row++) {
      const factor = weight[row];
      const e = start[row] + first;
      u += factor * data[e];
      v += factor * data[e + 1];
      w += factor * data[e + 2];
      const otherAt = start[row] + second;
      nextU += factor * data[otherAt];
      nextV += factor * data[otherAt + 1];
      nextW += factor * data[otherAt + 2];
    }
    evenU += u * x.weight[i];
    evenV += v * x.weight[i];
    evenW += w * x.weight[i];
    if (isLast) break;
    oddU += nextU * x.weight[i + 1];
    oddV += nextV * x.weight[i + 1];
    oddW += nextW * x.weight[i + 1];
  }
  out[at] += scale * (evenU + oddU);
  out[at + stride] += scale * (evenV + oddV);
  out[at + 2 * stride] += scale * (evenW + oddW);
}

/**
 * The scheme of `None` (order 1), `Lag4`, `Lag6` or `Lag8` for fields of `sizes[f]` components (1 or 3); their values
 * follow each other in `out`.
 *
 * Exact for polynomials of degree < order on every axis; error O(h^order).
 * @throws RangeError when an axis that is not periodic has fewer nodes than the stencil
 */
export function createInterpolation(axes: Axes, order: Order, sizes: readonly number[]): Scheme {
  const weights = axes.map((axis) => createAxisWeights(axis, order));
  const reader = createBlockReader(axes, order, Math.max(...sizes));
  const contract = createContraction(order);
  const node = Int32Array.from({ length: order }, (_, i) => i);
  const [x, y, z] = weights.map(({ weight }) => ({ count: order, node, weight })) as [Taps, Taps, Taps];
  const components = sizes.reduce((sum, size) => sum + size, 0);
  const allNodes = (1 << order) - 1;
  reader.box.length.fill(order);

  const moveBox = (positions: Float64Array, at: number) => {
    for (let a = 0; a < 3; a++) {
      weights[a].locate(positions[at + a]);
      reader.box.start[a] = weights[a].start;
    }
  };

  return {
    components,
    listBricks(bricking, positions, first, count, marks, list, length) {
      let end = length;
      for (let i = first; i < first + count; i++) {
        moveBox(positions, 3 * i);
        if (!reader.isInOneBrick(bricking)) {
          end = markBricks(bricking, reader.runs, allNodes, allNodes, allNodes, marks, list, end);
        } else if (marks[reader.onlyBrick] === 0) {
          marks[reader.onlyBrick] = 1;
          list[end++] = reader.onlyBrick;
        }
      }
      return end;
    },
    ...evaluateBlocks(axes, reader, sizes, components, {
      locate(positions, at) {
        moveBox(positions, at);
        for (let a = 0; a < 3; a++) weights[a].weigh();
      },
      sum: (block, size, out, at) => contract(block, size, x, y, z, 1, out, at, 1),
    }),
  };
}
