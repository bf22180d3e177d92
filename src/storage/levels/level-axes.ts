/** Axes of levels: cube j of level k holds the nodes 2^k j to min(2^k (j + 1), N) - 1 of an axis. */
import { type Axis, nodeAt, type Triple } from "../dataset/dataset.js";

/** Weights of the nodes along x, y, z. */
export type Widths = readonly [Float64Array, Float64Array, Float64Array];

/** Most cubes along the longest axis of the coarsest level. */
const MIN_CUBES = 8;

/** Cubes of a level along an axis. */
export const cubesOf = (nodes: number, level: number): number => Math.ceil(nodes / 2 ** level);

/** The coarsest level: the first with at most 8 cubes on every axis. */
export function coarsestLevel(axes: readonly Pick<Axis, "nodes">[]): number {
  let level = 0;
  while (axes.some(({ nodes }) => cubesOf(nodes, level) > MIN_CUBES)) level++;
  return level;
}

export const shapeOf = (nodes: Triple, level: number): Triple =>
  nodes.map((n) => cubesOf(n, level)) as unknown as Triple;

export const nodesOf = ({ axes }: { readonly axes: readonly Pick<Axis, "nodes">[] }): Triple =>
  axes.map(({ nodes }) => nodes) as unknown as Triple;

export function sumsOver(values: Float64Array, level: number): Float64Array {
  const sums = new Float64Array(cubesOf(values.length, level));
  for (let i = 0; i < values.length; i++) sums[Math.floor(i / 2 ** level)] += values[i];
  return sums;
}

/**
 * The axis of a level; a cube lies at sum(w x)/sum(w). It stays uniform and periodic if cubes divide the period; else
 * it is tabulated, with the faces of its cubes. @param widths weights of the nodes: the widths of their cells
 */
export function levelAxis(axis: Axis, widths: Float64Array, level: number): Axis {
  const { nodes, origin, spacing, periodic, coordinates } = axis;
  const edge = 2 ** level;
  if (level === 0 || nodes === 1) return axis;
  if (periodic && nodes % edge === 0)
    return {
      nodes: nodes / edge,
      origin: origin + ((edge - 1) * spacing) / 2,
      spacing: edge * spacing,
      periodic,
      coordinates,
    };
  const total = sumsOver(widths, level);
  const places = sumsOver(
    widths.map((w, i) => w * nodeAt(axis, i)),
    level,
  ).map((sum, j) => sum / total[j]);
  const start = axis.edges?.[0] ?? (periodic ? origin - spacing / 2 : origin - (axis.beyond?.[0] ?? 0));
  const edges = new Float64Array(places.length + 1).fill(start);
  for (let j = 0; j < places.length; j++) edges[j + 1] = edges[j] + total[j];
  let least = places.length === 1 ? total[0] : Number.POSITIVE_INFINITY;
  for (let j = 1; j < places.length; j++) least = Math.min(least, places[j] - places[j - 1]);
  return { nodes: places.length, origin: places[0], spacing: least, periodic: false, coordinates: places, edges };
}
