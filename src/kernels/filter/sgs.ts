/**
 * Computes the sub-grid-scale stress: velocities on the leaves of a cube, tile by tile, and their moments merged up the
 * octree.
 */
import type { Axes } from "../types.js";
import { createLattice, createLeafRow } from "./lattice.js";
import { type CubeKernel, gatherBits, itemsPerPoint, TILE_EDGE } from "./octree.js";

/**
 * The stress mean(u_i u_j) - mean(u_i) mean(u_j), as xx, yy, zz, xy, xz, yz, of the cube of side `filterLength` around
 * a point and of its sub-cubes.
 *
 * Velocities are Lag4 values at the leaves, combined in time first. Moments about the mean are merged eight by eight,
 * tau = mean(tau') + mean((u' - u)(u' - u)^T), which does not cancel. Independent of the batch; works on tiles of
 * 16 x 16 x 16 leaves.
 *
 * @param grids  axes of the velocity, or of each component if they have nodes of their own
 * @param leaves leaves an edge of the cube: 2 ** total layers
 */
export function createStress(
  grids: readonly Axes[],
  filterLength: number,
  leaves: number,
  nlayers: number,
): CubeKernel {
  const edge = Math.min(leaves, TILE_EDGE);
  const tiles = leaves / edge;
  const width = filterLength / leaves;
  const depth = Math.log2(leaves);
  const top = Math.log2(tiles);
  const parts = grids.map((axes) => ({ axes, rows: axes.map((axis) => createLeafRow(axis, edge, width)) }));
  const lattice = createLattice(parts, edge);
  const { velocity } = lattice;
  const stress = new Float64Array(6 * edge ** 3);
  /** Moments of up to eight siblings of every layer above the tiles, and how many siblings are complete. */
  const waiting = Array.from({ length: top + 1 }, () => ({ mean: new Float64Array(24), stress: new Float64Array(48) }));
  const complete = new Int32Array(top + 1);

  return (readers, frames, positions, point, out, at, stop) => {
    const write = (layer: number, item: number, values: Float64Array, from: number, count: number) => {
      if (layer >= nlayers) return;
      const to = at + (itemsPerPoint(layer) + item) * 6;
      for (let i = 0; i < 6 * count; i++) out[to + i] = values[from + i];
    };
    complete.fill(0);
    for (let tile = 0; tile < tiles ** 3; tile++) {
      if (stop()) return;
      for (let a = 0; a < 3; a++) {
        const leaf = gatherBits(tile, a) * edge + 0.5;
        const place = positions[3 * point + a] - filterLength / 2 + leaf * width;
        for (const { rows } of parts) rows[a].weigh(place);
      }
      lattice.fill(readers, frames);
      stress.fill(0);
      for (let layer = depth - 1; layer >= top; layer--) {
        const count = 8 ** (layer - top);
        for (let m = 0; m < count; m++) mergeEight(velocity, stress, 8 * m, velocity, stress, m);
        write(layer, tile * count, stress, 0, count);
      }
      if (depth === 0) write(0, 0, stress, 0, 1);
      pile(velocity, stress, waiting[top], complete[top]++ & 7);
      for (let layer = top; layer > 0 && (complete[layer] & 7) === 0; layer--) {
        const from = waiting[layer];
        const to = waiting[layer - 1];
        const item = complete[layer - 1]++;
        mergeEight(from.mean, from.stress, 0, to.mean, to.stress, item & 7);
        write(layer - 1, item, to.stress, 6 * (item & 7), 1);
      }
    }
  };
}

/** Copies the first entry of a tile's moments to place `item` of those waiting. */
function pile(
  mean: Float64Array,
  stress: Float64Array,
  to: { mean: Float64Array; stress: Float64Array },
  item: number,
): void {
  for (let c = 0; c < 3; c++) to.mean[3 * item + c] = mean[c];
  for (let c = 0; c < 6; c++) to.stress[6 * item + c] = stress[c];
}

/**
 * Moments of entries `first .. first + 7`, all of equal volume, into entry `item`; source and target may be the same
 * arrays.
 */
function mergeEight(
  mean: Float64Array,
  stress: Float64Array,
  first: number,
  meanOut: Float64Array,
  stressOut: Float64Array,
  item: number,
): void {
  let u = 0;
  let v = 0;
  let w = 0;
  for (let e = 3 * first; e < 3 * first + 24; e += 3) {
    u += mean[e];
    v += mean[e + 1];
    w += mean[e + 2];
  }
  u /= 8;
  v /= 8;
  w /= 8;
  let xx = 0;
  let yy = 0;
  let zz = 0;
  let xy = 0;
  let xz = 0;
  let yz = 0;
  for (let e = first; e < first + 8; e++) {
    const du = mean[3 * e] - u;
    const dv = mean[3 * e + 1] - v;
    const dw = mean[3 * e + 2] - w;
    xx += stress[6 * e] + du * du;
    yy += stress[6 * e + 1] + dv * dv;
    zz += stress[6 * e + 2] + dw * dw;
    xy += stress[6 * e + 3] + du * dv;
    xz += stress[6 * e + 4] + du * dw;
    yz += stress[6 * e + 5] + dv * dw;
  }
  meanOut[3 * item] = u;
  meanOut[3 * item + 1] = v;
  meanOut[3 * item + 2] = w;
  stressOut[6 * item] = xx / 8;
  stressOut[6 * item + 1] = yy / 8;
  stressOut[6 * item + 2] = zz / 8;
  stressOut[6 * item + 3] = xy / 8;
  stressOut[6 * item + 4] = xz / 8;
  stressOut[6 * item + 5] = yz / 8;
}
