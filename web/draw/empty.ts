/** Distances between blocks without surface, by which rays skip empty space. */
import type { Samples } from "../state/volumes.js";

const BLOCK = 4;
const MOST = 40;

export interface EmptySpace {
  readonly dims: readonly [number, number, number];
  /** Blocks to the nearest block with surface, at most 40. */
  readonly distance: Uint8Array;
}

/** Distances of blocks for a level. `side`: 1 if values above the level are inside, -1 if values below it are. */
export function emptySpace({ dims, data }: Samples, level: number, side: 1 | -1, wrap: readonly boolean[]): EmptySpace {
  const blocks = dims.map((n) => Math.ceil(n / BLOCK)) as [number, number, number];
  const [bx, by, bz] = blocks;
  const [nx, ny, nz] = dims;
  const inside = new Uint8Array(bx * by * bz);
  for (let k = 0; k < nz; k++) {
    for (let j = 0; j < ny; j++) {
      const row = nx * (j + ny * k);
      for (let i = 0; i < nx; i++) if (side * (data[row + i] - level) > 0) mark(i, j, k);
    }
  }
  function mark(i: number, j: number, k: number): void {
    inside[(i >> 2) + bx * ((j >> 2) + by * (k >> 2))] = 1;
    // The surface may also lie between this sample and the block before it.
    const [a, b, c] = [i & 3, j & 3, k & 3];
    if (a !== 0 && b !== 0 && c !== 0) return;
    const before = (index: number, n: number, around: boolean) => (index > 0 ? index - 1 : around ? n - 1 : 0);
    const [p, q, r] = [before(i, nx, wrap[0]) >> 2, before(j, ny, wrap[1]) >> 2, before(k, nz, wrap[2]) >> 2];
    for (const x of a === 0 ? [i >> 2, p] : [i >> 2])
      for (const y of b === 0 ? [j >> 2, q] : [j >> 2])
        for (const z of c === 0 ? [k >> 2, r] : [k >> 2]) inside[x + bx * (y + by * z)] = 1;
  }
  const distance = new Uint8Array(inside.length).fill(MOST);
  let front: number[] = [];
  for (let i = 0; i < inside.length; i++)
    if (inside[i] === 1) {
      distance[i] = 0;
      front.push(i);
    }
  // Distances are the largest along the axes: the front grows by one block in all directions a step.
  for (let step = 1; front.length > 0 && step < MOST; step++) {
    const next: number[] = [];
    for (const at of front)
      eachNeighbour(at, blocks, wrap, (to) => {
        if (distance[to] !== MOST) return;
        distance[to] = step;
        next.push(to);
      });
    front = next;
  }
  return { dims: blocks, distance };
}

/** Visits an element of a box, [z][y][x], and those that touch it, across seams too. */
export function eachNeighbour(
  at: number,
  [nx, ny, nz]: readonly number[],
  wrap: readonly boolean[],
  visit: (to: number) => void,
): void {
  const [i, j, k] = [at % nx, Math.floor(at / nx) % ny, Math.floor(at / (nx * ny))];
  for (let n = 0; n < 27; n++) {
    const x = around(i + (n % 3) - 1, nx, wrap[0]);
    const y = around(j + (Math.floor(n / 3) % 3) - 1, ny, wrap[1]);
    const z = around(k + Math.floor(n / 9) - 1, nz, wrap[2]);
    if (Math.min(x, y, z) >= 0) visit(x + nx * (y + ny * z));
  }
}

function around(at: number, n: number, wrap: boolean): number {
  if (at >= 0 && at < n) return at;
  return wrap ? (at + n) % n : -1;
}
