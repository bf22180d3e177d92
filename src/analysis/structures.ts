/** Finds connected sets of marked nodes part by part, and joins them over the faces of parts and periodic seams. */
import { LimitError } from "../errors.js";

type Three = readonly [number, number, number];

/** What is asked of structures; `of` and `properties` are columns of the plan. */
export interface StructureOptions {
  readonly of: number;
  readonly properties: readonly number[];
  /** Nodes are marked whose value is above, or below, the threshold. */
  readonly side: "above" | "below";
  readonly threshold: number;
  /** Neighbours of a node: those that share a face, an edge (18) or a corner (26) with it. */
  readonly connectivity: 6 | 18 | 26;
  /** Whether each axis is taken for its whole period, so that structures go on across its seam. */
  readonly wraps: readonly [boolean, boolean, boolean];
  /** Product of the spacings of the axes whose weights are 1. */
  readonly cell: number;
  readonly labels: boolean;
  /** Most fragments that are kept; a structure has one in each part that it touches. */
  readonly most: number;
}

/** The nodes of a part, and what fragments are measured by. */
export interface MarkedBox {
  readonly columns: readonly Float64Array[];
  readonly weights: Float64Array | null;
  readonly from: Three;
  readonly shape: Three;
  readonly coordinates: readonly [Float64Array, Float64Array, Float64Array];
  readonly periods: Three;
}

/** The fragments of structures in one part. Plain data, which crosses threads. */
export interface PartFragments {
  readonly from: Three;
  readonly shape: Three;
  /** A row of numbers for each fragment, in the order of their first nodes. */
  readonly rows: Float64Array;
  /** Marked nodes on the faces of the part, ascending, and their fragments. */
  readonly border: Int32Array;
  readonly borderFragments: Int32Array;
  /** The fragment of every node, -1 for none, if labels are asked. */
  readonly labels: Int32Array | null;
  readonly missing: number;
}

/** Places in a row: nodes, volume, two sums for the centre of each axis, bounds, then four for each property. */
const [NODES, VOLUME, CENTRE, LOW, HIGH, PROPERTIES] = [0, 1, 2, 8, 11, 14];
const widthOf = (properties: number): number => PROPERTIES + 4 * properties;

/** Offsets of the neighbours of a node; `earlier` are those with smaller numbers, if x is fastest. */
function neighboursOf(connectivity: 6 | 18 | 26, earlier: boolean): readonly Three[] {
  const reach = { 6: 1, 18: 2, 26: 3 }[connectivity];
  const near = [-1, 0, 1];
  return near
    .flatMap((z) => near.flatMap((y) => near.map((x) => [x, y, z] as const)))
    .filter(([x, y, z], i) => Math.abs(x) + Math.abs(y) + Math.abs(z) <= reach && (earlier ? i < 13 : i !== 13));
}

function rootOf(parents: Int32Array, node: number): number {
  let at = node;
  while (parents[at] !== at) {
    parents[at] = parents[parents[at]];
    at = parents[at];
  }
  return at;
}

function join(parents: Int32Array, a: number, b: number): void {
  const [i, j] = [rootOf(parents, a), rootOf(parents, b)];
  parents[Math.max(i, j)] = Math.min(i, j);
}

/**
 * Labels the connected sets of a box, without seams.
 *
 * @param marked 1 for each node of a structure, x fastest
 * @returns for each node the number of its set, or -1, in the order of their first nodes
 */
function labelBox(marked: Uint8Array, [nx, ny, nz]: Three, connectivity: 6 | 18 | 26): Int32Array {
  const parents = new Int32Array(marked.length).fill(-1);
  const neighbours = neighboursOf(connectivity, true);
  for (let z = 0, at = 0; z < nz; z++)
    for (let y = 0; y < ny; y++)
      for (let x = 0; x < nx; x++, at++) {
        if (marked[at] === 0) continue;
        parents[at] = at;
        for (const [dx, dy, dz] of neighbours) {
          if (x + dx < 0 || x + dx >= nx || y + dy < 0 || y + dy >= ny || z + dz < 0) continue;
          const other = at + (dz * ny + dy) * nx + dx;
          if (marked[other] === 1) join(parents, at, other);
        }
      }
  // A root comes before the other nodes of its set.
  let count = 0;
  for (let i = 0; i < parents.length; i++)
    if (parents[i] === i) parents[i] = count++;
    else if (parents[i] >= 0) parents[i] = parents[parents[i]];
  return parents;
}

/** Marks the nodes of a part, and finds and measures their fragments. */
export function fragmentsOf(options: StructureOptions, box: MarkedBox): PartFragments {
  const { side, threshold, connectivity } = options;
  const values = box.columns[options.of];
  const marked = new Uint8Array(values.length);
  let missing = 0;
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (Number.isNaN(value)) missing++;
    else if (side === "above" ? value > threshold : value < threshold) marked[i] = 1;
  }
  const labels = labelBox(marked, box.shape, connectivity);
  const rows = measure(options, box, labels);
  const { from, shape } = box;
  return { from, shape, rows, ...borderOf(labels, shape), labels: options.labels ? labels : null, missing };
}

function borderOf(labels: Int32Array, [nx, ny, nz]: Three): Pick<PartFragments, "border" | "borderFragments"> {
  const isInside = (index: number, n: number): boolean => index > 0 && index < n - 1;
  const found: number[] = [];
  for (let i = 0; i < labels.length; i++) {
    if (labels[i] < 0) continue;
    const row = Math.floor(i / nx);
    if (isInside(i % nx, nx) && isInside(row % ny, ny) && isInside(Math.floor(row / ny), nz)) continue;
    found.push(i);
  }
  const border = Int32Array.from(found);
  return { border, borderFragments: border.map((i) => labels[i]) };
}

/** Fills the rows of the fragments. */
function measure({ properties, cell }: StructureOptions, box: MarkedBox, labels: Int32Array): Float64Array {
  const width = widthOf(properties.length);
  const rows = new Float64Array(width * labels.reduce((most, label) => Math.max(most, label + 1), 0));
  const { shape, from, weights } = box;
  const along = [0, 1, 2].map((a) => momentArms(box, a));
  for (let i = 0; i < labels.length; i++) {
    if (labels[i] < 0) continue;
    const at = labels[i] * width;
    const row = Math.floor(i / shape[0]);
    const place = [i % shape[0], row % shape[1], Math.floor(row / shape[1])];
    const volume = cell * (weights === null ? 1 : weights[i]);
    const isFirst = rows[at + NODES]++ === 0;
    rows[at + VOLUME] += volume;
    for (let a = 0; a < 3; a++) {
      rows[at + CENTRE + 2 * a] += volume * along[a].first[place[a]];
      rows[at + CENTRE + 2 * a + 1] += volume * along[a].second[place[a]];
      const node = from[a] + place[a];
      rows[at + LOW + a] = isFirst ? node : Math.min(rows[at + LOW + a], node);
      rows[at + HIGH + a] = Math.max(rows[at + HIGH + a], node);
    }
    for (let p = 0; p < properties.length; p++) {
      const known = at + PROPERTIES + 4 * p;
      const value = box.columns[properties[p]][i];
      if (isFirst) [rows[known + 2], rows[known + 3]] = [Infinity, -Infinity];
      if (Number.isNaN(value)) continue;
      rows[known] += volume;
      rows[known + 1] += volume * value;
      if (value < rows[known + 2]) rows[known + 2] = value;
      if (value > rows[known + 3]) rows[known + 3] = value;
    }
  }
  return rows;
}

/** What centres are means of, at the nodes of a part along an axis: cosine and sine of the place in the period. */
function momentArms({ from, shape, coordinates, periods }: MarkedBox, a: number) {
  const places = coordinates[a].subarray(from[a], from[a] + shape[a]);
  if (periods[a] === 0) return { first: places, second: new Float64Array(shape[a]) };
  const turns = places.map((place) => (2 * Math.PI * (place - coordinates[a][0])) / periods[a]);
  return { first: turns.map(Math.cos), second: turns.map(Math.sin) };
}

/** A structure. Its box goes beyond the last node of an axis whose seam it crosses. */
export interface ConnectedSet {
  readonly nodes: number;
  readonly volume: number;
  readonly centre: readonly number[];
  readonly low: readonly number[];
  readonly high: readonly number[];
  readonly wraps: readonly boolean[];
  /** Of each property: volume of the nodes that have it, integral, least and largest value. */
  readonly properties: readonly (readonly number[])[];
  readonly fragments: readonly number[];
}

type KeptPart = Pick<PartFragments, "from" | "shape" | "border" | "borderFragments"> & {
  readonly first: number;
  /** Neighbours that have not come. */
  awaited: number;
};

/**
 * Joins the fragments of parts. Parts are those of a region cut at multiples of the size of the first one; each is kept
 * until its neighbours have come, so a sweep of the region keeps few.
 */
export class JoinedFragments {
  readonly #options: StructureOptions;
  readonly #extent: Three;
  readonly #neighbours: readonly Three[];
  readonly #rows: Float64Array[] = [];
  readonly #kept = new Map<number, KeptPart>();
  #parents = new Int32Array(1024);
  #crossed = new Uint8Array(1024);
  #edge: Three | null = null;
  #count = 0;
  missing = 0;
  /** 1 + the fragment of every node of the region, 0 for none; null if labels are not asked. */
  readonly labels: Int32Array | null;

  constructor(options: StructureOptions, extent: Three) {
    this.#options = options;
    this.#extent = extent;
    this.#neighbours = neighboursOf(options.connectivity, false);
    this.labels = options.labels ? new Int32Array(extent[0] * extent[1] * extent[2]) : null;
  }

  /** Adds a part; parts must come in their order. @throws LimitError for too many fragments */
  add(part: PartFragments): void {
    const first = this.#count;
    const { from, shape, rows, border, borderFragments, missing } = part;
    this.missing += missing;
    this.#rows.push(rows);
    this.#grow(first + rows.length / widthOf(this.#options.properties.length));
    this.#edge ??= shape;
    const key = this.#keyAt(from);
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
    const edge = this.#edge as Three;
    const [nx, ny] = this.#extent;
    const [i, j, k] = node.map((n, a) => Math.floor(n / edge[a]));
    return (k * Math.ceil(ny / edge[1]) + j) * Math.ceil(nx / edge[0]) + i;
  }

  /** The index of a neighbour along an axis, -1 outside. */
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

  #joinBorder(own: KeptPart): void {
    const { from, shape, border, borderFragments, first } = own;
    const target = [0, 0, 0];
    for (let b = 0; b < border.length; b++) {
      const row = Math.floor(border[b] / shape[0]);
      const local = [border[b] % shape[0], row % shape[1], Math.floor(row / shape[1])];
      for (const offset of this.#neighbours) {
        let crossed = 0;
        let isInside = true;
        for (let a = 0; a < 3; a++) {
          const index = local[a] + offset[a];
          if (index < 0 || index >= shape[a]) isInside = false;
          target[a] = this.#wrap(from[a] + index, a);
          if (target[a] !== from[a] + index) crossed |= 1 << a;
        }
        if (isInside || target.includes(-1)) continue;
        const other = this.#fragmentAt(target);
        if (other < 0) continue;
        this.#crossed[other] |= crossed;
        join(this.#parents, first + borderFragments[b], other);
      }
    }
  }

  /** The fragment of a node on the border of a part that is kept, or -1. */
  #fragmentAt(node: readonly number[]): number {
    const part = this.#kept.get(this.#keyAt(node));
    if (part === undefined) return -1;
    const { from, shape, border, borderFragments } = part;
    const at = ((node[2] - from[2]) * shape[1] + node[1] - from[1]) * shape[0] + node[0] - from[0];
    let [low, high] = [0, border.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (border[middle] < at) low = middle + 1;
      else high = middle;
    }
    return border[low] === at ? part.first + borderFragments[low] : -1;
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

  /** The structures, the largest volume first, then the one whose first part came first. */
  finish(box: Pick<MarkedBox, "coordinates" | "periods">): readonly ConnectedSet[] {
    const width = widthOf(this.#options.properties.length);
    const fragments = this.#rows.flatMap((rows) =>
      Array.from({ length: rows.length / width }, (_, i) => rows.subarray(i * width, (i + 1) * width)),
    );
    const groups = new Map<number, number[]>();
    for (let fragment = 0; fragment < this.#count; fragment++) {
      const root = rootOf(this.#parents, fragment);
      const group = groups.get(root);
      if (group === undefined) groups.set(root, [fragment]);
      else group.push(fragment);
    }
    return [...groups.values()]
      .map((group) => this.#structureOf(group, fragments, box))
      .sort((a, b) => b.volume - a.volume || a.fragments[0] - b.fragments[0]);
  }

  #structureOf(
    group: readonly number[],
    rows: readonly Float64Array[],
    { coordinates, periods }: Pick<MarkedBox, "coordinates" | "periods">,
  ): ConnectedSet {
    const sum = new Float64Array(rows[group[0]]);
    let crossed = this.#crossed[group[0]];
    for (const fragment of group.slice(1)) {
      addRow(rows[fragment], sum);
      crossed |= this.#crossed[fragment];
    }
    const centre = coordinates.map((places, a) => {
      const [first, second] = sum.subarray(CENTRE + 2 * a);
      if (periods[a] === 0) return first / sum[VOLUME];
      return places[0] + ((Math.atan2(second, first) / (2 * Math.PI) + 1) % 1) * periods[a];
    });
    const wraps = [0, 1, 2].map((a) => ((crossed >> a) & 1) === 1);
    const bounds = wraps.map((wrapped, a) =>
      wrapped
        ? arcOf(
            group.map((fragment) => [rows[fragment][LOW + a], rows[fragment][HIGH + a]]),
            this.#extent[a],
          )
        : null,
    );
    const side = (at: number, end: 0 | 1) => bounds.map((bound, a) => bound?.[end] ?? sum[at + a]);
    const properties = this.#options.properties.map((_, p) => [...sum.subarray(PROPERTIES + 4 * p).subarray(0, 4)]);
    const [nodes, volume] = sum;
    return { nodes, volume, centre, low: side(LOW, 0), high: side(HIGH, 1), wraps, properties, fragments: group };
  }
}

/** Adds a fragment to the sum of those before it. */
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

/** The arc of a circle of `n` nodes that intervals cover together: all but the longest run that none covers. */
function arcOf(intervals: readonly (readonly [number, number])[], n: number): readonly [number, number] {
  const sorted = intervals.toSorted(([a], [b]) => a - b);
  const first = sorted[0][0];
  let reached = sorted[0][1];
  let [gap, low, high] = [0, 0, n - 1];
  for (const [from, to] of [...sorted.slice(1), [first + n, first + n] as const]) {
    if (from - reached - 1 > gap) [gap, low, high] = [from - reached - 1, from % n, reached];
    reached = Math.max(reached, to);
  }
  return [low, high < low ? high + n : high];
}
