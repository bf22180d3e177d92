/** Numbers the sub-cubes of a halved cube, and lays out the answers of the box filters. */
import type { BrickReader, FrameWeights } from "../types.js";

/** Longest edge of the tiles in which filters work through a cube, in sub-cubes: bounds their memory. */
export const TILE_EDGE = 16;

/** Overwrites the answer of point `point` from `out[at]` on; ends early, between tiles of work, when `stop` says so. */
export type CubeKernel = (
  readers: readonly BrickReader[],
  frames: FrameWeights,
  positions: Float64Array,
  point: number,
  out: Float64Array,
  at: number,
  stop: () => boolean,
) => void;

/** Results per point of `nlayers` layers: 1 + 8 + 64 + ... */
export function itemsPerPoint(nlayers: number): number {
  return (8 ** nlayers - 1) / 7;
}

/**
 * Spreads the bits of 0 .. count - 1 to every third position. The sub-cube at (i, j, k) of a layer has the index
 * `s[i] | s[j] << 1 | s[k] << 2`, so that the eight sub-cubes of a larger one follow each other, x fastest.
 */
export function spreadBits(count: number): Int32Array {
  const out = new Int32Array(count);
  for (let i = 1; i < count; i++) out[i] = (out[i >> 1] << 3) | (i & 1);
  return out;
}

/** Every third bit of `code` from bit `axis` on: the inverse of `spreadBits`. */
export function gatherBits(code: number, axis: number): number {
  let out = 0;
  for (let bit = 0, rest = code >> axis; rest > 0; bit++, rest >>= 3) out |= (rest & 1) << bit;
  return out;
}
