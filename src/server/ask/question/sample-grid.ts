/** Equally spaced points of a line, a plane or a box through a dataset. */
import { AXIS_NAMES, type AxisName } from "../../../engine/contract/dataset.js";

/** Equally spaced samples along an axis; the first is at `origin`. */
export interface SampleAxis {
  readonly axis: AxisName;
  readonly count: number;
  readonly origin: number;
  readonly spacing: number;
}

/** Three sample axes, the one that varies slowest first. */
export type SampleGrid = readonly [SampleAxis, SampleAxis, SampleAxis];

export function pointsOf([slow, middle, fast]: SampleGrid): number {
  return slow.count * middle.count * fast.count;
}

/** Writes points `from` to `to - 1` of a grid, the last axis fastest, to the beginning of an array. */
export function fillPoints(grid: SampleGrid, from: number, to: number, out: Float32Array): void {
  const [slow, middle, fast] = grid;
  const [a, b, c] = grid.map(({ axis }) => AXIS_NAMES.indexOf(axis)) as [number, number, number];
  for (let i = from; i < to; ) {
    const row = Math.floor(i / fast.count);
    const layer = Math.floor(row / middle.count);
    const end = Math.min(to, (row + 1) * fast.count);
    const [height, column] = [
      slow.origin + layer * slow.spacing,
      middle.origin + (row - layer * middle.count) * middle.spacing,
    ];
    for (let k = i - row * fast.count; i < end; i++, k++) {
      const at = 3 * (i - from);
      out[at + a] = height;
      out[at + b] = column;
      out[at + c] = fast.origin + k * fast.spacing;
    }
  }
}
