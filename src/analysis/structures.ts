/** Finds connected sets of marked nodes, across the seams of periodic axes, by union-find. */

export type Connectivity = 6 | 18 | 26;

/** Offsets of the neighbours that come before a node, if nodes are numbered with x fastest. */
function earlierNeighbours(connectivity: Connectivity): readonly (readonly [number, number, number])[] {
  const reach = { 6: 1, 18: 2, 26: 3 }[connectivity];
  const offsets: [number, number, number][] = [];
  for (let z = -1; z <= 0; z++)
    for (let y = -1; y <= 1; y++)
      for (let x = -1; x <= 1; x++) {
        const earlier = z < 0 || (z === 0 && (y < 0 || (y === 0 && x < 0)));
        if (earlier && Math.abs(x) + Math.abs(y) + Math.abs(z) <= reach) offsets.push([x, y, z]);
      }
  return offsets;
}

function rootOf(parents: Int32Array, node: number): number {
  let at = node;
  while (parents[at] !== at) {
    parents[at] = parents[parents[at]];
    at = parents[at];
  }
  return at;
}

/**
 * Labels the connected sets of marked nodes.
 *
 * @param marked   1 for each node of a structure, x fastest
 * @param shape    nodes along x, y, z
 * @param periodic whether each axis wraps
 * @returns for each node the smallest node of its structure, or -1; the same whatever the order of the unions
 */
export function labelStructures(
  marked: Uint8Array,
  shape: readonly [number, number, number],
  periodic: readonly [boolean, boolean, boolean],
  connectivity: Connectivity,
): Int32Array {
  const [nx, ny, nz] = shape;
  const parents = new Int32Array(marked.length);
  for (let i = 0; i < parents.length; i++) parents[i] = marked[i] === 1 ? i : -1;
  const neighbours = earlierNeighbours(connectivity);
  const wrap = (index: number, axis: 0 | 1 | 2): number => {
    if (index >= 0 && index < shape[axis]) return index;
    return periodic[axis] ? (index + shape[axis]) % shape[axis] : -1;
  };
  for (let z = 0, at = 0; z < nz; z++)
    for (let y = 0; y < ny; y++)
      for (let x = 0; x < nx; x++, at++) {
        if (marked[at] !== 1) continue;
        for (const [dx, dy, dz] of neighbours) {
          const [i, j, k] = [wrap(x + dx, 0), wrap(y + dy, 1), wrap(z + dz, 2)];
          if (i < 0 || j < 0 || k < 0) continue;
          const other = (k * ny + j) * nx + i;
          if (marked[other] !== 1) continue;
          const [a, b] = [rootOf(parents, at), rootOf(parents, other)];
          parents[Math.max(a, b)] = Math.min(a, b);
        }
      }
  for (let i = 0; i < parents.length; i++) if (parents[i] >= 0) parents[i] = rootOf(parents, i);
  return parents;
}
