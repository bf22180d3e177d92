/**
 * Computes box means of an interpolated field or its gradient: the mean over a lattice of points is separable, one
 * weight per node and axis.
 */
import { DifferenceVectors, FIRST, VALUE } from "../axis-vectors.js";
import { forBrickParts, visitBrickParts } from "../block.js";
import { createRuns, cutRun, wrap } from "../stencil.js";
import type { Axes, Axis, BrickReader, FrameWeights } from "../types.js";
import { createCombinedSums } from "./combined-sums.js";
import type { BoxPart, IntervalSums, IntervalWeights } from "./interval-sums.js";
import { type CubeKernel, gatherBits, itemsPerPoint, spreadBits, TILE_EDGE } from "./octree.js";

/** A field, a cube and its sub-cubes: what means are taken of. */
export interface MeanOptions {
  readonly axes: Axes;
  /** Components of the field. */
  readonly size: 1 | 3;
  /** Take means of the three first derivatives (Fd4Lag4) instead of the field (Lag4). */
  readonly gradient: boolean;
  readonly filterLength: number;
  /** Leaves an edge of the cube: 2 ** total layers. */
  readonly leaves: number;
  readonly nlayers: number;
  readonly addSums: IntervalSums;
}

/** Weights of one axis over a row of intervals, and the cyclic run of nodes they speak of. */
interface IntervalRun extends IntervalWeights {
  start: number;
  length: number;
  /** Sets run and weights for leaves centred at first, first + width, ...; `intervals` groups of `group` leaves. */
  weigh(first: number): void;
}

/**
 * Weights of one axis for the means over `intervals` intervals of `group` leaves each; folded if they exceed the
 * period.
 *
 * @param kind  VALUE or FIRST: what is averaged along this axis
 * @param width distance of the leaves, at most about a spacing
 */
function createIntervalRun(axis: Axis, kind: number, intervals: number, group: number, width: number): IntervalRun {
  const differences = new DifferenceVectors(axis, 4, 4, new Set([kind]), false);
  const taps = differences.taps[kind];
  // Leaves are at most a spacing apart (to rounding), so the run grows by at most about a node per leaf.
  const room = Math.min(axis.nodes, intervals * group + differences.span);
  const dense = new Float64Array(intervals * room);
  const present = new Uint8Array(intervals * room);
  const self: IntervalRun = {
    start: 0,
    length: 0,
    from: new Int32Array(room + 1),
    interval: new Int32Array(intervals * room),
    weight: new Float64Array(intervals * room),
    weigh(first) {
      dense.fill(0);
      present.fill(0);
      let previous = -1;
      let offset = 0;
      let length = 0;
      for (let leaf = 0; leaf < intervals * group; leaf++) {
        differences.locate(first + leaf * width);
        differences.weigh();
        if (leaf === 0) self.start = differences.start;
        else offset += wrap(differences.start - previous, axis.nodes);
        previous = differences.start;
        length = Math.max(length, offset + differences.length);
        const row = Math.floor(leaf / group) * room;
        for (let t = 0; t < taps.count; t++) {
          const node = axis.periodic ? (offset + taps.node[t]) % axis.nodes : offset + taps.node[t];
          dense[row + node] += taps.weight[t] / group;
          present[row + node] = 1;
        }
      }
      self.length = Math.min(length, axis.nodes);
      let count = 0;
      for (let node = 0; node < self.length; node++) {
        self.from[node] = count;
        for (let m = 0; m < intervals; m++) {
          if (present[m * room + node] === 0) continue;
          self.interval[count] = m;
          self.weight[count++] = dense[m * room + node];
        }
      }
      self.from[self.length] = count;
    },
  };
  return self;
}

/**
 * The means of the cube of side `filterLength` around a point and of its sub-cubes, over the lattice of leaves.
 * Components of the answer: those of the field, or du_i/dx_j row by row. Independent of the batch; memory is bounded by
 * tiles of 16 x 16 x 16 sub-cubes.
 */
export function createBoxMean(options: MeanOptions): CubeKernel {
  const { axes, size, gradient, filterLength, leaves, nlayers, addSums } = options;
  const finest = 2 ** (nlayers - 1);
  const edge = Math.min(finest, TILE_EDGE);
  const tiles = finest / edge;
  const group = leaves / finest;
  const width = filterLength / leaves;
  const directions = gradient ? [0, 1, 2] : [-1];
  const components = size * directions.length;
  const make = (kind: number) => axes.map((axis) => createIntervalRun(axis, kind, edge, group, width));
  const values = make(VALUE);
  const slopes = gradient ? make(FIRST) : [];
  const passes = directions.map((d) => values.map((run, a) => (a === d ? slopes[a] : run)));
  const widest = Math.max(...[...values, ...slopes].map((run) => run.from.length));
  const runs = [createRuns(widest), createRuns(widest), createRuns(widest)] as const;
  const sums = new Float64Array(edge ** 3 * size);
  const part: BoxPart = { first: new Int32Array(3), length: new Int32Array(3) };

  const addCombined = createCombinedSums(size, addSums);
  /** Sums the combination of frames over the runs of `weights`, brick by brick. */
  const sumRuns = (reader: BrickReader, frames: FrameWeights, weights: readonly IntervalRun[]): void => {
    const { edge: nodes } = reader.bricking;
    const strideY = nodes[0] * size;
    const strideZ = nodes[1] * strideY;
    for (let a = 0; a < 3; a++) cutRun(axes[a].nodes, nodes[a], weights[a].start, weights[a].length, runs[a]);
    sums.fill(0);
    if (frames.frames.length > 1 || frames.weights[0] !== 1) {
      forBrickParts(runs, (...indices) => addCombined(reader, frames, runs, indices, weights, edge, sums));
      return;
    }
    visitBrickParts(reader, frames.frames[0], runs, (data, corner, ...indices) => {
      for (let a = 0; a < 3; a++) {
        part.first[a] = runs[a].from[indices[a]];
        part.length[a] = runs[a].length[indices[a]];
      }
      addSums.add(data, corner, strideY, strideZ, size, part, weights, edge, sums);
    });
  };

  return ([reader], frames, positions, point, out, at, stop) => {
    const results = edge ** 3 * components;
    let first = at + itemsPerPoint(nlayers - 1) * components;
    for (let tile = 0; tile < tiles ** 3; tile++, first += results) {
      if (stop()) return;
      for (let a = 0; a < 3; a++) {
        const leaf = gatherBits(tile, a) * edge * group + 0.5;
        const coordinate = positions[3 * point + a] - filterLength / 2 + leaf * width;
        values[a].weigh(coordinate);
        slopes[a]?.weigh(coordinate);
      }
      out.fill(0, first, first + results);
      for (let d = 0; d < passes.length; d++) {
        sumRuns(reader, frames, passes[d]);
        scatter(sums, edge, size, out, first + d, directions.length);
      }
    }
    averageLayers(out, at, components, nlayers);
  };
}

/**
 * Puts the sums of a tile, (edge, edge, edge, size), into its records in octree order: component c of item i goes to
 * `out[to + (i * size + c) * stride]`.
 */
function scatter(sums: Float64Array, edge: number, size: number, out: Float64Array, to: number, stride: number): void {
  const spread = spreadBits(edge);
  for (let z = 0, i = 0; z < edge; z++) {
    for (let y = 0; y < edge; y++) {
      for (let x = 0; x < edge; x++, i += size) {
        const item = spread[x] | (spread[y] << 1) | (spread[z] << 2);
        for (let c = 0; c < size; c++) out[to + (item * size + c) * stride] = sums[i + c];
      }
    }
  }
}

/** Fills the coarser layers of one answer from its finest: each value is the mean of the eight it is made of. */
function averageLayers(out: Float64Array, at: number, components: number, nlayers: number): void {
  for (let layer = nlayers - 2; layer >= 0; layer--) {
    const coarse = at + itemsPerPoint(layer) * components;
    const fine = at + itemsPerPoint(layer + 1) * components;
    for (let item = 0; item < 8 ** layer; item++) {
      for (let c = 0; c < components; c++) {
        let sum = 0;
        for (let octant = 0; octant < 8; octant++) sum += out[fine + (8 * item + octant) * components + c];
        out[coarse + item * components + c] = sum / 8;
      }
    }
  }
}
