/** Finds the grid nodes of a box at which a quantity exceeds a threshold, tile by tile and from bricks on demand. */
import { gatherBox } from "./block.js";
import { type DifferenceOrder, type DifferenceRows, firstDifferences } from "./finite-difference.js";
import { secondInvariantOf, vorticityOf } from "./invariant.js";
import type { Axes, Axis, BrickReader, Triple } from "./types.js";

/** Nodes per edge of a tile. */
const TILE_EDGE = 32;

/** The magnitude of a field, or the vorticity or second invariant of a velocity by differences of an order. */
export type ThresholdQuantity =
  | { readonly kind: "norm"; readonly size: 1 | 3 }
  | { readonly kind: "vorticity" | "q"; readonly order: DifferenceOrder };

/** Nodes found, in the order of the scan. */
export interface Hits {
  /** Nodes above the threshold, also those for which there was no room. */
  count: number;
  /** Nodes at which the quantity is not a number: whether they are above the threshold is not known. */
  unknown: number;
  /** x, y, z of a node, from 0. */
  nodes: Int32Array;
  /** The quantity, rounded to float32. */
  values: Float32Array;
  /** Nodes there may be room for. */
  readonly limit: number;
}

/** Room for up to `limit` nodes; it grows as they come. */
export function createHits(limit: number): Hits {
  const room = Math.min(limit, 1024);
  return { count: 0, unknown: 0, nodes: new Int32Array(3 * room), values: new Float32Array(room), limit };
}

/** Adds a node and its value. */
export function addHit(hits: Hits, x: number, y: number, z: number, value: number): void {
  const i = hits.count++;
  if (i >= hits.limit) return;
  if (i === hits.values.length) {
    const room = Math.min(hits.limit, 2 * i);
    const { nodes, values } = hits;
    hits.nodes = new Int32Array(3 * room);
    hits.nodes.set(nodes);
    hits.values = new Float32Array(room);
    hits.values.set(values);
  }
  hits.values[i] = value;
  hits.nodes[3 * i] = x;
  hits.nodes[3 * i + 1] = y;
  hits.nodes[3 * i + 2] = z;
}

/**
 * The order of the first `count` nodes by value, largest first; of equal values by z, then y, then x.
 *
 * @param count less than 2^21
 */
export function sortHits({ nodes, values }: Pick<Hits, "nodes" | "values">, count: number): Uint32Array {
  // Each key has the index in its low bits and, above it, the bits of the value, mapped so that they fall as the value
  // rises: numbers sort without a comparison function.
  const bits = new Uint32Array(values.slice(0, count).buffer);
  const keys = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    const rising = bits[i] >>> 31 === 1 ? ~bits[i] >>> 0 : (bits[i] | 0x8000_0000) >>> 0;
    keys[i] = (0xffff_ffff - rising) * 2 ** 21 + i;
  }
  keys.sort();
  const order = Uint32Array.from(keys, (key) => key % 2 ** 21);
  const compare = (a: number, b: number): number =>
    nodes[3 * a + 2] - nodes[3 * b + 2] || nodes[3 * a + 1] - nodes[3 * b + 1] || nodes[3 * a] - nodes[3 * b];
  for (let from = 0, to = 1; from < count; from = to++) {
    while (to < count && values[order[to]] === values[order[from]]) to++;
    if (to - from > 1) order.subarray(from, to).sort(compare);
  }
  return order;
}

/**
 * Joins parts of a search: x, y, z from 1 and the value of each hit, the largest value first, those of equal values in
 * the order of the nodes.
 *
 * @param count hits of all parts together, less than 2^21
 */
export function recordsByValue(parts: readonly Hits[], count: number): Float32Array {
  const nodes = new Int32Array(3 * count);
  const values = new Float32Array(count);
  let at = 0;
  for (const part of parts) {
    nodes.set(part.nodes.subarray(0, 3 * part.count), 3 * at);
    values.set(part.values.subarray(0, part.count), at);
    at += part.count;
  }
  const records = new Float32Array(4 * count);
  sortHits({ nodes, values }, count).forEach((from, to) => {
    for (let a = 0; a < 3; a++) records[4 * to + a] = nodes[3 * from + a] + 1;
    records[4 * to + 3] = values[from];
  });
  return records;
}

/** A search bound to a grid and a quantity. */
export interface ThresholdSearch {
  /**
   * Adds the nodes of a box whose value, as float32, is greater than `threshold` to `hits`. A box may be searched in
   * parts: the bits are the same.
   *
   * @param start  first node, from 0, on x, y, z
   * @param length nodes; the box must lie inside the grid
   * @param stop   polled between tiles; when true the search ends
   */
  search(
    reader: BrickReader,
    frame: number,
    start: Triple,
    length: Triple,
    threshold: number,
    hits: Hits,
    stop?: () => boolean,
  ): void;
}

/**
 * First differences at the nodes of a tile: weight t of local node n belongs to the element `offset[n * width + t]`
 * from it.
 */
export interface TileDifferences {
  readonly width: number;
  readonly count: Int32Array;
  readonly offset: Int32Array;
  readonly weight: Float64Array;
}

/**
 * The search for one thread: it holds its own scratch. Differences are as by None_Fd4, None_Fd6 and None_Fd8.
 *
 * @throws RangeError when an axis that is not periodic has fewer nodes than the stencil
 */
export function createThresholdSearch(axes: Axes, quantity: ThresholdQuantity): ThresholdSearch {
  const size = quantity.kind === "norm" ? quantity.size : 3;
  const tables = quantity.kind === "norm" ? null : firstDifferences(axes, quantity.order);
  /** Longest edge of the dense box: a tile, and the nodes that differences reach on both sides. */
  const maxEdge = TILE_EDGE + (quantity.kind === "norm" ? 0 : 2 * (quantity.order + 1));
  const nodeValues = new Float32Array(size * maxEdge ** 3);
  const low = new Int32Array(3);
  const span = new Int32Array(3);

  return {
    search(reader, frame, start, length, threshold, hits, stop = () => false) {
      const evaluate = (first: Triple, count: Triple): void => {
        const reach = axes.map((axis, a) => reachOf(axis, tables?.[a] ?? null, first[a], count[a]));
        reach.forEach(({ below, above }, a) => {
          low[a] = first[a] - below;
          span[a] = count[a] + below + above;
        });
        gatherBox(reader, axes, frame, low, span, nodeValues);
        const inner = first.map((node, a) => node - low[a]) as unknown as Triple;
        const differences =
          tables === null
            ? null
            : tables.map((table, a) => tileDifferences(table, first[a], count[a], size * strideOf(span, a)));
        searchTile(quantity.kind, nodeValues, span, inner, first, count, differences, size, threshold, hits);
      };
      for (let z = 0; z < length[2]; z += TILE_EDGE) {
        for (let y = 0; y < length[1]; y += TILE_EDGE) {
          for (let x = 0; x < length[0]; x += TILE_EDGE) {
            if (stop()) return;
            const corner = [x, y, z] as const;
            const first = corner.map((offset, a) => start[a] + offset) as unknown as Triple;
            const count = corner.map((offset, a) => Math.min(TILE_EDGE, length[a] - offset)) as unknown as Triple;
            evaluate(first, count);
          }
        }
      }
    },
  };
}

/** Distance between neighbours along an axis of a dense box, in nodes. */
export function strideOf(span: ArrayLike<number>, axis: number): number {
  return axis === 0 ? 1 : axis === 1 ? span[0] : span[0] * span[1];
}

/** How many nodes below and above `count` nodes from `first` on their differences reach. */
export function reachOf(
  axis: Axis,
  table: DifferenceRows | null,
  first: number,
  count: number,
): { below: number; above: number } {
  if (table === null) return { below: 0, above: 0 };
  let lowest = first;
  let highest = first + count - 1;
  for (let node = first; node < first + count; node++) {
    const row = table.shared ? 0 : node;
    lowest = Math.min(lowest, node + table.offset[row]);
    // The highest bit of `support` is the last node of the stencil.
    highest = Math.max(highest, node + table.offset[row] + 31 - Math.clz32(table.support[row]));
  }
  if (!axis.periodic && (lowest < 0 || highest >= axis.nodes)) throw new RangeError("the box leaves the grid");
  return { below: first - lowest, above: highest - first - count + 1 };
}

/** Differences at `count` nodes from `first` on; neighbours are `step` elements apart. */
export function tileDifferences(table: DifferenceRows, first: number, count: number, step: number): TileDifferences {
  const { width } = table;
  const [offset, weight] = [new Int32Array(count * width), new Float64Array(count * width)];
  const out = { width, count: new Int32Array(count), offset, weight };
  for (let n = 0; n < count; n++) {
    const row = table.shared ? 0 : first + n;
    for (let t = 0; t < width; t++) {
      if ((table.support[row] & (1 << t)) === 0) continue;
      const at = n * width + out.count[n]++;
      out.offset[at] = (table.offset[row] + t) * step;
      out.weight[at] = table.weight[row * width + t];
    }
  }
  return out;
}

/**
 * Evaluates the quantity at the nodes of a tile, which begins at node `inner` of the dense box, and adds those above
 * the threshold.
 */
function searchTile(
  kind: ThresholdQuantity["kind"],
  nodes: Float32Array,
  span: Int32Array,
  inner: Triple,
  first: Triple,
  count: Triple,
  differences: readonly TileDifferences[] | null,
  size: number,
  threshold: number,
  hits: Hits,
): void {
  const gradient = new Float64Array(9);
  for (let z = 0; z < count[2]; z++) {
    for (let y = 0; y < count[1]; y++) {
      let at = size * (((inner[2] + z) * span[1] + inner[1] + y) * span[0] + inner[0]);
      for (let x = 0; x < count[0]; x++, at += size) {
        let value: number;
        if (differences === null) {
          value = size === 1 ? Math.abs(nodes[at]) : magnitude(nodes, at);
        } else {
          differentiate(nodes, at, differences[0], x, gradient, 0);
          differentiate(nodes, at, differences[1], y, gradient, 1);
          differentiate(nodes, at, differences[2], z, gradient, 2);
          value = kind === "q" ? secondInvariantOf(gradient, 0) : vorticityOf(gradient, 0);
        }
        const rounded = Math.fround(value);
        if (rounded > threshold) addHit(hits, first[0] + x, first[1] + y, first[2] + z, rounded);
        else if (Number.isNaN(rounded)) hits.unknown++;
      }
    }
  }
}

function magnitude(nodes: Float32Array, at: number): number {
  return Math.sqrt(nodes[at] * nodes[at] + nodes[at + 1] * nodes[at + 1] + nodes[at + 2] * nodes[at + 2]);
}

/**
 * The derivatives of three components along an axis at local node n, whose element is `at`, to entries axis, axis + 3,
 * axis + 6.
 */
function differentiate(
  nodes: Float32Array,
  at: number,
  { width, count, offset, weight }: TileDifferences,
  n: number,
  gradient: Float64Array,
  axis: number,
): void {
  let u = 0;
  let v = 0;
  let w = 0;
  for (let t = n * width; t < n * width + count[n]; t++) {
    const e = at + offset[t];
    u += weight[t] * nodes[e];
    v += weight[t] * nodes[e + 1];
    w += weight[t] * nodes[e + 2];
  }
  gradient[axis] = u;
  gradient[axis + 3] = v;
  gradient[axis + 6] = w;
}
