/** Sums the weighted nodes of one brick over a lattice of intervals: the inner loop of the box means. */
import type { Values } from "../types.js";
import { TILE_EDGE } from "./octree.js";

/**
 * Weights of one axis, node by node: node r of a run adds `weight[e]` of its value to interval `interval[e]`, for
 * e = from[r] .. from[r + 1] - 1.
 */
export interface IntervalWeights {
  readonly from: Int32Array;
  readonly interval: Int32Array;
  readonly weight: Float64Array;
}

/** A box of nodes inside one brick, on x, y, z: nodes `first .. first + length - 1` of the runs of the weights. */
export interface BoxPart {
  readonly first: Int32Array;
  readonly length: Int32Array;
}

/** Values of combined nodes that there is room for. */
export const COMBINED_VALUES = 32_768;

/**
 * Puts `weight` times `ny` by `nz` rows of `values` values into `out`, one after the other, or adds it to what is there
 * unless this is the `first` frame. The first row starts at `data[corner]`; rows and planes are `strideY` and `strideZ`
 * elements apart.
 */
export type AddFrame = (
  data: Values,
  corner: number,
  strideY: number,
  strideZ: number,
  rows: { readonly values: number; readonly ny: number; readonly nz: number },
  weight: number,
  first: boolean,
  out: Float64Array,
) => void;

/** Sums over intervals, and the combination of frames of which they are taken; with its own scratch. */
export interface IntervalSums {
  /** Room for nodes that `addFrame` combines. */
  readonly combined: Float64Array;
  /**
   * Adds the weighted node values of a part to `sums[((iz * n + iy) * n + ix) * components + c]`, n <= 16 intervals an
   * axis. The part's first node is at `data[corner]`; its rows and planes are `strideY` and `strideZ` elements
   * apart.
   */
  add(
    data: Values,
    corner: number,
    strideY: number,
    strideZ: number,
    components: number,
    part: BoxPart,
    weights: readonly IntervalWeights[],
    n: number,
    sums: Float64Array,
  ): void;
  readonly addFrame: AddFrame;
}

/** Adds a weighted box of one frame. */
export const addFrame: AddFrame = (data, corner, strideY, strideZ, { values, ny, nz }, weight, first, out) => {
  let to = 0;
  for (let k = 0; k < nz; k++) {
    for (let j = 0; j < ny; j++) {
      const from = corner + k * strideZ + j * strideY;
      if (first) for (let i = 0; i < values; i++) out[to + i] = weight * data[from + i];
      else for (let i = 0; i < values; i++) out[to + i] += weight * data[from + i];
      to += values;
    }
  }
};

/**
 * Interval sums with scratch of their own. They contract x, then y, then z; a node is read for the intervals it has
 * weights for. The sums of a part are complete before they are added to those of other parts.
 */
export function createIntervalSums(): IntervalSums {
  const combined = new Float64Array(COMBINED_VALUES);
  const line = new Float64Array(3 * TILE_EDGE);
  const plane = new Float64Array(3 * TILE_EDGE * TILE_EDGE);
  const whole = new Float64Array(3 * TILE_EDGE ** 3);
  return {
    combined,
    add(data, corner, strideY, strideZ, components, part, [wx, wy, wz], n, sums) {
      const { first, length } = part;
      const lineSize = n * components;
      const planeSize = n * lineSize;
      whole.fill(0, 0, n * planeSize);
      for (let k = 0; k < length[2]; k++) {
        const z = first[2] + k;
        if (wz.from[z] === wz.from[z + 1]) continue;
        plane.fill(0, 0, planeSize);
        for (let j = 0; j < length[1]; j++) {
          const y = first[1] + j;
          if (wy.from[y] === wy.from[y + 1]) continue;
          line.fill(0, 0, lineSize);
          let node = corner + k * strideZ + j * strideY;
          for (let x = first[0]; x < first[0] + length[0]; x++) {
            for (let e = wx.from[x]; e < wx.from[x + 1]; e++) {
              const at = wx.interval[e] * components;
              for (let c = 0; c < components; c++) line[at + c] += wx.weight[e] * data[node + c];
            }
            node += components;
          }
          for (let e = wy.from[y]; e < wy.from[y + 1]; e++)
            addScaled(line, wy.weight[e], plane, wy.interval[e] * lineSize, lineSize);
        }
        for (let e = wz.from[z]; e < wz.from[z + 1]; e++)
          addScaled(plane, wz.weight[e], whole, wz.interval[e] * planeSize, planeSize);
      }
      for (let i = 0; i < n * planeSize; i++) sums[i] += whole[i];
    },
    addFrame,
  };
}

/** out[at + i] += scale * values[i] for i < count. */
function addScaled(values: Float64Array, scale: number, out: Float64Array, at: number, count: number): void {
  for (let i = 0; i < count; i++) out[at + i] += scale * values[i];
}
