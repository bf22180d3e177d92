/**
 * A sample grid is a plane or a box of equally spaced points through a dataset: the geometry of a slice or a volume.
 */

import { AXIS_NAMES, type Axis, type AxisName, type Dataset } from "../../engine/contract/dataset.js";
import { RequestError } from "../../shared/errors.js";
import type { TimeSlices } from "../http/policies/time-slices.js";
import { spanOf } from "./describe.js";
import { refuse } from "./parameters.js";
import { type AskedRegion, coordinateOf, isByNodes, lengthsIn, nodesIn } from "./region.js";
import type { TripleWriter } from "./triple-writer.js";

/** Equally spaced samples along an axis; the first is at `origin`. */
export interface SampleAxis {
  readonly axis: AxisName;
  readonly count: number;
  readonly origin: number;
  readonly spacing: number;
}

/** Three sample axes, the one that varies slowest first. */
export type SampleGrid = readonly [SampleAxis, SampleAxis, SampleAxis];

/**
 * Samples axes of a dataset: without counts and for a region by nodes those nodes; in the middles of equal intervals of
 * another region; without one all of an axis from its first node: a period without its end, or up to the last node.
 *
 * @param counts samples along each; one number for all; none for as many as an axis has nodes
 * @throws RequestError (Unsupported) for nodes of a region that are not evenly spaced
 */
function sampleAxes(
  dataset: Dataset,
  sides: readonly number[],
  counts: readonly number[],
  region: AskedRegion | undefined,
): readonly SampleAxis[] {
  const axes = sides.map((index) => dataset.axes[index as 0 | 1 | 2]);
  if (counts.length === 0 && isByNodes(region)) {
    return nodesIn(region, dataset, axes, sides).map(({ from, count, step }, i) => {
      const axis = AXIS_NAMES[sides[i] as number] as AxisName;
      const { coordinates, spacing } = axes[i] as Axis;
      if (coordinates === null)
        return { axis, count, origin: coordinateOf(axes[i] as Axis, from), spacing: step * spacing };
      const text = `region: nodes along ${axis} are not evenly spaced, and these samples are: give origin and extent, or ask for a cutout.`;
      throw new RequestError("Unsupported", text, { member: "region" });
    });
  }
  const part = lengthsIn(region, dataset, sides, false);
  if (part?.extent.some((length) => !(length > 0))) throw refuse("extent", "extent must be positive numbers.");
  return axes.map((axis, i) => {
    const count = counts[i] ?? counts[0] ?? axis.nodes;
    const name = AXIS_NAMES[sides[i] as number] as AxisName;
    const { first, length } = spanOf(axis);
    if (part !== null) {
      const spacing = (part.extent[i] as number) / count;
      return { axis: name, count, origin: (part.origin[i] as number) + spacing / 2, spacing };
    }
    const intervals = axis.periodic ? count : Math.max(1, count - 1);
    return { axis: name, count, origin: first, spacing: length / intervals };
  });
}

/**
 * Lays a plane at right angles to an axis; the later of the other two axes runs along the rows.
 *
 * @param counts samples along columns and rows; one number for both; none for the nodes of the dataset
 * @param region part of the plane, columns first; undefined for the whole plane
 */
export function layPlane(
  dataset: Dataset,
  axis: AxisName,
  at: number,
  counts: readonly number[],
  region: AskedRegion | undefined,
): SampleGrid {
  const normal = AXIS_NAMES.indexOf(axis);
  const sides = [0, 1, 2].filter((index) => index !== normal);
  const [columns, rows] = sampleAxes(dataset, sides, counts, region) as [SampleAxis, SampleAxis];
  return [{ axis, count: 1, origin: at, spacing: 0 }, rows, columns];
}

/**
 * Lays a box of samples, x fastest.
 *
 * @param counts samples along x, y and z; one number for all; none for the nodes of the dataset
 * @param region part of the domain; undefined for all of it
 */
export function layBox(dataset: Dataset, counts: readonly number[], region: AskedRegion | undefined): SampleGrid {
  const [x, y, z] = sampleAxes(dataset, [0, 1, 2], counts, region) as [SampleAxis, SampleAxis, SampleAxis];
  return [z, y, x];
}

/** Reads the numbers of samples: one whole number for all directions, or one for each of `most`, columns or x first. */
export function readCounts(text: string | undefined, most: number): readonly number[] {
  if (text === undefined) return [];
  const counts = text.split(",").map((part) => (/^\d+$/.test(part) ? Number(part) : 0));
  if ((counts.length !== 1 && counts.length !== most) || counts.some((count) => count < 1 || count > 65_536)) {
    throw refuse("nodes", `nodes must be one or ${most} whole numbers from 1 to 65536.`);
  }
  return counts;
}

/** The number of points of a grid. */
export function pointsOf([slow, middle, fast]: SampleGrid): number {
  return slow.count * middle.count * fast.count;
}

/** Writes the points of a grid, its last axis fastest, in slices of time. */
export async function writeGrid(grid: SampleGrid, writer: TripleWriter, slices: TimeSlices): Promise<void> {
  const some = new Float32Array(3 * TOGETHER);
  const write = (from: number, to: number): void => {
    fillPoints(grid, from, to, some);
    writer.addAll(some, to - from);
  };
  await slices.each(pointsOf(grid), write, TOGETHER);
  writer.flush();
}

/** Points that are written between two looks at the clock. */
const TOGETHER = 8192;

/** Puts the points `from .. to - 1` at the beginning of an array, row by row. */
function fillPoints(grid: SampleGrid, from: number, to: number, out: Float32Array): void {
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
