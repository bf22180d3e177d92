/**
 * This file extracts an isosurface from samples on a box by marching cubes, with shared vertices and smooth normals.
 *
 * Source: Lorensen and Cline, SIGGRAPH 1987, with the published table of 256 cases as three.js keeps it.
 */
import { edgeTable, triTable } from "three/examples/jsm/objects/MarchingCubes.js";

/** Samples of a scalar on a box, x fastest. */
export interface BoxSamples {
  readonly counts: readonly [number, number, number];
  readonly values: Float32Array;
}

export interface Surface {
  /** x, y, z of each vertex in samples from the first one. */
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

/** A list of numbers that grows. */
class Growing<T extends Float32Array | Uint32Array> {
  #array: T;
  length = 0;

  constructor(array: T) {
    this.#array = array;
  }

  push3(a: number, b: number, c: number): void {
    if (this.length + 3 > this.#array.length) {
      const Array_ = this.#array.constructor as new (length: number) => T;
      const larger = new Array_(2 * this.#array.length);
      larger.set(this.#array);
      this.#array = larger;
    }
    this.#array[this.length] = a;
    this.#array[this.length + 1] = b;
    this.#array[this.length + 2] = c;
    this.length += 3;
  }

  take(): T {
    return this.#array.slice(0, this.length) as T;
  }
}

/** Extracts the surface where the samples cross a level; cells with a missing sample are left open. */
export function marchingCubes({ counts, values }: BoxSamples, level: number, tint: Float32Array | null): Surface {
  const [nx, ny, nz] = counts;
  const steps = [1, nx, nx * ny] as const;
  const offsets = CORNERS.map(([x, y, z]) => x + y * nx + z * nx * ny);
  const positions = new Growing(new Float32Array(3 * 4096));
  const normals = new Growing(new Float32Array(3 * 4096));
  const indices = new Growing(new Uint32Array(3 * 8192));
  const tints: number[] = [];
  /** Vertices on the edges that begin at a sample, one table for each axis, of this layer and the next. */
  const kept = [0, 1, 2].map(() => new Int32Array(2 * nx * ny).fill(-1));
  const place = new Float64Array(3);

  const slope = (at: number, axis: 0 | 1 | 2, index: number): number => {
    const step = steps[axis];
    const low = index > 0 ? at - step : at;
    const high = index < counts[axis] - 1 ? at + step : at;
    return (values[high] - values[low]) / Math.max(1, (high - low) / step);
  };

  const vertex = (x: number, y: number, z: number, edge: number): number => {
    const [corner, axis] = EDGES[edge];
    const [cx, cy, cz] = CORNERS[corner];
    const [i, j, k] = [x + cx, y + cy, z + cz];
    const slot = ((k & 1) * ny + j) * nx + i;
    const known = kept[axis][slot];
    if (known >= 0) return known;
    const a = i + nx * (j + ny * k);
    const b = a + steps[axis];
    const t = (level - values[a]) / (values[b] - values[a]);
    place[0] = i;
    place[1] = j;
    place[2] = k;
    place[axis] += t;
    const number = positions.length / 3;
    positions.push3(place[0], place[1], place[2]);
    const [di, dj, dk] = [axis === 0 ? 1 : 0, axis === 1 ? 1 : 0, axis === 2 ? 1 : 0];
    const gx = slope(a, 0, i) * (1 - t) + slope(b, 0, i + di) * t;
    const gy = slope(a, 1, j) * (1 - t) + slope(b, 1, j + dj) * t;
    const gz = slope(a, 2, k) * (1 - t) + slope(b, 2, k + dk) * t;
    const length = -Math.hypot(gx, gy, gz) || -1;
    normals.push3(gx / length, gy / length, gz / length);
    if (tint !== null) tints.push(tint[a] * (1 - t) + tint[b] * t);
    kept[axis][slot] = number;
    return number;
  };

  for (let z = 0; z < nz - 1; z++) {
    // The layer above takes the place of the one below.
    for (const table of kept) {
      const from = ((z + 1) & 1) * nx * ny;
      table.fill(-1, from, from + nx * ny);
    }
    for (let y = 0; y < ny - 1; y++) {
      for (let x = 0; x < nx - 1; x++) {
        const at = x + nx * (y + ny * z);
        let cell = 0;
        let sum = 0;
        for (let c = 0; c < 8; c++) {
          const value = values[at + offsets[c]];
          sum += value;
          if (value < level) cell |= BITS[c];
        }
        if (edgeTable[cell] === 0 || Number.isNaN(sum)) continue;
        for (let t = 16 * cell; triTable[t] !== -1; t += 3) {
          const [p, q, r] = [triTable[t], triTable[t + 1], triTable[t + 2]];
          indices.push3(vertex(x, y, z, p), vertex(x, y, z, q), vertex(x, y, z, r));
        }
      }
    }
  }
  return {
    positions: positions.take(),
    normals: normals.take(),
    tints: Float32Array.from(tints),
    indices: indices.take(),
  };
}
