/** Interpolates fields at points: Lagrange weights per axis, applied as a tensor product to a box of nodes. */
import { type Block, createBlockReader, markBricks } from "./block.js";
import { evaluateBlocks } from "./evaluate.js";
import { createAxisWeights, type Order } from "./lagrange.js";
import type { Axes, Scheme } from "./types.js";

/** Sparse weights on one axis of a block: `weight[i]` belongs to node `node[i]` of the block, for i < count. */
export interface Taps {
  count: number;
  readonly node: Int32Array;
  readonly weight: Float64Array;
}

/**
 * Adds the sum over the taps of `scale * wx * wy * wz * f` to `out[at + c * stride]` for the components
 * c = 0 .. components - 1.
 *
 * Only nodes that are taps on all three axes are read; a tap of weight 0 is read too, so NaN passes through it.
 */
export function contract(
  block: Block,
  components: number,
  x: Taps,
  y: Taps,
  z: Taps,
  scale: number,
  out: Float64Array,
  at: number,
  stride: number,
): void {
  if (components === 3) contractVector(block, x, y, z, scale, out, at, stride);
  else contractScalar(block, x, y, z, scale, out, at);
}

function contractScalar(block: Block, x: Taps, y: Taps, z: Taps, scale: number, out: Float64Array, at: number): void {
  const { data, base, strideY, strideZ } = block;
  const { node, weight, count } = x;
  const dense = isDense(x);
  let sum = 0;
  for (let k = 0; k < z.count; k++) {
    const plane = base + z.node[k] * strideZ;
    const across = scale * z.weight[k];
    for (let j = 0; j < y.count; j++) {
      const row = plane + y.node[j] * strideY;
      let line = 0;
      if (dense) for (let i = 0, e = row + node[0]; i < count; i++, e++) line += weight[i] * data[e];
      else for (let i = 0; i < count; i++) line += weight[i] * data[row + node[i]];
      sum += across * y.weight[j] * line;
    }
  }
  out[at] += sum;
}

function contractVector(
  block: Block,
  x: Taps,
  y: Taps,
  z: Taps,
  scale: number,
  out: Float64Array,
  at: number,
  stride: number,
): void {
  const { data, base, strideY, strideZ } = block;
  const { node, weight, count } = x;
  const dense = isDense(x);
  let sumU = 0;
  let sumV = 0;
  let sumW = 0;
  for (let k = 0; k < z.count; k++) {
    const plane = base + z.node[k] * strideZ;
    const across = scale * z.weight[k];
    for (let j = 0; j < y.count; j++) {
      const row = plane + y.node[j] * strideY;
      let u = 0;
      let v = 0;
      let w = 0;
      if (dense) {
        for (let i = 0, e = row + 3 * node[0]; i < count; i++, e += 3) {
          u += weight[i] * data[e];
          v += weight[i] * data[e + 1];
          w += weight[i] * data[e + 2];
        }
      } else {
        for (let i = 0; i < count; i++) {
          const e = row + 3 * node[i];
          u += weight[i] * data[e];
          v += weight[i] * data[e + 1];
          w += weight[i] * data[e + 2];
        }
      }
      const factor = across * y.weight[j];
      sumU += factor * u;
      sumV += factor * v;
      sumW += factor * w;
    }
  }
  out[at] += sumU;
  out[at + stride] += sumV;
  out[at + 2 * stride] += sumW;
}

/** Whether the taps are consecutive nodes: their inner loop is nearly twice as fast. */
function isDense({ node, count }: Taps): boolean {
  return node[count - 1] - node[0] === count - 1;
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
  const node = Int32Array.from({ length: order }, (_, i) => i);
  const [x, y, z] = weights.map(({ weight }) => ({ count: order, node, weight })) as [Taps, Taps, Taps];
  const components = sizes.reduce((sum, size) => sum + size, 0);
  const everything = (1 << order) - 1;
  reader.box.length.fill(order);

  const locate = (positions: Float64Array, at: number) => {
    for (let a = 0; a < 3; a++) {
      weights[a].locate(positions[at + a]);
      reader.box.start[a] = weights[a].start;
    }
  };

  return {
    components,
    cover(bricking, positions, first, count, marks, list, length) {
      let end = length;
      for (let i = first; i < first + count; i++) {
        locate(positions, 3 * i);
        if (!reader.cut(bricking)) {
          end = markBricks(bricking, reader.runs, everything, everything, everything, marks, list, end);
        } else if (marks[reader.lone] === 0) {
          marks[reader.lone] = 1;
          list[end++] = reader.lone;
        }
      }
      return end;
    },
    ...evaluateBlocks(axes, reader, sizes, components, {
      locate(positions, at) {
        locate(positions, at);
        for (let a = 0; a < 3; a++) weights[a].weigh();
      },
      sum: (block, size, out, at) => contract(block, size, x, y, z, 1, out, at, 1),
    }),
  };
}
