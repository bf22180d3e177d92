/** Grids and analytic fields for the kernel tests. */
import { METHODS, type PointQuantity } from "../../src/kernels/table.js";
import type { Axes, Axis, BrickField, Bricking, Scheme, Triple } from "../../src/kernels/types.js";

export function methodsOf(quantity: PointQuantity): readonly string[] {
  const kind = quantity === "value" ? "lagrange" : "difference";
  return [...METHODS].flatMap(([name, method]) => (method.kind === kind ? [name] : []));
}

export type Analytic = (x: number, y: number, z: number) => readonly number[];

export function periodicAxis(nodes: number, length = 2 * Math.PI, origin = 0): Axis {
  return { nodes, origin, spacing: length / nodes, periodic: true, coordinates: null };
}

export function endedAxis(nodes: number, length: number, origin = 0): Axis {
  return { nodes, origin, spacing: length / (nodes - 1), periodic: false, coordinates: null };
}

export function tabulatedAxis(coordinates: readonly number[]): Axis {
  const gaps = coordinates.slice(1).map((y, i) => y - (coordinates[i] as number));
  return {
    nodes: coordinates.length,
    origin: coordinates[0] as number,
    spacing: Math.min(...gaps),
    periodic: false,
    coordinates: Float64Array.from(coordinates),
  };
}

/** Nodes -cos(pi j / (nodes - 1)): clustered at both ends of -1 .. 1. */
export function cosineAxis(nodes: number): Axis {
  return tabulatedAxis(Array.from({ length: nodes }, (_, j) => -Math.cos((Math.PI * j) / (nodes - 1))));
}

/** first, first + steps[0], first + steps[0] + steps[1], ... */
export function runningSum(first: number, steps: readonly number[]): number[] {
  const sums = [first];
  for (const step of steps) sums.push((sums.at(-1) as number) + step);
  return sums;
}

export function nodeAt(axis: Axis, i: number): number {
  return axis.coordinates === null ? axis.origin + i * axis.spacing : (axis.coordinates[i] as number);
}

export function brickingOf(axes: Axes, edge: Triple = [axes[0].nodes, axes[1].nodes, axes[2].nodes]): Bricking {
  const [x, y, z] = axes.map((axis, a) => Math.ceil(axis.nodes / (edge[a] as number))) as [number, number, number];
  return { edge, count: [x, y, z] };
}

/**
 * A field in bricks, float64, from values by node index. Surplus nodes of bricks at the far faces are NaN; the bricks
 * are stored in reverse order so that an offset confused with an index shows.
 */
export function fieldByNode(
  axes: Axes,
  components: number,
  value: (i: number, j: number, k: number, c: number) => number,
  edge?: Triple,
): BrickField {
  const bricking = brickingOf(axes, edge);
  const [ex, ey, ez] = bricking.edge;
  const [cx, cy, cz] = bricking.count;
  const size = ex * ey * ez * components;
  const bricks = cx * cy * cz;
  const data = new Float64Array(bricks * size).fill(Number.NaN);
  const table = Int32Array.from({ length: bricks }, (_, b) => (bricks - 1 - b) * size);
  for (let k = 0; k < axes[2].nodes; k++) {
    for (let j = 0; j < axes[1].nodes; j++) {
      for (let i = 0; i < axes[0].nodes; i++) {
        const [bx, by, bz] = [Math.floor(i / ex), Math.floor(j / ey), Math.floor(k / ez)];
        const at = table[(bz * cy + by) * cx + bx] as number;
        const node = ((k - bz * ez) * ey + (j - by * ey)) * ex + (i - bx * ex);
        for (let c = 0; c < components; c++) data[at + node * components + c] = value(i, j, k, c);
      }
    }
  }
  return { components, bricking, data, table };
}

/** A field in bricks, float64, sampled from a function at the nodes. */
export function fieldOf(axes: Axes, components: number, f: Analytic, edge?: Triple): BrickField {
  const [x, y, z] = axes;
  return fieldByNode(axes, components, (i, j, k, c) => f(nodeAt(x, i), nodeAt(y, j), nodeAt(z, k))[c] as number, edge);
}

export const rough = (i: number, j: number, k: number, c: number) =>
  Math.sin(12.9898 * i + 78.233 * j + 37.719 * k + 3 * c * c);

/** Points all over a grid, some on its first and last nodes, and beyond the ends of periodic axes. */
export function scatter(axes: Axes, count: number): Triple[] {
  return Array.from({ length: count }, (_, n) => {
    const [x, y, z] = axes.map((axis, a) => {
      const start = nodeAt(axis, 0);
      const length = nodeAt(axis, axis.nodes - 1) - start;
      const share = Math.abs(Math.sin((3 + a) * (n + 1)));
      if (n % 7 === 0) return start + (n % 2) * length;
      return start + (axis.periodic ? 6 * share - 3 : share) * length;
    }) as [number, number, number];
    return [x, y, z];
  });
}

export function valuesAt(scheme: Scheme, fields: readonly BrickField[], points: readonly Triple[]): number[][] {
  const out = new Float64Array(points.length * scheme.components).fill(12345);
  scheme.evaluate(fields, Float64Array.from(points.flat()), 0, points.length, out);
  return points.map((_, i) => [...out.subarray(i * scheme.components, (i + 1) * scheme.components)]);
}

/** The 16^3 field of the published test vectors and its point (1, 2, 3). */
export const T16 = {
  axes: [periodicAxis(16), periodicAxis(16), periodicAxis(16)] as Axes,
  point: [1, 2, 3] as Triple,
  velocity: (x: number, y: number, z: number) => [
    Math.sin(x) * Math.cos(2 * y) * Math.cos(z) + 0.5,
    Math.cos(x) * Math.sin(y) * Math.cos(2 * z) - 0.25,
    0.3 * Math.sin(2 * x) * Math.sin(y) + Math.cos(z),
  ],
  pressure: (x: number, y: number, z: number) => [
    Math.cos(x) * Math.sin(y) * Math.cos(z) + 0.1 * Math.sin(2 * x) * Math.cos(2 * y),
  ],
};
