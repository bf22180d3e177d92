/** Structures: fragments joined over the faces of parts and periodic seams, then sorted and described. */
import { LimitError } from "../shared/errors.js";
import {
  CENTRE,
  FIRST,
  HIGH,
  LOW,
  type MarkedBox,
  NODES,
  neighboursOf,
  type PartFragments,
  PROPERTIES,
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
  /** sum V r_a r_b / sum V by rows, r from the centroid; NaN if it is connected with itself a period further. */
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

/** The index of a part itself among the parts around it. */
const WITHIN = 13;
/** For each entry of a symmetric tensor by rows, its mean among those of x, y, z, xx, xy, xz, yy, yz and zz. */
const SECOND_MOMENTS = [3, 4, 5, 4, 6, 7, 5, 7, 8];
/** Fragments that a loop handles before it yields. */
const STEP = 8192;

type KeptPart = Pick<PartFragments, "shape" | "border" | "borderFragments"> & {
  readonly first: number;
  /** Number of neighbouring parts that have not been added. */
  awaited: number;
};

/** A place beside a part: the number of its part along the axis, -1 for none; its node next to the part; its shift. */
interface AlongAxis {
  readonly part: number;
  readonly node: number;
  readonly shift: number;
}

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
  readonly #partNumbers: number[] = [];
  readonly #waitingParts = new Map<number, KeptPart>();
  /** By fragment, its part in the order of their addition, and its parent in the forest of joined fragments. */
  readonly #partOf: number[] = [];
  readonly #parents: number[] = [];
  /** By fragment, how many periods further than its parent it is, as a sum of `PERIODS`. */
  readonly #shifts: number[] = [];
  /** By fragment, the axes, as bits, along which its set is connected with itself a period further. */
  readonly #endless: number[] = [];
  readonly #edge: Three;
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
    const first = this.#parents.length;
    const { shape, rows, border, borderFragments, missing, infinite } = part;
    this.missing += missing;
    this.infinite += infinite;
    this.#rows.push(rows);
    this.#firsts.push(first);
    this.#grow(first + rows.length / widthOf(this.#options.properties.length));
    const neighbourPlaces = [0, 1, 2].map((a) => [-1, 0, 1].map((step) => this.#along(part, a, step)));
    // By side of z, y and x: 0 before the part, 1 inside, 2 after it.
    const numbers = neighbourPlaces[2].flatMap((z) =>
      neighbourPlaces[1].flatMap((y) => neighbourPlaces[0].map((x) => this.#numberOf(x, y, z))),
    );
    const partNumber = numbers[WITHIN];
    this.#partNumbers.push(partNumber);
    const around = new Set(numbers.filter((other) => other >= 0 && other !== partNumber));
    const own: KeptPart = { shape, border, borderFragments, first, awaited: around.size };
    this.#waitingParts.set(partNumber, own);
    this.#joinBorder(
      own,
      neighbourPlaces,
      numbers.map((other) => this.#waitingParts.get(other)),
    );
    if (this.labels !== null) this.#place(part, first, this.labels);
    for (const other of around) {
      const kept = this.#waitingParts.get(other);
      if (kept === undefined) continue;
      own.awaited--;
      if (--kept.awaited === 0) this.#waitingParts.delete(other);
    }
    if (own.awaited === 0) this.#waitingParts.delete(partNumber);
  }

  #grow(count: number): void {
    const { most } = this.#options;
    if (count > most)
      throw new LimitError(
        "analysis.numbers",
        `The structures have more than ${most} fragments: take another threshold or a smaller region.`,
      );
    for (let fragment = this.#parents.length; fragment < count; fragment++) {
      this.#partOf.push(this.#firsts.length - 1);
      this.#parents.push(fragment);
      this.#shifts.push(0);
      this.#endless.push(0);
    }
  }

  /** The number of the part at a place along each axis; -1 outside the region. */
  #numberOf(...places: readonly AlongAxis[]): number {
    const [nx, ny] = this.#extent.map((n, a) => Math.ceil(n / this.#edge[a]));
    const [i, j, k] = places.map(({ part }) => part);
    return Math.min(i, j, k) < 0 ? -1 : (k * ny + j) * nx + i;
  }

  /** Joins the fragments of a part with those on the other side of its faces, in parts that are kept. */
  #joinBorder(
    { shape: [nx, ny, nz], border, borderFragments, first }: KeptPart,
    [alongX, alongY, alongZ]: readonly (readonly AlongAxis[])[],
    parts: readonly (KeptPart | undefined)[],
  ): void {
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
        this.#join(first + borderFragments[b], other, alongX[i].shift + alongY[j].shift + alongZ[k].shift);
      }
    }
  }

  /** The lowest fragment of a fragment's set, and how many periods further than it the fragment is. */
  #rootOf(fragment: number): { readonly root: number; readonly shift: number } {
    const [parents, shifts] = [this.#parents, this.#shifts];
    let [root, shift] = [fragment, 0];
    while (parents[root] !== root) {
      shifts[root] += shifts[parents[root]];
      parents[root] = parents[parents[root]];
      shift += shifts[root];
      root = parents[root];
    }
    return { root, shift };
  }

  /** @param shift periods from the second fragment's stored position to its position next to the first */
  #join(one: number, other: number, shift: number): void {
    const [a, b] = [this.#rootOf(one), this.#rootOf(other)];
    const apart = a.shift + shift - b.shift;
    if (a.root === b.root) {
      this.#endless[a.root] |= bitsOf(periodsOf(apart));
      return;
    }
    const [root, child] = [Math.min(a.root, b.root), Math.max(a.root, b.root)];
    this.#parents[child] = root;
    this.#shifts[child] = child === b.root ? apart : -apart;
  }

  /** What is before (step -1), at (0) or after (1) a part along an axis. */
  #along({ from, shape }: PartFragments, a: number, step: number): AlongAxis {
    const [n, edge] = [this.#extent[a], this.#edge[a]];
    const index = step < 0 ? from[a] - 1 : step > 0 ? from[a] + shape[a] : from[a];
    const isOutside = index < 0 || index === n;
    const wrapped = !isOutside ? index : this.#options.wraps[a] ? (index + n) % n : -1;
    const part = wrapped < 0 ? -1 : Math.floor(wrapped / edge);
    return { part, node: wrapped - part * edge, shift: isOutside && n > 1 ? step * PERIODS[a] : 0 };
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

  /** Sums and sorts structures of `least` nodes. They may be as many as fragments: it yields about every millisecond. */
  *rank(least: number): Generator<undefined, RankedStructures> {
    const count = this.#parents.length;
    const width = widthOf(this.#options.properties.length);
    const inOrder = Array.from(this.#partNumbers.keys()).sort((a, b) => this.#partNumbers[a] - this.#partNumbers[b]);
    // The number of the structure, first of the root of a set, then of every fragment.
    const structure = new Int32Array(count).fill(-1);
    const fragments = new Int32Array(count);
    const [nodes, volumes, starts] = [new Float64Array(count), new Float64Array(count), new Int32Array(count + 1)];
    let [all, at] = [0, 0];
    for (const part of inOrder)
      for (let row = 0; row < this.#rows[part].length; row += width, at++) {
        if (at % STEP === 0) yield;
        fragments[at] = this.#firsts[part] + row / width;
        const { root } = this.#rootOf(fragments[at]);
        if (structure[root] < 0) structure[root] = all++;
        const number = structure[root];
        structure[fragments[at]] = number;
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
    const order = yield* sortedBy(volumes.subarray(0, all));
    const listed = order.filter((number) => nodes[number] >= least);
    return { count: all, nodes: nodes.reduce((sum, n) => sum + n, 0), listed, starts, members };
  }

  describe(
    { listed, starts, members }: RankedStructures,
    place: number,
    { coordinates, periods }: Pick<MarkedBox, "coordinates" | "periods">,
  ): ConnectedSet {
    const number = listed[place];
    const ofStructure = members.subarray(starts[number], starts[number + 1]);
    const sum = new Float64Array(this.#rowOf(ofStructure[0]));
    const start = this.#rootOf(ofStructure[0]).shift;
    // The axes, as bits, over whose seam it is connected, and those of `#endless`.
    let [crossed, endless] = [0, this.#endless[ofStructure[0]]];
    for (const fragment of ofStructure.subarray(1)) {
      const by = periodsOf(this.#rootOf(fragment).shift - start);
      addRow(movedRow(this.#rowOf(fragment), by, this.#extent, periods), sum);
      crossed |= bitsOf(by);
      endless |= this.#endless[fragment];
    }
    const centre = coordinates.map((places, a) => {
      // On a periodic axis, the sums of the cosine and the sine of the angle.
      const [sumOrCosine, sine] = sum.subarray(CENTRE + 2 * a);
      if (periods[a] === 0) return sumOrCosine / sum[VOLUME];
      return places[0] + ((Math.atan2(sine, sumOrCosine) / (2 * Math.PI) + 1) % 1) * periods[a];
    });
    const wraps = this.#extent.map((n, a) =>
      n === 1 ? this.#options.wraps[a] : (((crossed | endless) >> a) & 1) === 1,
    );
    const bounds = this.#extent.map((n, a) => {
      const [from, to] = [sum[LOW + a], sum[HIGH + a]];
      const low = ((from % n) + n) % n;
      return to - from >= n - 1 || ((endless >> a) & 1) === 1 ? [0, n - 1] : [low, low + to - from];
    });
    const [low, high] = [0, 1].map((end) => bounds.map((bound) => bound[end]));
    const inertia = endless === 0 ? inertiaOf(sum) : SECOND_MOMENTS.map(() => Number.NaN);
    const properties = this.#options.properties.map((_, p) => [...sum.subarray(PROPERTIES + 4 * p).subarray(0, 4)]);
    const [nodes, volume] = sum;
    return { nodes, volume, centre, low, high, wraps, inertia, properties };
  }

  #rowOf(fragment: number): Float64Array {
    const part = this.#partOf[fragment];
    const width = widthOf(this.#options.properties.length);
    const at = (fragment - this.#firsts[part]) * width;
    return this.#rows[part].subarray(at, at + width);
  }
}

/** Second moments of a structure about its centroid, by rows. */
function inertiaOf(sum: Float64Array): readonly number[] {
  const means = sum.subarray(FIRST, LOW).map((moment) => moment / sum[VOLUME]);
  return SECOND_MOMENTS.map((m, ab) => means[m] - means[Math.floor(ab / 3)] * means[ab % 3]);
}

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

/** Shifts of one period along each axis: sums keep apart up to 2^15 periods along each. */
const PERIODS: Three = [1, 2 ** 16, 2 ** 32];

/** The periods along each axis of a sum of `PERIODS`. */
function periodsOf(shift: number): Three {
  const z = Math.round(shift / PERIODS[2]);
  const y = Math.round((shift - z * PERIODS[2]) / PERIODS[1]);
  return [shift - z * PERIODS[2] - y * PERIODS[1], y, z];
}

/** The axes, as bits, along which periods are not 0. */
function bitsOf(periods: Three): number {
  return periods.reduce((bits, n, a) => bits | (n === 0 ? 0 : 1 << a), 0);
}

/** A copy of a fragment's row, `by` periods further along each axis. */
function movedRow(row: Float64Array, by: Three, extent: Three, periods: Three): Float64Array {
  const moved = new Float64Array(row);
  const [volume, ...lengths] = [row[VOLUME], ...by.map((n, a) => n * periods[a])];
  for (let a = 0, m = SECOND; a < 3; a++) {
    moved[FIRST + a] += volume * lengths[a];
    moved[LOW + a] += by[a] * extent[a];
    moved[HIGH + a] += by[a] * extent[a];
    for (let b = a; b < 3; b++, m++)
      moved[m] += row[FIRST + a] * lengths[b] + row[FIRST + b] * lengths[a] + volume * lengths[a] * lengths[b];
  }
  return moved;
}
