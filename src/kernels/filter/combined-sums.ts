/** Sums parts of bricks over intervals, of a combination of frames: nodes are combined first, layer by layer. */
import type { Runs } from "../stencil.js";
import type { BrickReader, FrameWeights } from "../types.js";
import { type BoxPart, COMBINED_VALUES, type IntervalSums, type IntervalWeights } from "./interval-sums.js";

/**
 * Adds the weighted nodes of a part of a box, of the combination of frames, to `sums`; the part is number `indices[a]`
 * of the run of each axis.
 */
export type CombinedSums = (
  reader: BrickReader,
  frames: FrameWeights,
  runs: readonly [Runs, Runs, Runs],
  indices: readonly number[],
  weights: readonly IntervalWeights[],
  n: number,
  sums: Float64Array,
) => void;

/** Sums over parts of boxes of a field of `components` components. */
export function createCombinedSums(components: number, intervalSums: IntervalSums): CombinedSums {
  const part: BoxPart = { first: new Int32Array(3), length: new Int32Array(3) };
  const layer: BoxPart = { first: new Int32Array(3), length: new Int32Array(3) };

  /** Combines the nodes of a layer of the part. */
  const combineLayer = (
    reader: BrickReader,
    { frames, weights }: FrameWeights,
    runs: readonly [Runs, Runs, Runs],
    indices: readonly number[],
  ): void => {
    const { edge, count } = reader.bricking;
    const [x, y, z] = [0, 1, 2].map((a) => runs[a].brick[indices[a]]);
    const [i, j, k] = [0, 1, 2].map((a) => runs[a].inner[indices[a]] + layer.first[a] - part.first[a]);
    const strideY = edge[0] * components;
    const strideZ = edge[1] * strideY;
    const rows = { values: components * layer.length[0], ny: layer.length[1], nz: layer.length[2] };
    frames.forEach((frame, turn) => {
      reader.visit(frame, (z * count[1] + y) * count[0] + x, (data, offset) => {
        const corner = offset + k * strideZ + j * strideY + i * components;
        intervalSums.addFrame(data, corner, strideY, strideZ, rows, weights[turn], turn === 0, intervalSums.combined);
      });
    });
  };

  return (reader, frames, runs, indices, weights, n, sums) => {
    for (let a = 0; a < 3; a++) {
      part.first[a] = runs[a].from[indices[a]];
      part.length[a] = runs[a].length[indices[a]];
    }
    const wide = Math.min(part.length[0], Math.floor(COMBINED_VALUES / components));
    const deep = Math.min(part.length[1], Math.floor(COMBINED_VALUES / (components * wide)));
    const thick = Math.min(part.length[2], Math.floor(COMBINED_VALUES / (components * wide * deep)));
    const size = [wide, deep, thick];
    const set = (a: number, done: number): void => {
      layer.first[a] = part.first[a] + done;
      layer.length[a] = Math.min(size[a], part.length[a] - done);
    };
    for (let k = 0; k < part.length[2]; k += thick) {
      set(2, k);
      for (let j = 0; j < part.length[1]; j += deep) {
        set(1, j);
        for (let i = 0; i < part.length[0]; i += wide) {
          set(0, i);
          combineLayer(reader, frames, runs, indices);
          const row = components * layer.length[0];
          intervalSums.add(intervalSums.combined, 0, row, row * layer.length[1], components, layer, weights, n, sums);
        }
      }
    }
  };
}
