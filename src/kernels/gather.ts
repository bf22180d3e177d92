/** Copies boxes of nodes out of bricks, over the seam of periodic axes. */
import { wrap } from "./stencil.js";
import type { Axes, BrickReader, Triple } from "./types.js";

/** A box of nodes: the first one along each axis, which may lie outside a periodic axis, and how many. */
export interface NodeBox {
  readonly first: Triple;
  readonly count: Triple;
}

/** Part of a box along one axis that lies in one brick. */
interface Run {
  readonly brick: number;
  /** First node within the brick, first node within the box, and how many. */
  readonly from: number;
  readonly to: number;
  readonly length: number;
}

/** Cuts `count` nodes of an axis from `first` on at brick faces and at the seam. */
function runsOf(nodes: number, edge: number, first: number, count: number): Run[] {
  const runs: Run[] = [];
  for (let at = 0; at < count; ) {
    const node = wrap(first + at, nodes);
    const brick = Math.floor(node / edge);
    const from = node - brick * edge;
    const length = Math.min(count - at, edge - from, nodes - node);
    runs.push({ brick, from, to: at, length });
    at += length;
  }
  return runs;
}

/** Whether a box lies inside the axes that are not periodic. */
export function boxInside(axes: Axes, { first, count }: NodeBox): boolean {
  return axes.every(({ periodic, nodes }, a) => periodic || (first[a] >= 0 && first[a] + count[a] <= nodes));
}

/**
 * Overwrites `out` with the nodes of a box of one frame in the layout [z][y][x][component].
 *
 * @param box inside the axes that are not periodic
 */
export function gatherBox(
  reader: BrickReader,
  axes: Axes,
  frame: number,
  { first, count }: NodeBox,
  out: Float32Array,
): void {
  const { components, bricking } = reader;
  const { edge, count: bricks } = bricking;
  const [xs, ys, zs] = axes.map((axis, a) => runsOf(axis.nodes, edge[a], first[a], count[a]));
  const row = edge[0] * components;
  const plane = edge[1] * row;
  for (const z of zs) {
    for (const y of ys) {
      for (const x of xs) {
        reader.visit(frame, (z.brick * bricks[1] + y.brick) * bricks[0] + x.brick, (data, offset) => {
          for (let k = 0; k < z.length; k++) {
            for (let j = 0; j < y.length; j++) {
              const from = offset + (z.from + k) * plane + (y.from + j) * row + x.from * components;
              const to = (((z.to + k) * count[1] + y.to + j) * count[0] + x.to) * components;
              const length = x.length * components;
              for (let i = 0; i < length; i++) out[to + i] = data[from + i];
            }
          }
        });
      }
    }
  }
}
