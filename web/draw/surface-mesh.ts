/** Isosurface of equally spaced samples, by surface nets (Gibson 1998): one vertex per cell, one quad per edge. */
import type { Samples } from "../state/volumes.js";

export interface Mesh {
  readonly positions: Float64Array;
  readonly normals: Float32Array;
  readonly triangles: Uint32Array;
}

/** Corners of a cell as bits x, y, z, and its edges between corners. */
const EDGES = Array.from({ length: 8 }, (_, a) =>
  [1, 2, 4].flatMap((bit) => (a & bit ? [] : [[a, a | bit] as const])),
).flat();

/**
 * The mesh of the surface where samples cross a level. Cells with a missing corner have none. It ends at the faces of the
 * box of samples; with `wrap` it begins in the first cells and ends in their images a period later, and seams are left
 * open. @param side 1 if values above the level are inside, -1 if values below it are
 */
export function surfaceMesh(
  { dims, first, spacing, data }: Samples,
  level: number,
  side: 1 | -1,
  wrap: readonly boolean[],
): Mesh {
  const [nx, ny, nz] = dims;
  const cells = dims.map((n, a) => (n === 1 ? 0 : wrap[a] ? n + 1 : n - 1)) as [number, number, number];
  const [cx, cy, cz] = cells;
  /** Number of the vertex of a cell, from 1; 0 before it is made, -1 if there is none. */
  const vertexOf = new Int32Array(cx * cy * cz);
  const positions: number[] = [];
  const normals: number[] = [];
  const values = new Float64Array(8);
  const valueAt = (i: number, j: number, k: number) =>
    side * (data[(i % nx) + nx * ((j % ny) + ny * (k % nz))] - level);
  const makeVertex = (cell: readonly number[]): number => {
    const [i, j, k] = cell;
    for (let c = 0; c < 8; c++) values[c] = valueAt(i + (c & 1), j + ((c >> 1) & 1), k + (c >> 2));
    if (values.some(Number.isNaN)) return -1;
    const sum = [0, 0, 0];
    let crossings = 0;
    const slope = [0, 0, 0];
    for (const [a, b] of EDGES) {
      slope[Math.log2(a ^ b)] += values[b] - values[a];
      if (values[a] > 0 === values[b] > 0) continue;
      const part = values[a] / (values[a] - values[b]);
      crossings++;
      for (let axis = 0; axis < 3; axis++) {
        const [p, q] = [(a >> axis) & 1, (b >> axis) & 1];
        sum[axis] += p + part * (q - p);
      }
    }
    for (let axis = 0; axis < 3; axis++) slope[axis] /= -4 * spacing[axis];
    const size = Math.hypot(...slope) || 1;
    for (let axis = 0; axis < 3; axis++) {
      positions.push(first[axis] + spacing[axis] * (cell[axis] + sum[axis] / crossings));
      normals.push(slope[axis] / size);
    }
    return positions.length / 3;
  };
  const vertexAt = (cell: readonly number[]): number => {
    const at = cell[0] + cx * (cell[1] + cy * cell[2]);
    vertexOf[at] ||= makeVertex(cell);
    return vertexOf[at] - 1;
  };
  const triangles: number[] = [];
  for (let axis = 0; axis < 3; axis++) {
    const [b, c] = [(axis + 1) % 3, (axis + 2) % 3];
    const edges = wrap[axis] ? dims[axis] : cells[axis];
    const place = [0, 0, 0];
    for (place[2] = 0; place[2] < cz; place[2]++)
      for (place[1] = 0; place[1] < cy; place[1]++)
        for (place[0] = 0; place[0] < cx; place[0]++) {
          if (place[axis] >= edges || place[b] === 0 || place[c] === 0) continue;
          const [i, j, k] = place;
          const here = valueAt(i, j, k) > 0;
          const step = [0, 0, 0];
          step[axis] = 1;
          if (here === valueAt(i + step[0], j + step[1], k + step[2]) > 0) continue;
          const quad = [0, 1, 3, 2].map((corner) => {
            const cell = [...place];
            cell[b] -= corner & 1;
            cell[c] -= corner >> 1;
            return vertexAt(cell);
          });
          if (quad.some((one) => one < 0)) continue;
          const [p, q, r, s] = here ? quad : quad.toReversed();
          triangles.push(p, q, r, p, r, s);
        }
  }
  return {
    positions: Float64Array.from(positions),
    normals: Float32Array.from(normals),
    triangles: Uint32Array.from(triangles),
  };
}
