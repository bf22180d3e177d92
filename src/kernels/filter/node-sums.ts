/**
 * Sums fields and their products over cubes of grid nodes, with running sums that neighbouring cubes share.
 *
 * Along each axis the nodes are divided, once for all cubes of a width w, into stretches of w nodes from node 0 on. A
 * run of w nodes is the end of one stretch and the beginning of the next. Both are running sums, so a run takes three
 * additions, whatever w is (van Herk, Pattern Recognition Letters 13 (1992)). Nothing is ever subtracted, and the order
 * of the additions depends only on the first node of the cube, so its bits are the same alone and among others.
 */
import { type Box, visitBrickParts } from "../block.js";
import { createRuns, cutRun, type Runs } from "../stencil.js";
import type { Axes, BrickReader, Triple } from "../types.js";

/** Two components whose product is summed, numbered over all fields. */
export type ComponentPair = readonly [number, number];

/**
 * Overwrites `totals` with the sums of every component, then of every product, for the cubes whose first nodes
 * (x, y, z, wrapped) are `starts`; ends early, between steps, when `stop` says so, and then they are not
 * valid.
 */
export type NodeSums = (
  readers: readonly BrickReader[],
  frame: number,
  starts: Int32Array,
  totals: Float64Array,
  stop: () => boolean,
) => void;

/** Bytes of the sums over planes that a box of cubes may need, and nodes gathered at once: both bound the scratch. */
const MAX_BYTES = 16 * 1024 * 1024;
const GATHERED_NODES = 65_536;
/** The cost of a box besides its nodes, counted in nodes: bricks to visit, runs to cut. */
const BOX_COST = 64;
/** Edges that a box of first nodes may have along each axis. */
const EDGES = [
  [8, 16, 32, 64],
  [8, 16, 32, 64],
  [8, 16, 32, 64, 128],
] as const;

/**
 * Largest box of first nodes, along x, y, z, whose sums are made together: what cubes further apart share is not kept.
 *
 * Of the boxes that scratch has room for, the one that costs least for each of its cubes. Planes are kept and rows are
 * not, so that wide cubes are worked on in boxes that are deep along z.
 */
export function sharedEdges(width: number, channels: number): Triple {
  let best: Triple = [1, 1, 1];
  const costOf = (box: Triple): number => nodesRead(box, width) / (box[0] * box[1] * box[2]);
  for (const z of EDGES[2]) {
    for (const y of EDGES[1]) {
      for (const x of EDGES[0]) {
        const fits = 8 * channels * x * y * (z + width - 1) <= MAX_BYTES;
        if (fits && costOf([x, y, z]) < costOf(best)) best = [x, y, z];
      }
    }
  }
  return best;
}

/** The arrays in which sums are made: one thread makes all of its sums in the same, one after the other. */
export class SumsScratch {
  nodes = new Float64Array(0);
  line = new Float64Array(0);
  rows = new Float64Array(0);
  planes = new Float64Array(0);
  sums = new Float64Array(0);
  runs = [createRuns(0), createRuns(0), createRuns(0)] as const;
}

/** The sums over cubes of `width` nodes of fields with `sizes[f]` components. */
export function createNodeSums(
  axes: Axes,
  width: number,
  sizes: readonly number[],
  products: readonly ComponentPair[],
  scratch: SumsScratch,
): NodeSums {
  const size = sizes.reduce((sum, components) => sum + components, 0);
  const channels = size + products.length;
  const edges = sharedEdges(width, channels);
  const sumBox = createBoxSums(axes, width, sizes, products, scratch);

  return (readers, frame, starts, totals, stop) => {
    const order = Uint32Array.from({ length: starts.length / 3 }, (_, i) => i);

    /** Sums the cubes order[from .. to - 1] together. */
    const together = (from: number, to: number, box: Box): void => {
      const { start, length } = box;
      const sums = sumBox(readers, frame, box, stop);
      for (let i = from; i < to; i++) {
        const cube = order[i];
        const x = starts[3 * cube] - start[0];
        const y = starts[3 * cube + 1] - start[1];
        const z = starts[3 * cube + 2] - start[2];
        const at = (z * length[1] + y) * channels * length[0] + x;
        for (let c = 0; c < channels; c++) totals[channels * cube + c] = sums[at + c * length[0]];
      }
    };

    /** Divides cubes until it is cheaper to sum them together. */
    const divide = (from: number, to: number): void => {
      if (stop()) return;
      const bounds = boundingBox(starts, order.subarray(from, to));
      const { length } = bounds;
      const fits = length.every((extent, a) => extent <= edges[a]);
      if (fits) {
        const alone = (to - from) * nodesRead([1, 1, 1], width);
        if (to - from === 1 || nodesRead(length, width) <= alone) {
          together(from, to, bounds);
          return;
        }
      }
      // Cuts at half the extent; if that exceeds the longest edge, at a multiple of the edge, so that boxes are full.
      const extents = fits ? Array.from(length) : edges.map((edge, a) => length[a] / edge);
      const longest = extents.indexOf(Math.max(...extents));
      const extent = length[longest];
      const edge = edges[longest];
      const cut = bounds.start[longest] + (extent > edge ? edge * Math.ceil(extent / edge / 2) : extent >> 1);
      const middle = partition(order, from, to, (cube) => starts[3 * cube + longest] < cut);
      divide(from, middle);
      divide(middle, to);
    };
    if (order.length > 0) divide(0, order.length);
  };
}

/** The bounding box of the first nodes of some cubes. */
function boundingBox(starts: Int32Array, cubes: Uint32Array): Box {
  const start = new Int32Array(3).fill(2 ** 31 - 1);
  const last = new Int32Array(3);
  for (let i = 0; i < cubes.length; i++) {
    for (let a = 0; a < 3; a++) {
      const node = starts[3 * cubes[i] + a];
      if (node < start[a]) start[a] = node;
      if (node > last[a]) last[a] = node;
    }
  }
  return { start, length: last.map((node, a) => node - start[a] + 1) };
}

/** Nodes read, and sums made from them, for a box of first nodes: the measure of its cost. */
function nodesRead(length: ArrayLike<number>, width: number): number {
  const [x, y, z] = [length[0], length[1], length[2]];
  const more = width - 1;
  return BOX_COST + (z + more) * ((y + more) * (2 * x + more) + x * y);
}

/** Moves the entries of `order[from .. to - 1]` that are chosen to the front; returns where the others begin. */
function partition(order: Uint32Array, from: number, to: number, chosen: (entry: number) => boolean): number {
  let end = from;
  for (let i = from; i < to; i++) {
    const entry = order[i];
    if (!chosen(entry)) continue;
    order[i] = order[end];
    order[end++] = entry;
  }
  return end;
}

type BoxSums = (readers: readonly BrickReader[], frame: number, box: Box, stop: () => boolean) => Float64Array;

/** The sums of all cubes whose first nodes are a box, layout [z][y][channel][x], valid until the next call. */
function createBoxSums(
  axes: Axes,
  width: number,
  sizes: readonly number[],
  products: readonly ComponentPair[],
  scratch: SumsScratch,
): BoxSums {
  const size = sizes.reduce((sum, components) => sum + components, 0);
  const channels = size + products.length;

  return (readers, frame, { start: low, length }, stop) => {
    const [nx, ny, nz] = length.map((first) => first + width - 1);
    const rowSize = channels * length[0];
    const planeSize = rowSize * length[1];
    const depth = Math.min(nz, Math.max(1, Math.floor(GATHERED_NODES / (nx * ny))));
    const { nodes, line, rows, planes, sums, runs } = grow(scratch, {
      nodes: size * nx * ny * depth,
      line: nx,
      rows: rowSize * ny,
      planes: planeSize * nz,
      sums: planeSize * length[2],
      runs: Math.max(nx, ny, nz),
    });
    for (let k = 0; k < nz && !stop(); k += depth) {
      const thick = Math.min(depth, nz - k);
      const start = [low[0], low[1], (low[2] + k) % axes[2].nodes];
      const component = nx * ny * thick;
      gatherNodes(readers, frame, axes, start, [nx, ny, thick], runs, nodes);
      for (let plane = 0; plane < thick; plane++) {
        for (let j = 0; j < ny; j++) {
          const from = (plane * ny + j) * nx;
          let to = j * rowSize;
          for (let c = 0; c < size; c++, to += length[0])
            slideLine(nodes, c * component + from, low[0], length[0], width, rows, to);
          for (let p = 0; p < products.length; p++, to += length[0]) {
            multiply(nodes, products[p][0] * component + from, products[p][1] * component + from, nx, line);
            slideLine(line, 0, low[0], length[0], width, rows, to);
          }
        }
        slide(rows, rowSize, low[1], length[1], width, planes, (k + plane) * planeSize);
      }
    }
    slide(planes, planeSize, low[2], length[2], width, sums, 0);
    return sums;
  };
}

/** Replaces the arrays that are shorter than a box needs. */
function grow(scratch: SumsScratch, lengths: Readonly<Record<keyof SumsScratch, number>>): SumsScratch {
  for (const name of ["nodes", "line", "rows", "planes", "sums"] as const)
    if (scratch[name].length < lengths[name]) scratch[name] = new Float64Array(lengths[name]);
  const room = lengths.runs;
  if (scratch.runs[0].brick.length < room) scratch.runs = [createRuns(room), createRuns(room), createRuns(room)];
  return scratch;
}

/** Copies a box of nodes of all fields, layout [component][z][y][x]. */
function gatherNodes(
  readers: readonly BrickReader[],
  frame: number,
  axes: Axes,
  start: readonly number[],
  [nx, ny, nz]: readonly number[],
  runs: readonly [Runs, Runs, Runs],
  nodes: Float64Array,
): void {
  const [rx, ry, rz] = runs;
  const component = nx * ny * nz;
  let first = 0;
  for (const reader of readers) {
    const { edge } = reader.bricking;
    const { components } = reader;
    const strideY = edge[0] * components;
    const strideZ = edge[1] * strideY;
    const begin = first;
    [nx, ny, nz].forEach((length, a) => {
      cutRun(axes[a].nodes, edge[a], start[a], length, runs[a]);
    });
    visitBrickParts(reader, frame, runs, (data, corner, i, j, k) => {
      for (let z = 0; z < rz.length[k]; z++) {
        for (let y = 0; y < ry.length[j]; y++) {
          const from = corner + z * strideZ + y * strideY;
          const to = begin + ((rz.from[k] + z) * ny + ry.from[j] + y) * nx + rx.from[i];
          for (let c = 0; c < components; c++) {
            const at = to + c * component;
            for (let x = 0, e = from + c; x < rx.length[i]; x++, e += components) nodes[at + x] = data[e];
          }
        }
      }
    });
    first += components * component;
  }
}

/** The products of two rows of `count` nodes. */
function multiply(nodes: Float64Array, a: number, b: number, count: number, line: Float64Array): void {
  for (let i = 0; i < count; i++) line[i] = nodes[a + i] * nodes[b + i];
}

/**
 * As `slide`, for entries of one number: the sums that begin at entry i go to `out[to + i]`. `values` begin at `from`
 * and are not changed.
 */
function slideLine(
  values: Float64Array,
  from: number,
  first: number,
  count: number,
  width: number,
  out: Float64Array,
  to: number,
): void {
  const firstEnd = width - 1 - (first % width);
  // What runs have of the stretch in which they begin: backward from its end.
  for (let end = firstEnd; end - width + 1 < count; end += width) {
    let i = from + end;
    let sum = values[i];
    // Nodes after the last run are only added up.
    for (const stop = from + count; i > stop; ) sum = values[--i] + sum;
    if (i < from + count) out[to + end] = sum;
    for (const firstInside = from + Math.max(0, end - width + 1); i > firstInside; ) {
      sum = values[--i] + sum;
      out[to + i - from] = sum;
    }
  }
  // What they have of the next stretch: forward from its beginning.
  for (let begin = firstEnd + 1; begin - width + 1 < count; begin += width) {
    let sum = 0;
    const shift = to - width + 1;
    for (let i = begin; i <= Math.min(begin, count) + width - 2; i++) {
      sum = i === begin ? values[from + i] : sum + values[from + i];
      if (i >= width - 1) out[shift + i] += sum;
    }
  }
}

/**
 * Sums over runs of `width` entries of `entry` numbers each: `out[to + entry * i ..]` for the runs that begin at entry
 * i, which is number first + i of its axis, for i < count. Overwrites `values`.
 */
function slide(
  values: Float64Array,
  entry: number,
  first: number,
  count: number,
  width: number,
  out: Float64Array,
  to: number,
): void {
  const firstEnd = width - 1 - (first % width);
  // What runs have of the stretch in which they begin: backward from its end.
  for (let end = firstEnd; end - width + 1 < count; end += width) {
    for (let i = end; i >= Math.max(0, end - width + 1); i--) {
      // Entries after the last run are only added up, in its place.
      const at = to + entry * Math.min(i, count - 1);
      const next = to + entry * Math.min(i + 1, count - 1);
      const from = entry * i;
      if (i === end) for (let c = 0; c < entry; c++) out[at + c] = values[from + c];
      else for (let c = 0; c < entry; c++) out[at + c] = values[from + c] + out[next + c];
    }
  }
  // What they have of the next stretch: forward from its beginning.
  for (let begin = firstEnd + 1; begin - width + 1 < count; begin += width) {
    for (let i = begin; i <= Math.min(begin, count) + width - 2; i++) {
      const from = entry * i;
      if (i > begin) for (let c = 0; c < entry; c++) values[from + c] += values[from - entry + c];
      const at = to + entry * (i - width + 1);
      if (at >= to) for (let c = 0; c < entry; c++) out[at + c] += values[from + c];
    }
  }
}
