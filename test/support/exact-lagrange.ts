/**
 * Interpolates and differentiates nodes by the textbook formulas on their true places, in float64, sharing no code with
 * the kernels.
 */

/** The nodes of an axis; a periodic one goes on beyond them. */
export interface Nodes {
  readonly coordinates: readonly number[];
  readonly period: number | null;
}

/** Weights by node; nodes of a periodic axis are counted from 0 to n - 1. */
export type Weights = ReadonlyMap<number, number>;

/** The coordinate of any node, that of a periodic axis on either side of its seam. */
function coordinateOf({ coordinates, period }: Nodes, node: number): number {
  const n = coordinates.length;
  const turns = Math.floor(node / n);
  return (coordinates[node - turns * n] as number) + turns * (period ?? 0);
}

/** `count` nodes from `first` on, slid inward where the axis ends. */
function run({ coordinates, period }: Nodes, first: number, count: number): number[] {
  const start = period === null ? Math.min(Math.max(first, 0), coordinates.length - count) : first;
  return Array.from({ length: count }, (_, k) => start + k);
}

/** The polynomial that is 1 on the node `own` and 0 on the others, at `at`. */
function basis(nodes: readonly number[], own: number, at: number): number {
  return nodes.reduce(
    (product, x, k) => (k === own ? product : (product * (at - x)) / ((nodes[own] as number) - x)),
    1,
  );
}

/** The derivative of that polynomial by the product rule. */
function basisSlope(nodes: readonly number[], own: number, at: number): number {
  return nodes.reduce((sum, x, k) => {
    if (k === own) return sum;
    const others = nodes.filter((_, m) => m !== k);
    return sum + basis(others, own < k ? own : own - 1, at) / ((nodes[own] as number) - x);
  }, 0);
}

function add(weights: Map<number, number>, { coordinates }: Nodes, node: number, weight: number): void {
  const n = coordinates.length;
  const wrapped = ((node % n) + n) % n;
  weights.set(wrapped, (weights.get(wrapped) ?? 0) + weight);
}

/** The stencil of `order` nodes about the cell of a point: its nodes, unwrapped, and their weights. */
function lagrange(axis: Nodes, at: number, order: number): [number, number][] {
  const n = axis.coordinates.length;
  let cell = axis.period === null ? 0 : -n;
  while (coordinateOf(axis, cell + 1) <= at && (axis.period !== null || cell < n - 2)) cell++;
  const stencil = run(axis, cell - order / 2 + 1, order);
  const places = stencil.map((node) => coordinateOf(axis, node));
  return stencil.map((node, k) => [node, basis(places, k, at)]);
}

/**
 * Weights of the polynomial of `order` nodes at a point between the first node and the last, or the first node's next
 * image.
 */
export function valueWeights(axis: Nodes, at: number, order: number): Weights {
  const weights = new Map<number, number>();
  for (const [node, weight] of lagrange(axis, at, order)) add(weights, axis, node, weight);
  return weights;
}

/**
 * Weights of the derivative: differences on five nodes about each node, interpolated by the polynomial of four nodes.
 */
export function slopeWeights(axis: Nodes, at: number): Weights {
  const weights = new Map<number, number>();
  for (const [node, weight] of lagrange(axis, at, 4)) {
    const stencil = run(axis, node - 2, 5);
    const places = stencil.map((other) => coordinateOf(axis, other));
    for (const [k, other] of stencil.entries())
      add(weights, axis, other, weight * basisSlope(places, k, coordinateOf(axis, node)));
  }
  return weights;
}

/** The sum over the nodes of three axes of the product of their weights and the value there. */
export function tensorSum(
  [x, y, z]: readonly [Weights, Weights, Weights],
  value: (x: number, y: number, z: number) => number,
): number {
  let sum = 0;
  for (const [k, wz] of z) for (const [j, wy] of y) for (const [i, wx] of x) sum += wx * wy * wz * value(i, j, k);
  return sum;
}
