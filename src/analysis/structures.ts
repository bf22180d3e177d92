/** Structures: fragments joined over the faces of parts and periodic seams, then sorted and described. */
import { LimitError } from "../shared/errors.js";
import {
  CENTRE,
  FIRST,
  HIGH,
  join,
  LOW,
  type MarkedBox,
  NODES,
  neighboursOf,
  type PartFragments,
  PROPERTIES,
  rootOf,
  SECOND,
  type StructureOptions,
  type Three,
  VOLUME,
  widthOf,
} from "./fragments.js";

/** A structure. Its bounding box extends beyond the last node of an axis whose seam it crosses. */
export interface ConnectedSet {
  readonly nodes: number;
  readonly volume: number;
  readonly centre: readonly number[];
  readonly low: readonly number[];
  readonly high: readonly number[];
  readonly wraps: readonly boolean[];
  /** sum V r_a r_b / sum V by rows, r from the centroid; NaN if it covers a whole period of an axis that it wraps. */
  readonly inertia: readonly number[];
  /** For each property: volume of its known nodes, integral, least and largest value. */
  readonly properties: readonly (readonly number[])[];
}

/** All structures of a region, numbered by their first fragments in the order of parts, however parts were added. */
export interface RankedStructures {
  readonly count: number;
  readonly nodes: number;
  /** Structures with enough nodes, by decreasing volume, then by their first part. */
  readonly listed: Int32Array;
  /** The fragments of structure i are `members[starts[i] .. starts[i + 1] - 1]`, in the order of the parts. */
  readonly starts: Int32Array;
  readonly members: Int32Array;
}

/** Fragments that a loop handles before it yields. */
const STEP = 8192;

type KeptPart = Pick<PartFragments, "from" | "shape" | "border" | "borderFragments"> & {
  readonly first: number;
  /** Number of neighbouring parts that have not been added. */
  awaited: number;
};

/**
 * Joins the fragments of parts, which may be added in any order. Parts are cut from a region at multiples of their
 * size; each is kept until its neighbours have been added, so a sweep of the region keeps few.
 */
export class JoinedFragments {
  readonly #options: StructureOptions;
  readonly #extent: Three;
  readonly #neighbours: readonly Three[];
  readonly #rows: Float64Array[] = [];
  /** The first fragment of each part, in the order of their addition, and the number of the part. */
  readonly #firsts: number[] = [];
  readonly #keys: number[] = [];
  readonly #kept = new Map<number, KeptPart>();
  #parents = new Int32Array(1024);
  /** By fragment, the axes, as bits, over whose seam it is joined to another. */
  #crossed = new Uint8Array(1024);
  readonly #edge: Three;
  #count = 0;
  missing = 0;
  infinite = 0;
  /** 1 + the fragment of every node of the region, 0 for none; null if labels are not requested. */
  readonly labels: Int32Array | null;

  /** @param edge nodes along x, y and z of a part that the end of the region does not cut */
  constructor(options: StructureOptions, extent: Three, edge: Three) {
    this.#options = options;
    this.#edge = edge;
    this.#extent = extent;
    const distance = ([x, y, z]: Three) => Math.abs(x) + Math.abs(y) + Math.abs(z);
    this.#neighbours = neighboursOf(options.connectivity, false).toSorted((a, b) => distance(a) - distance(b));
    this.labels = options.labels ? new Int32Array(extent[0] * extent[1] * extent[2]) : null;
  }

  /** Adds a part. Throws LimitError for too many fragments. */
  add(part: PartFragments): void {
    const first = this.#count;
    const { from, shape, rows, border, borderFragments, missing, infinite } = part;
    this.missing += missing;
    this.infinite += infinite;
    this.#rows.push(rows);
    this.#firsts.push(first);
    this.#grow(first + rows.length / widthOf(this.#options.properties.length));
    const key = this.#keyAt(from);
    this.#keys.push(key);
    const around = this.#partsAround(part);
    around.delete(key);
    const own: KeptPart = { from, shape, border, borderFragments, first, awaited: around.size };
    this.#kept.set(key, own);
    this.#joinBorder(own);
    if (this.labels !== null) this.#place(part, first, this.labels);
    for (const other of around) {
      const kept = this.#kept.get(other);
      if (kept === undefined) continue;
      own.awaited--;
      if (--kept.awaited === 0) this.#kept.delete(other);
    }
    if (own.awaited === 0) this.#kept.delete(key);
  }

  #grow(count: number): void {
    const { most } = this.#options;
    if (count > most)
      throw new LimitError(
        "analysis.numbers",
        `The structures have more than ${most} fragments: take another threshold or a smaller region.`,
      );
    while (this.#parents.length < count) {
      const [parents, crossed] = [this.#parents, this.#crossed];
      this.#parents = new Int32Array(2 * parents.length);
      this.#parents.set(parents);
      this.#crossed = new Uint8Array(2 * crossed.length);
      this.#crossed.set(crossed);
    }
    while (this.#count < count) this.#parents[this.#count] = this.#count++;
  }

  /** The number of the part that holds a node. */
  #keyAt(node: readonly number[]): number {
    const edge = this.#edge;
    const [i, j, k] = node.map((n, a) => Math.floor(n / edge[a]));
    return this.#keyOf(i, j, k);
  }

  #keyOf(i: number, j: number, k: number): number {
    const edge = this.#edge;
    const [nx, ny] = this.#extent;
    return (k * Math.ceil(ny / edge[1]) + j) * Math.ceil(nx / edge[0]) + i;
  }

  /** The index of a neighbour along an axis; -1 outside the region. */
  #wrap(index: number, a: number): number {
    const n = this.#extent[a];
    if (index >= 0 && index < n) return index;
    return this.#options.wraps[a] ? (index + n) % n : -1;
  }

  /** Numbers of the parts that touch a part, and its own. */
  #partsAround({ from, shape }: PartFragments): Set<number> {
    const sides = from.map((low, a) =>
      [low - 1, low, low + shape[a]].map((n) => this.#wrap(n, a)).filter((n) => n >= 0),
    );
    return new Set(sides[0].flatMap((x) => sides[1].flatMap((y) => sides[2].map((z) => this.#keyAt([x, y, z])))));
  }

  /** Joins the fragments of a part with those on the other side of its faces, in parts that are kept. */
  #joinBorder(own: KeptPart): void {
    const { shape, border, borderFragments, first } = own;
    const [nx, ny, nz] = shape;
    const [alongX, alongY, alongZ] = [0, 1, 2].map((a) => [-1, 0, 1].map((step) => this.#along(own, a, step)));
    // By side of z, y and x: 0 before the part, 1 inside, 2 after it.
    const parts = alongZ.flatMap((z) => alongY.flatMap((y) => alongX.map((x) => this.#partAt(x, y, z))));
    for (let b = 0; b < border.length; b++) {
      const x = border[b] % nx;
      const row = Math.floor(border[b] / nx);
      const [y, z] = [row % ny, Math.floor(row / ny)];
      // A bit for each side, set if the node straight across is marked: other marked neighbours on that side touch that
      // node, so they are in its fragment.
      let known = 0;
      for (const [dx, dy, dz] of this.#neighbours) {
        const i = sideOf(x + dx, nx);
        const j = sideOf(y + dy, ny);
        const k = sideOf(z + dz, nz);
        const side = 9 * k + 3 * j + i;
        const part = parts[side];
        if (side === WITHIN || part === undefined || ((known >> side) & 1) === 1) continue;
        const atX = i === 1 ? x + dx : alongX[i].node;
        const atY = j === 1 ? y + dy : alongY[j].node;
        const atZ = k === 1 ? z + dz : alongZ[k].node;
        const other = fragmentAt(part, (atZ * part.shape[1] + atY) * part.shape[0] + atX);
        if (other < 0) continue;
        if (Math.abs(dx) + Math.abs(dy) + Math.abs(dz) === 1) known |= 1 << side;
        this.#crossed[other] |= alongX[i].crossed | alongY[j].crossed | alongZ[k].crossed;
        join(this.#parents, first + borderFragments[b], other);
      }
    }
  }

  /**
   * The part before (step -1), at (0) or after (1) a part along an axis: its number along the axis, -1 for none; its
   * node next to this part; and the bit of the axis if a seam is between them.
   */
  #along({ from, shape }: KeptPart, a: number, step: number): { part: number; node: number; crossed: number } {
    const index = step < 0 ? from[a] - 1 : step > 0 ? from[a] + shape[a] : from[a];
    const wrapped = this.#wrap(index, a);
    const edge = this.#edge[a];
    const part = wrapped < 0 ? -1 : Math.floor(wrapped / edge);
    return { part, node: wrapped - part * edge, crossed: wrapped === index ? 0 : 1 << a };
  }

  #partAt(...along: readonly { readonly part: number }[]): KeptPart | undefined {
    const [i, j, k] = along.map(({ part }) => part);
    return i < 0 || j < 0 || k < 0 ? undefined : this.#kept.get(this.#keyOf(i, j, k));
  }

  #place({ from, shape, labels }: PartFragments, first: number, out: Int32Array): void {
    const [nx, ny] = this.#extent;
    for (let z = 0, i = 0; z < shape[2]; z++)
      for (let y = 0; y < shape[1]; y++) {
        const to = ((from[2] + z) * ny + from[1] + y) * nx + from[0];
        for (let x = 0; x < shape[0]; x++, i++)
          if (labels !== null && labels[i] >= 0) out[to + x] = first + labels[i] + 1;
      }
  }

  /**
   * Sums and sorts the structures. There may be as many as fragments, so it yields about every millisecond. @param
   * least fewest nodes of a structure that is listed
   */
  *rank(least: number): Generator<undefined, RankedStructures> {
    const count = this.#count;
    const width = widthOf(this.#options.properties.length);
    const inOrder = Array.from(this.#keys.keys()).sort((a, b) => this.#keys[a] - this.#keys[b]);
    // The number of the structure, first of the root of a set, then of every fragment.
    const structure = new Int32Array(count).fill(-1);
    const fragments = new Int32Array(count);
    let all = 0;
    let at = 0;
    for (const part of inOrder)
      for (let i = 0; i < this.#rows[part].length; i += width, at++) {
        if (at % STEP === 0) yield;
        fragments[at] = this.#firsts[part] + i / width;
        const root = rootOf(this.#parents, fragments[at]);
        if (structure[root] < 0) structure[root] = all++;
        structure[fragments[at]] = structure[root];
      }
    const [nodes, volumes, starts] = [new Float64Array(all), new Float64Array(all), new Int32Array(all + 1)];
    at = 0;
    for (const part of inOrder)
      for (let row = 0; row < this.#rows[part].length; row += width, at++) {
        if (at % STEP === 0) yield;
        const number = structure[fragments[at]];
        nodes[number] += this.#rows[part][row + NODES];
        volumes[number] += this.#rows[part][row + VOLUME];
        starts[number + 1]++;
      }
    for (let i = 0; i < all; i++) starts[i + 1] += starts[i];
    const [members, next] = [new Int32Array(count), starts.slice()];
    for (at = 0; at < count; at++) {
      if (at % STEP === 0) yield;
      members[next[structure[fragments[at]]]++] = fragments[at];
    }
    const order = yield* sortedBy(volumes);
    const listed = order.filter((number) => nodes[number] >= least);
    return { count: all, nodes: nodes.reduce((sum, n) => sum + n, 0), listed, starts, members };
  }

  /** Describes a listed structure. */
  describe(
    { listed, starts, members }: RankedStructures,
    place: number,
    { coordinates, periods }: Pick<MarkedBox, "coordinates" | "periods">,
  ): ConnectedSet {
    const number = listed[place];
    const ofStructure = members.subarray(starts[number], starts[number + 1]);
    const rows = Array.from(ofStructure, (fragment) => this.#rowOf(fragment));
    const sum = new Float64Array(rows[0]);
    for (const row of rows.slice(1)) addRow(row, sum);
    let crossed = 0;
    for (const fragment of ofStructure) crossed |= this.#crossed[fragment];
    const centre = coordinates.map((places, a) => {
      // On a periodic axis, the sums of the cosine and the sine of the angle.
      const [sumOrCosine, sine] = sum.subarray(CENTRE + 2 * a);
      if (periods[a] === 0) return sumOrCosine / sum[VOLUME];
      return places[0] + ((Math.atan2(sine, sumOrCosine) / (2 * Math.PI) + 1) % 1) * periods[a];
    });
    const wraps = [0, 1, 2].map((a) => ((crossed >> a) & 1) === 1);
    const bounds = wraps.map((wrapped, a) =>
      wrapped ? arcOf(rows, a, this.#extent[a]) : [sum[LOW + a], sum[HIGH + a]],
    );
    const [low, high] = [0, 1].map((end) => bounds.map((bound) => bound[end]));
    const isWhole = wraps.some((on, a) => on && this.#extent[a] > 1 && high[a] - low[a] === this.#extent[a] - 1);
    const inertia = isWhole ? new Array<number>(9).fill(Number.NaN) : secondMoments(rows, low, periods);
    const properties = this.#options.properties.map((_, p) => [...sum.subarray(PROPERTIES + 4 * p).subarray(0, 4)]);
    const [nodes, volume] = sum;
    return { nodes, volume, centre, low, high, wraps, inertia, properties };
  }

  #rowOf(fragment: number): Float64Array {
    const width = widthOf(this.#options.properties.length);
    let [low, high] = [0, this.#firsts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#firsts[middle] <= fragment) low = middle;
      else high = middle - 1;
    }
    const at = (fragment - this.#firsts[low]) * width;
    return this.#rows[low].subarray(at, at + width);
  }
}

/** The index of a part itself among the parts around it. */
const WITHIN = 13;

/** The side of a part on which an index is: 0 before it, 1 inside, 2 after it. */
function sideOf(index: number, n: number): 0 | 1 | 2 {
  return index < 0 ? 0 : index < n ? 1 : 2;
}

/** The fragment of a node on the border of a part, or -1. */
function fragmentAt({ border, borderFragments, first }: KeptPart, at: number): number {
  let [low, high] = [0, border.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (border[middle] < at) low = middle + 1;
    else high = middle;
  }
  return border[low] === at ? first + borderFragments[low] : -1;
}

/** The indices of values by decreasing value, then by index; it yields about every millisecond. */
function* sortedBy(values: Float64Array): Generator<undefined, Int32Array> {
  let order = Int32Array.from(values, (_, i) => i);
  let merged = new Int32Array(order.length);
  for (let run = 1; run < order.length; run *= 2) {
    for (let from = 0; from < order.length; from += 2 * run) {
      const [middle, end] = [Math.min(from + run, order.length), Math.min(from + 2 * run, order.length)];
      for (let left = from, right = middle, to = from; to < end; to++) {
        if (to % STEP === 0) yield;
        const isLeft = left < middle && (right === end || values[order[left]] >= values[order[right]]);
        merged[to] = isLeft ? order[left++] : order[right++];
      }
    }
    [order, merged] = [merged, order];
  }
  return order;
}

/** Adds a fragment's row to the sum of others. */
function addRow(row: Float64Array, sum: Float64Array): void {
  for (let i = 0; i < LOW; i++) sum[i] += row[i];
  for (let i = LOW; i < HIGH; i++) sum[i] = Math.min(sum[i], row[i]);
  for (let i = HIGH; i < PROPERTIES; i++) sum[i] = Math.max(sum[i], row[i]);
  for (let i = PROPERTIES; i < row.length; i += 4) {
    sum[i] += row[i];
    sum[i + 1] += row[i + 1];
    sum[i + 2] = Math.min(sum[i + 2], row[i + 2]);
    sum[i + 3] = Math.max(sum[i + 3], row[i + 3]);
  }
}

/** The arc of a circle of `n` nodes that fragments cover along an axis: all but the longest gap between them. */
function arcOf(rows: readonly Float64Array[], a: number, n: number): readonly [number, number] {
  const sorted = rows.map((row) => [row[LOW + a], row[HIGH + a]] as const).sort(([one], [other]) => one - other);
  const first = sorted[0][0];
  let reached = sorted[0][1];
  let [gap, low, high] = [0, 0, n - 1];
  for (const [from, to] of [...sorted.slice(1), [first + n, first + n] as const]) {
    if (from - reached - 1 > gap) [gap, low, high] = [from - reached - 1, from % n, reached];
    reached = Math.max(reached, to);
  }
  return [low, high < low ? high + n : high];
}

/** Second moments about the centroid, by rows; fragments before the lowest node `low` are a period further. */
function secondMoments(rows: readonly Float64Array[], low: readonly number[], periods: Three): readonly number[] {
  const volume = rows.reduce((sum, row) => sum + row[VOLUME], 0);
  // The first moments, then those of xx, xy, xz, yy, yz and zz.
  const sums = new Float64Array(9);
  for (const row of rows) {
    const by = low.map((node, a) => (row[LOW + a] < node ? periods[a] : 0));
    for (let a = 0, m = 0; a < 3; a++) {
      sums[a] += row[FIRST + a] + row[VOLUME] * by[a];
      for (let b = a; b < 3; b++, m++)
        sums[3 + m] += row[SECOND + m] + row[FIRST + a] * by[b] + row[FIRST + b] * by[a] + row[VOLUME] * by[a] * by[b];
    }
  }
  const means = sums.map((sum) => sum / volume);
  return [3, 4, 5, 4, 6, 7, 5, 7, 8].map((m, ab) => means[m] - means[Math.floor(ab / 3)] * means[ab % 3]);
}
