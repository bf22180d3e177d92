/**
 * This file extracts an isosurface from samples on a box by marching cubes, with shared vertices and smooth normals.
 *
 * Source: Lorensen and Cline, SIGGRAPH 1987, with the published table of 256 cases as three.js keeps it.
 */
import { edgeTable, triTable } from "three/examples/jsm/objects/MarchingCubes.js";

/** Samples of a scalar on a box, x fastest, with the place of the first one and their distances. */
export interface BoxSamples {
  readonly counts: readonly [number, number, number];
  readonly origin: readonly [number, number, number];
  readonly spacing: readonly [number, number, number];
  readonly values: Float32Array;
}

export interface Surface {
  /** x, y, z of each vertex. */
  readonly positions: Float32Array;
  /** Unit vectors towards smaller values. */
  readonly normals: Float32Array;
  /** The second scalar at each vertex; empty without one. */
  readonly tints: Float32Array;
  /** Three vertices a triangle. */
  readonly indices: Uint32Array;
}

/** Corners of a cell in the order of the table, as steps along x, y and z. */
const CORNERS = [
  [0, 0, 0],
  [1, 0, 0],
  [0, 1, 0],
  [1, 1, 0],
  [0, 0, 1],
  [1, 0, 1],
  [0, 1, 1],
  [1, 1, 1],
] as const;

/** Edges of a cell in the order of the table: the lower corner of each, and the axis along which it runs. */
const EDGES = [
  [0, 0],
  [1, 1],
  [2, 0],
  [0, 1],
  [4, 0],
  [5, 1],
  [6, 0],
  [4, 1],
  [0, 2],
  [1, 2],
  [3, 2],
  [2, 2],
] as const;

/** Bits of the corners in an index of the table, which counts around the faces. */
const BITS = [1, 2, 8, 4, 16, 32, 128, 64] as const;

/** The corners 1, 3, 5 and 7, which are the corners 0, 2, 4 and 6 of the next cell along x. */
const RIGHT = BITS[1] | BITS[3] | BITS[5] | BITS[7];

/**
 * The bits of the left corners, where the right ones of the cell before become them: 2 to 1, 4 to 8, 32 to 16, 64 to
 * 128.
 */
function leftOf(right: number): number {
  return ((right & 2) >> 1) | ((right & 4) << 1) | ((right & 32) >> 1) | ((right & 64) << 1);
}

/** A list of numbers that grows. */
class Growing<T extends Float32Array | Uint32Array> {
  #array: T;
  length = 0;

  constructor(array: T) {
    this.#array = array;
  }

  push(a: number): void {
    if (this.length === this.#array.length) this.#grow();
    this.#array[this.length++] = a;
  }

  push3(a: number, b: number, c: number): void {
    if (this.length + 3 > this.#array.length) this.#grow();
    this.#array[this.length] = a;
    this.#array[this.length + 1] = b;
    this.#array[this.length + 2] = c;
    this.length += 3;
  }

  #grow(): void {
    const Array_ = this.#array.constructor as new (length: number) => T;
    const larger = new Array_(2 * this.#array.length);
    larger.set(this.#array);
    this.#array = larger;
  }

  take(): T {
    return this.#array.slice(0, this.length) as T;
  }
}

/** The vertices of a surface; cells that share an edge share its vertex. */
class Vertices {
  readonly positions = new Growing(new Float32Array(3 * 4096));
  readonly normals = new Growing(new Float32Array(3 * 4096));
  readonly tints = new Growing(new Float32Array(4096));
  readonly #samples: BoxSamples;
  readonly #level: number;
  readonly #tint: Float32Array | null;
  readonly #steps: readonly [number, number, number];
  /** Vertices on the edges that begin at a sample, one table for each axis, of this layer and the next. */
  readonly #kept: readonly Int32Array[];
  readonly #place = new Float64Array(3);

  constructor(samples: BoxSamples, level: number, tint: Float32Array | null) {
    const [nx, ny] = samples.counts;
    this.#samples = samples;
    this.#level = level;
    this.#tint = tint;
    this.#steps = [1, nx, nx * ny];
    this.#kept = [0, 1, 2].map(() => new Int32Array(2 * nx * ny).fill(-1));
  }

  /** Begins a layer of cells: the samples behind it take the place of those before it. */
  beginLayer(z: number): void {
    const layer = this.#steps[2];
    const from = ((z + 1) & 1) * layer;
    for (const table of this.#kept) table.fill(-1, from, from + layer);
  }

  /** The number of the vertex on an edge of the cell that begins at x, y, z. */
  on(x: number, y: number, z: number, edge: number): number {
    const [corner, axis] = EDGES[edge];
    const [cx, cy, cz] = CORNERS[corner];
    const [i, j, k] = [x + cx, y + cy, z + cz];
    const [, rows, layers] = this.#steps;
    const entry = (k & 1) * layers + j * rows + i;
    const known = this.#kept[axis][entry];
    if (known >= 0) return known;
    const number = this.positions.length / 3;
    this.#add(i, j, k, axis);
    this.#kept[axis][entry] = number;
    return number;
  }

  #add(i: number, j: number, k: number, axis: 0 | 1 | 2): void {
    const { origin, spacing, values } = this.#samples;
    const [, rows, layers] = this.#steps;
    const a = i + rows * j + layers * k;
    const b = a + this.#steps[axis];
    const t = (this.#level - values[a]) / (values[b] - values[a]);
    const place = this.#place;
    place[0] = i;
    place[1] = j;
    place[2] = k;
    place[axis] += t;
    this.positions.push3(
      origin[0] + place[0] * spacing[0],
      origin[1] + place[1] * spacing[1],
      origin[2] + place[2] * spacing[2],
    );
    const [di, dj, dk] = [axis === 0 ? 1 : 0, axis === 1 ? 1 : 0, axis === 2 ? 1 : 0];
    const gx = (this.#slope(a, 0, i) * (1 - t) + this.#slope(b, 0, i + di) * t) / spacing[0];
    const gy = (this.#slope(a, 1, j) * (1 - t) + this.#slope(b, 1, j + dj) * t) / spacing[1];
    const gz = (this.#slope(a, 2, k) * (1 - t) + this.#slope(b, 2, k + dk) * t) / spacing[2];
    const length = -Math.hypot(gx, gy, gz) || -1;
    this.normals.push3(gx / length, gy / length, gz / length);
    if (this.#tint !== null) this.tints.push(this.#tint[a] * (1 - t) + this.#tint[b] * t);
  }

  /** Difference of the two neighbours of a sample along an axis, for each step. */
  #slope(at: number, axis: 0 | 1 | 2, index: number): number {
    const { counts, values } = this.#samples;
    const step = this.#steps[axis];
    const low = index > 0 ? at - step : at;
    const high = index < counts[axis] - 1 ? at + step : at;
    return (values[high] - values[low]) / Math.max(1, (high - low) / step);
  }
}

/** Extracts the surface where the samples cross a level; cells with a missing sample are left open. */
export function marchingCubes(samples: BoxSamples, level: number, tint: Float32Array | null): Surface {
  const { counts, values } = samples;
  const [nx, ny, nz] = counts;
  const offsets = CORNERS.map(([x, y, z]) => x + y * nx + z * nx * ny);
  const vertices = new Vertices(samples, level, tint);
  const indices = new Growing(new Uint32Array(3 * 8192));
  for (let z = 0; z < nz - 1; z++) {
    vertices.beginLayer(z);
    for (let y = 0; y < ny - 1; y++) {
      const row = nx * (y + ny * z);
      let right = 0;
      for (const c of [0, 2, 4, 6]) if (values[row + offsets[c]] < level) right |= BITS[c + 1];
      for (let x = 0; x < nx - 1; x++) {
        const at = row + x;
        let cell = leftOf(right);
        for (const c of [1, 3, 5, 7]) if (values[at + offsets[c]] < level) cell |= BITS[c];
        right = cell & RIGHT;
        if (edgeTable[cell] === 0) continue;
        let sum = 0;
        for (let c = 0; c < 8; c++) sum += values[at + offsets[c]];
        if (Number.isNaN(sum)) continue;
        for (let t = 16 * cell; triTable[t] !== -1; t += 3) {
          const [p, q, r] = [triTable[t], triTable[t + 1], triTable[t + 2]];
          indices.push3(vertices.on(x, y, z, p), vertices.on(x, y, z, q), vertices.on(x, y, z, r));
        }
      }
    }
  }
  return {
    positions: vertices.positions.take(),
    normals: vertices.normals.take(),
    tints: vertices.tints.take(),
    indices: indices.take(),
  };
}
