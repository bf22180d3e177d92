/** Fragments: connected sets of marked nodes within one part of a region, and their measures. */
import { isKnown, type LeftOut } from "./moments.js";

export type Three = readonly [number, number, number];

/** Most nodes along x, y and z of a part: about one time slice of work. */
export const PART: Three = [64, 32, 32];

/** Options of structures; `of` and `properties` are columns of the plan. */
export interface StructureOptions {
  readonly of: number;
  readonly properties: readonly number[];
  /** Side of the threshold on which nodes are marked. */
  readonly side: "above" | "below";
  readonly threshold: number;
  /** Neighbours of a node: nodes that share a face with it, an edge (18) or a corner (26). */
  readonly connectivity: 6 | 18 | 26;
  /** Whether the region has the whole period of an axis, so that structures continue across its seam. */
  readonly wraps: readonly [boolean, boolean, boolean];
  readonly labels: boolean;
  /** Most fragments; a structure has one in each part that it touches. */
  readonly most: number;
}

/** The nodes of a part, with the columns that measure fragments. */
export interface MarkedBox {
  readonly columns: readonly Float64Array[];
  readonly weights: Float64Array | null;
  /** Factor of the weights; the weight of each node if these are null. */
  readonly cell: number;
  readonly from: Three;
  readonly shape: Three;
  readonly coordinates: readonly [Float64Array, Float64Array, Float64Array];
  readonly periods: Three;
}

/** The fragments of structures in one part. Plain data, which crosses threads. */
export interface PartFragments extends LeftOut {
  readonly from: Three;
  readonly shape: Three;
  /** A row of numbers for each fragment, in the order of their first nodes. */
  readonly rows: Float64Array;
  /** Marked nodes on the faces of the part, ascending, and their fragments. */
  readonly border: Int32Array;
  readonly borderFragments: Int32Array;
  /** The fragment of every node, -1 for none, if labels are requested. */
  readonly labels: Int32Array | null;
}

/** Offsets in a row: nodes, volume, two sums for the centre of each axis, moments, bounds, then four numbers a property. */
export const [NODES, VOLUME, CENTRE, FIRST, SECOND, LOW, HIGH, PROPERTIES] = [0, 1, 2, 8, 11, 17, 20, 23];

export const widthOf = (properties: number): number => PROPERTIES + 4 * properties;

/** Offsets of the neighbours of a node; `earlier` for those before it in the order of nodes, x fastest. */
export function neighboursOf(connectivity: 6 | 18 | 26, earlier: boolean): readonly Three[] {
  const reach = { 6: 1, 18: 2, 26: 3 }[connectivity];
  const near = [-1, 0, 1];
  return near
    .flatMap((z) => near.flatMap((y) => near.map((x) => [x, y, z] as const)))
    .filter(([x, y, z], i) => Math.abs(x) + Math.abs(y) + Math.abs(z) <= reach && (earlier ? i < 13 : i !== 13));
}

/** The root of a node in a union-find forest. Source: Tarjan, Journal of the ACM 22 (1975). */
function rootOf(parents: Int32Array, node: number): number {
  let at = node;
  while (parents[at] !== at) {
    parents[at] = parents[parents[at]];
    at = parents[at];
  }
  return at;
}

/**
 * Labels the connected sets of a box, without seams.
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
          if (marked[other] === 0) continue;
          const [i, j] = [rootOf(parents, at), rootOf(parents, other)];
          parents[Math.max(i, j)] = Math.min(i, j);
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
  const own = [values];
  const marked = new Uint8Array(values.length);
  const leftOut = { missing: 0, infinite: 0 };
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (isKnown(own, i, leftOut) && (side === "above" ? value > threshold : value < threshold)) marked[i] = 1;
  }
  const labels = labelBox(marked, box.shape, connectivity);
  const rows = measure(options, box, labels);
  const { from, shape } = box;
  return { from, shape, rows, ...borderOf(labels, shape), labels: options.labels ? labels : null, ...leftOut };
}

function borderOf(labels: Int32Array, [nx, ny, nz]: Three): Pick<PartFragments, "border" | "borderFragments"> {
  const isInside = (index: number, n: number): boolean => index > 0 && index < n - 1;
  const border = Int32Array.from(labels.keys()).filter((i) => {
    const row = Math.floor(i / nx);
    return labels[i] >= 0 && !(isInside(i % nx, nx) && isInside(row % ny, ny) && isInside(Math.floor(row / ny), nz));
  });
  return { border, borderFragments: border.map((i) => labels[i]) };
}

function measure({ properties }: StructureOptions, box: MarkedBox, labels: Int32Array): Float64Array {
  const width = widthOf(properties.length);
  const rows = new Float64Array(width * labels.reduce((most, label) => Math.max(most, label + 1), 0));
  const { shape, from, weights, cell } = box;
  const along = [0, 1, 2].map((a) => momentArms(box, a));
  for (let i = 0; i < labels.length; i++) {
    if (labels[i] < 0) continue;
    const at = labels[i] * width;
    const row = Math.floor(i / shape[0]);
    const place = [i % shape[0], row % shape[1], Math.floor(row / shape[1])];
    const volume = cell * (weights === null ? 1 : weights[i]);
    const isFirst = rows[at + NODES]++ === 0;
    rows[at + VOLUME] += volume;
    for (let a = 0, product = at + SECOND; a < 3; a++) {
      rows[at + CENTRE + 2 * a] += volume * along[a].first[place[a]];
      rows[at + CENTRE + 2 * a + 1] += volume * along[a].second[place[a]];
      const arm = volume * along[a].distances[place[a]];
      rows[at + FIRST + a] += arm;
      for (let b = a; b < 3; b++) rows[product++] += arm * along[b].distances[place[b]];
      const node = from[a] + place[a];
      rows[at + LOW + a] = isFirst ? node : Math.min(rows[at + LOW + a], node);
      rows[at + HIGH + a] = Math.max(rows[at + HIGH + a], node);
    }
    for (let p = 0; p < properties.length; p++)
      addProperty(rows, at + PROPERTIES + 4 * p, isFirst, volume, box.columns[properties[p]][i]);
  }
  return rows;
}

/** Adds the value of a node to a property: volume, integral, least and largest value. */
function addProperty(rows: Float64Array, at: number, isFirst: boolean, volume: number, value: number): void {
  if (isFirst) [rows[at + 2], rows[at + 3]] = [Infinity, -Infinity];
  if (!Number.isFinite(value)) return;
  rows[at] += volume;
  rows[at + 1] += volume * value;
  if (value < rows[at + 2]) rows[at + 2] = value;
  if (value > rows[at + 3]) rows[at + 3] = value;
}

/** Distances of nodes from the first one of the region, and their cosine and sine in the period, or places, for centres. */
function momentArms({ from, shape, coordinates, periods }: MarkedBox, a: number) {
  const places = coordinates[a].subarray(from[a], from[a] + shape[a]);
  const distances = places.map((place) => place - coordinates[a][0]);
  if (periods[a] === 0) return { distances, first: places, second: new Float64Array(shape[a]) };
  const turns = distances.map((distance) => (2 * Math.PI * distance) / periods[a]);
  return { distances, first: turns.map(Math.cos), second: turns.map(Math.sin) };
}
