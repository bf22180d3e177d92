/** Finds the lines on which a plane of values has a level: marching squares, with no line where values are missing. */
import type { Slice } from "../state/api.js";
import { coordinateOf, type SampleAxis } from "../state/plane-geometry.js";

/** The lines of one level. */
export interface ContourLines {
  readonly level: number;
  /** Ends of segments: across and up of the first, across and up of the second. */
  readonly segments: Float32Array;
}

/** The coordinate between two samples. */
function placeBetween(axis: SampleAxis, index: number): number {
  const low = Math.min(axis.count - 1, Math.floor(index));
  const [from, part] = [coordinateOf(axis, low), index - low];
  return part === 0 ? from : from + part * (coordinateOf(axis, low + 1) - from);
}

/**
 * Corners of a cell are counted from its lower left one around: 0, 1 right, 2 upper right, 3 up; an edge has the number
 * of its first corner. For each set of corners above the level, the edges that a line joins, in pairs.
 */
const JOINED: readonly (readonly number[])[] = [
  [],
  [3, 0],
  [0, 1],
  [3, 1],
  [1, 2],
  [3, 0, 1, 2],
  [0, 2],
  [3, 2],
  [2, 3],
  [2, 0],
  [0, 1, 2, 3],
  [2, 1],
  [1, 3],
  [1, 0],
  [0, 3],
  [],
];
/** The other way through the two saddles: that of a middle above the level. */
const SADDLES: Readonly<Record<number, readonly number[]>> = { 5: [3, 2, 1, 0], 10: [0, 3, 2, 1] };

/** The lines of a level, linear between samples. */
export function contourLines({ columns, rows, values }: Slice, level: number): ContourLines {
  const segments: number[] = [];
  const corner = [0, 0, 0, 0];
  for (let row = 0; row + 1 < rows.count; row++) {
    for (let column = 0; column + 1 < columns.count; column++) {
      const at = row * columns.count + column;
      corner[0] = values[at];
      corner[1] = values[at + 1];
      corner[2] = values[at + columns.count + 1];
      corner[3] = values[at + columns.count];
      const mean = (corner[0] + corner[1] + corner[2] + corner[3]) / 4;
      if (!Number.isFinite(mean)) continue;
      const set = corner.reduce((bits, value, i) => bits | (value > level ? 1 << i : 0), 0);
      const edges = (mean > level ? SADDLES[set] : undefined) ?? JOINED[set];
      for (const edge of edges) {
        const next = (edge + 1) % 4;
        const part = (level - corner[edge]) / (corner[next] - corner[edge]);
        const x = edge === 0 ? part : edge === 1 ? 1 : edge === 2 ? 1 - part : 0;
        const y = edge === 0 ? 0 : edge === 1 ? part : edge === 2 ? 1 : 1 - part;
        segments.push(placeBetween(columns, column + x), placeBetween(rows, row + y));
      }
    }
  }
  return { level, segments: Float32Array.from(segments) };
}
