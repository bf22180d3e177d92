/** Places stencils on axes: periodic wrapping, the ends of axes, and node runs cut at brick faces. */
import type { Axes, Axis } from "./types.js";

/** A stencil of nodes on one axis. */
export interface Place {
  /** First node, 0 <= start < nodes; on a periodic axis the stencil may run over the seam. */
  start: number;
  /**
   * Uniform axis: offset of the coordinate from the left central node of the stencil, in spacings (0 <= offset <= 1
   * unless the stencil was slid inward at an end). Tabulated axis: the coordinate itself.
   */
  offset: number;
}

/** `index` modulo `nodes`, never negative. Exact for every finite float64. */
export function wrap(index: number, nodes: number): number {
  return index > 0 && index < nodes ? index : ((index % nodes) + nodes) % nodes;
}

/** The start of the domain along an axis: its first node, unless other fields have nodes before it. */
export function axisStart(axis: Axis): number {
  const first = axis.coordinates === null ? axis.origin : axis.coordinates[0];
  return axis.beyond === undefined ? first : first - axis.beyond[0];
}

/** The end of the domain along an axis: its last node, unless other fields have nodes beyond it. */
export function axisEnd({ nodes, origin, spacing, coordinates, beyond }: Axis): number {
  const last = coordinates === null ? origin + (nodes - 1) * spacing : coordinates[nodes - 1];
  return beyond === undefined ? last : last + beyond[1];
}

/** The period of a periodic axis, the length of the domain along another. */
export function axisLength(axis: Axis): number {
  return axis.periodic ? axis.nodes * axis.spacing : axisEnd(axis) - axisStart(axis);
}

/**
 * Distance by which a point may lie outside the ends of an axis, and is moved to the end: 1e-6 of the length, and at
 * least what an end loses as float32, which points are.
 */
export function slackOf(axis: Axis): number {
  const [start, end] = [axisStart(axis), axisEnd(axis)];
  return Math.max(1e-6 * axisLength(axis), Math.abs(Math.fround(start) - start), Math.abs(Math.fround(end) - end));
}

/** The last node of a tabulated axis that is not above `x`, between 0 and nodes - 2. */
export function searchCell(coordinates: Float64Array, x: number): number {
  let low = 0;
  let high = coordinates.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (coordinates[middle] <= x) low = middle;
    else high = middle;
  }
  return low;
}

/**
 * First node of a stencil of `count` nodes around a node of a tabulated or ended axis: centred, one node further to the
 * side of the middle when `count` is even, slid inward at the ends.
 *
 * The rule for even counts changes at index nodes / 2 - 1, also when the table is not symmetric.
 */
export function nodeStencil(nodes: number, node: number, count: number): number {
  const left = node < nodes >> 1 ? (count - 1) >> 1 : count >> 1;
  return Math.min(Math.max(node - left, 0), nodes - count);
}

/**
 * The stencil of `order` nodes for a coordinate: around its cell (2, 4, 6 or 8 nodes) or its nearest node (1).
 *
 * On axes that are not periodic the coordinate is first limited to the domain, and the stencil slides inward and stays
 * complete. Ties between nodes: the upper one on uniform axes, the lower one on tabulated axes.
 */
export function place(axis: Axis, order: number, x: number, out: Place): void {
  const { beyond } = axis;
  if (axis.coordinates !== null) {
    const y = beyond === undefined ? x : Math.min(Math.max(x, axisStart(axis)), axisEnd(axis));
    placeTabulated(axis.coordinates, order, y, beyond === undefined, out);
    return;
  }
  const { nodes, periodic } = axis;
  let s = (x - axis.origin) / axis.spacing;
  if (!periodic && beyond === undefined) s = Math.min(Math.max(s, 0), nodes - 1);
  else if (!periodic && beyond !== undefined)
    s = Math.min(Math.max(s, -beyond[0] / axis.spacing), nodes - 1 + beyond[1] / axis.spacing);
  const centre = order === 1 ? Math.floor(s + 0.5) : Math.floor(s);
  /** Nodes of the stencil below its left central one. */
  const below = order === 1 ? 0 : (order >> 1) - 1;
  if (periodic) {
    // The centre is wrapped first: beyond 2^53 the difference would be rounded to another node.
    out.start = wrap(wrap(centre, nodes) - below, nodes);
    out.offset = s - centre;
  } else {
    out.start = Math.min(Math.max(centre - below, 0), nodes - order);
    out.offset = s - (order === 1 ? centre : out.start + below);
  }
}

/** As `place`, on a table: in the upper half a coordinate on a node belongs to the cell below it. */
function placeTabulated(coordinates: Float64Array, order: number, x: number, ends: boolean, out: Place): void {
  const nodes = coordinates.length;
  const y = ends ? Math.min(Math.max(x, coordinates[0]), coordinates[nodes - 1]) : x;
  let cell = searchCell(coordinates, y);
  out.offset = y;
  if (order === 1) {
    out.start = coordinates[cell + 1] - y < y - coordinates[cell] ? cell + 1 : cell;
    return;
  }
  if (cell >= nodes >> 1 && coordinates[cell] === y) cell -= 1;
  out.start = Math.min(Math.max(cell - (order >> 1) + 1, 0), nodes - order);
}

/** Index of the first of `count` points that is not finite or, by more than `slackOf`, outside; -1: there is none. */
export function firstOutside(axes: Axes, positions: Float64Array, count: number): number {
  const low = axes.map((axis) => (axis.periodic ? -Number.MAX_VALUE : axisStart(axis) - slackOf(axis)));
  const high = axes.map((axis) => (axis.periodic ? Number.MAX_VALUE : axisEnd(axis) + slackOf(axis)));
  for (let i = 0; i < 3 * count; i += 3) {
    for (let a = 0; a < 3; a++) {
      if (!(positions[i + a] >= low[a] && positions[i + a] <= high[a])) return i / 3;
    }
  }
  return -1;
}

/** Moves the first `count` points to the nearest end of every axis that is not periodic; in place. NaN stays NaN. */
export function clampToDomain(axes: Axes, positions: Float64Array, count: number): void {
  for (let a = 0; a < 3; a++) {
    if (axes[a].periodic) continue;
    const low = axisStart(axes[a]);
    const high = axisEnd(axes[a]);
    for (let i = a; i < 3 * count; i += 3) positions[i] = Math.min(Math.max(positions[i], low), high);
  }
}

/**
 * A run of nodes cut into parts, each inside one brick. Part j: `length[j]` nodes from node `inner[j]` of brick
 * `brick[j]`.
 */
export interface Runs {
  count: number;
  readonly brick: Int32Array;
  readonly inner: Int32Array;
  /** Position of the part in the run. */
  readonly from: Int32Array;
  readonly length: Int32Array;
}

/** Room for the parts of runs of up to `nodes` nodes. */
export function createRuns(nodes: number): Runs {
  const column = () => new Int32Array(nodes);
  return { count: 0, brick: column(), inner: column(), from: column(), length: column() };
}

/** Cuts the run of `length` nodes from `start` (0 <= start < nodes) at brick faces and at the periodic seam. */
export function cutRun(nodes: number, edge: number, start: number, length: number, out: Runs): void {
  let node = start;
  let done = 0;
  out.count = 0;
  while (done < length) {
    const brick = (node / edge) | 0;
    const size = Math.min(length - done, (brick + 1) * edge - node, nodes - node);
    const j = out.count++;
    out.brick[j] = brick;
    out.inner[j] = node - brick * edge;
    out.from[j] = done;
    out.length[j] = size;
    done += size;
    node += size;
    if (node === nodes) node = 0;
  }
}
