/** Widths of the cells of an axis, which are the weights of its nodes. */
import type { Axis } from "./types.js";

/**
 * The distance between the two faces of each node: those stated as edges, else the middles between neighbours. The end
 * faces are the ends of the domain: half a cell at end nodes that lie on them, a whole one where the domain goes on for
 * half a spacing. The node of an axis of one node without edges is a spacing wide.
 */
export function cellWidths({
  nodes,
  origin,
  spacing,
  periodic,
  coordinates,
  edges,
  beyond = [0, 0],
}: Axis): Float64Array {
  if (edges !== undefined) return Float64Array.from({ length: nodes }, (_, i) => edges[i + 1] - edges[i]);
  if (periodic || nodes === 1) return new Float64Array(nodes).fill(spacing);
  const at = (i: number): number => coordinates?.[i] ?? origin + i * spacing;
  const gap = (i: number): number => (coordinates === null ? spacing : at(i + 1) - at(i)) / 2;
  return Float64Array.from({ length: nodes }, (_, i) => {
    const [before, behind] = [i === 0 ? beyond[0] : gap(i - 1), i === nodes - 1 ? beyond[1] : gap(i)];
    return before + behind;
  });
}
