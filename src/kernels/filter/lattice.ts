/** Interpolates velocities to a lattice of points, separably and from bricks on demand. */
import { visitBrickParts } from "../block.js";
import { createAxisWeights } from "../lagrange.js";
import { createRuns, cutRun, type Runs, wrap } from "../stencil.js";
import type { Axes, Axis, BrickReader, FrameWeights, Values } from "../types.js";
import { spreadBits } from "./octree.js";

/** Interpolation of the leaves of a tile on one axis: leaf l uses nodes offset[l] .. offset[l] + 3 of the run. */
export interface LeafRow {
  /** Run of nodes, 0 <= start < nodes; periodic axes are passed as often as it takes. */
  start: number;
  length: number;
  readonly offset: Int32Array;
  readonly weight: Float64Array;
  /** Sets the row for leaves at first, first + width, ... */
  weigh(first: number): void;
}

/** Interpolation of order 4 for `edge` leaves that are `width` apart. */
export function createLeafRow(axis: Axis, edge: number, width: number): LeafRow {
  const stencil = createAxisWeights(axis, 4);
  const self: LeafRow = {
    start: 0,
    length: 0,
    offset: new Int32Array(edge),
    weight: new Float64Array(4 * edge),
    weigh(first) {
      let previous = 0;
      for (let leaf = 0; leaf < edge; leaf++) {
        stencil.locate(first + leaf * width);
        stencil.weigh();
        if (leaf === 0) self.start = stencil.start;
        else self.offset[leaf] = self.offset[leaf - 1] + wrap(stencil.start - previous, axis.nodes);
        previous = stencil.start;
        self.weight.set(stencil.weight, 4 * leaf);
      }
      self.length = self.offset[edge - 1] + 4;
    },
  };
  return self;
}

/** Velocities on a tile of leaves. */
export interface Lattice {
  /** Three values a leaf, leaves in octree order; valid after `fill`. */
  readonly velocity: Float64Array;
  /** Interpolates to the leaves that the rows speak of. `readers`: of the velocity, or of each component. */
  fill(readers: readonly BrickReader[], frames: FrameWeights): void;
}

/** Nodes of a velocity or of one component, and the interpolation from them. */
export interface LeafGrid {
  readonly axes: Axes;
  readonly rows: readonly LeafRow[];
}

/**
 * Separable interpolation from nodes to a tile of leaves: x, then y, then z.
 *
 * @param grids one, or three if each component has nodes of its own
 */
export function createLattice(grids: readonly LeafGrid[], edge: number): Lattice {
  // Leaves are at most a spacing apart, to rounding: a tile spans at most `edge` cells, and three nodes around them.
  const reach = edge + 4;
  const runs = [createRuns(reach), createRuns(reach), createRuns(reach)] as const;
  const size = 3 / grids.length;
  const nodes = new Float64Array(size * reach ** 3);
  const alongX = new Float64Array(size * edge * reach ** 2);
  const alongY = new Float64Array(size * edge ** 2 * reach);
  const velocity = new Float64Array(3 * edge ** 3);
  return {
    velocity,
    fill(readers, frames) {
      for (const [g, { axes, rows }] of grids.entries()) {
        const { edge: bricks } = readers[g].bricking;
        for (let a = 0; a < 3; a++) cutRun(axes[a].nodes, bricks[a], rows[a].start, rows[a].length, runs[a]);
        nodes.fill(0, 0, size * rows[0].length * rows[1].length * rows[2].length);
        for (let f = 0; f < frames.frames.length; f++) {
          addFrame(readers[g], frames.frames[f], frames.weights[f], runs, rows, size, nodes);
        }
        interpolateRows(nodes, rows, edge, size, alongX, alongY, velocity, g);
      }
    },
  };
}

/** Adds the nodes of one frame, times a weight, to `nodes`, a dense box. */
function addFrame(
  reader: BrickReader,
  frame: number,
  weight: number,
  runs: readonly [Runs, Runs, Runs],
  [x, y]: readonly LeafRow[],
  size: number,
  nodes: Float64Array,
): void {
  const [rx, ry, rz] = runs;
  const strideY = reader.bricking.edge[0] * size;
  const strideZ = reader.bricking.edge[1] * strideY;
  visitBrickParts(reader, frame, runs, (data, corner, i, j, k) => {
    for (let c = 0; c < rz.length[k]; c++) {
      for (let b = 0; b < ry.length[j]; b++) {
        const from = corner + c * strideZ + b * strideY;
        const to = size * (((rz.from[k] + c) * y.length + ry.from[j] + b) * x.length + rx.from[i]);
        addScaled(data, from, weight, nodes, to, size * rx.length[i]);
      }
    }
  });
}

/** out[to + e] += scale * values[from + e] for e < count. */
function addScaled(values: Values, from: number, scale: number, out: Float64Array, to: number, count: number): void {
  for (let e = 0; e < count; e++) out[to + e] += scale * values[from + e];
}

/**
 * Combines nodes to leaves, one axis after the other; the leaves come in octree order.
 *
 * @param size  numbers at a node
 * @param first velocity component of the first component
 */
function interpolateRows(
  nodes: Float64Array,
  [x, y, z]: readonly LeafRow[],
  edge: number,
  size: number,
  alongX: Float64Array,
  alongY: Float64Array,
  velocity: Float64Array,
  first: number,
): void {
  const width = size * edge;
  const lines = y.length * z.length;
  for (let line = 0; line < lines; line++) {
    const row = size * line * x.length;
    for (let i = 0; i < edge; i++) {
      combineFour(nodes, row + size * x.offset[i], size, x.weight, 4 * i, alongX, line * width + size * i, size);
    }
  }
  for (let k = 0; k < z.length; k++) {
    for (let j = 0; j < edge; j++) {
      const from = (k * y.length + y.offset[j]) * width;
      combineFour(alongX, from, width, y.weight, 4 * j, alongY, (k * edge + j) * width, width);
    }
  }
  const spread = spreadBits(edge);
  for (let k = 0; k < edge; k++) {
    for (let j = 0; j < edge; j++) {
      const from = (z.offset[k] * edge + j) * width;
      const row = (spread[j] << 1) | (spread[k] << 2);
      for (let i = 0; i < edge; i++) {
        const to = 3 * (spread[i] | row) + first;
        combineFour(alongY, from + size * i, edge * width, z.weight, 4 * k, velocity, to, size);
      }
    }
  }
}

/** out[to + e] = the sum of weight[w + t] * values[from + t * stride + e] over t = 0 .. 3, for e < count. */
function combineFour(
  values: Float64Array,
  from: number,
  stride: number,
  weight: Float64Array,
  w: number,
  out: Float64Array,
  to: number,
  count: number,
): void {
  const w0 = weight[w];
  const w1 = weight[w + 1];
  const w2 = weight[w + 2];
  const w3 = weight[w + 3];
  for (let e = 0; e < count; e++) {
    const at = from + e;
    out[to + e] =
      w0 * values[at] + w1 * values[at + stride] + w2 * values[at + 2 * stride] + w3 * values[at + 3 * stride];
  }
}
