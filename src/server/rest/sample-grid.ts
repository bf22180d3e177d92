/**
 * A sample grid is a plane or a box of equally spaced points through a dataset: the geometry of a slice or a volume.
 */

import { AXIS_NAMES, type AxisName, type Dataset } from "../../engine/contract/dataset.js";
import { readFiniteFloat } from "../http/read-number.js";
import type { TimeSlices } from "../life/event-loop.js";
import type { TripleWriter } from "./answer/triple-writer.js";
import { spanOf } from "./describe.js";
import { refuse } from "./parameters.js";

/** Equally spaced samples along an axis; the first is at `origin`. */
export interface SampleAxis {
  readonly axis: AxisName;
  readonly count: number;
  readonly origin: number;
  readonly spacing: number;
}

/** Three sample axes, the one that varies slowest first. */
export type SampleGrid = readonly [SampleAxis, SampleAxis, SampleAxis];

/** Part of the axes of a grid, in the order x, y, z of those sampled: where it begins and how long it is. */
export interface SampleWindow {
  readonly origin: readonly number[];
  readonly extent: readonly number[];
}

/**
 * Samples one axis of a dataset.
 *
 * @param count  samples; as many as the axis has nodes when undefined
 * @param part   begin and length of a part, sampled in the middle of `count` equal intervals; without it the whole axis
 *               from its first node: a period without its end, or up to the last node
 */
function sampleAxis(
  dataset: Dataset,
  index: number,
  count: number | undefined,
  part: readonly [number, number] | null,
): SampleAxis {
  const axis = dataset.axes[index as 0 | 1 | 2];
  const { first, length } = spanOf(axis);
  const samples = count ?? axis.nodes;
  const name = AXIS_NAMES[index];
  if (part !== null) {
    const spacing = part[1] / samples;
    return { axis: name, count: samples, origin: part[0] + spacing / 2, spacing };
  }
  const intervals = axis.periodic ? samples : Math.max(1, samples - 1);
  return { axis: name, count: samples, origin: first, spacing: length / intervals };
}

/**
 * Lays a plane at right angles to an axis; the later of the other two axes runs along the rows.
 *
 * @param counts samples along columns and rows; one number for both; none for the nodes of the dataset
 * @param window part of the plane, columns first; null for the whole plane
 */
export function layPlane(
  dataset: Dataset,
  axis: AxisName,
  at: number,
  counts: readonly number[],
  window: SampleWindow | null,
): SampleGrid {
  const normal = AXIS_NAMES.indexOf(axis);
  const sides = [0, 1, 2].filter((index) => index !== normal);
  const [columns, rows] = sides.map((index, i) =>
    sampleAxis(dataset, index, counts[i] ?? counts[0], partOf(window, i)),
  ) as [SampleAxis, SampleAxis];
  return [{ axis, count: 1, origin: at, spacing: 0 }, rows, columns];
}

/**
 * Lays a box of samples, x fastest.
 *
 * @param counts samples along x, y and z; one number for all; none for the nodes of the dataset
 * @param window part of the domain; null for all of it
 */
export function layBox(dataset: Dataset, counts: readonly number[], window: SampleWindow | null): SampleGrid {
  const [x, y, z] = [0, 1, 2].map((index) =>
    sampleAxis(dataset, index, counts[index] ?? counts[0], partOf(window, index)),
  ) as [SampleAxis, SampleAxis, SampleAxis];
  return [z, y, x];
}

function partOf(window: SampleWindow | null, i: number): readonly [number, number] | null {
  return window === null ? null : [window.origin[i], window.extent[i]];
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

/**
 * Reads a window of `sides` directions.
 *
 * @throws RequestError if only one of the two members is given, or an extent is not positive
 */
export function readWindow(
  originText: string | undefined,
  extentText: string | undefined,
  sides: number,
): SampleWindow | null {
  if (originText === undefined && extentText === undefined) return null;
  const read = (member: "origin" | "extent", text: string | undefined) => {
    const parts = text?.split(",") ?? [];
    if (parts.length !== sides) {
      throw refuse(member, `${member} must be ${sides} numbers; origin and extent go together.`);
    }
    return parts.map((part) => readFiniteFloat(part, member));
  };
  const [origin, extent] = [read("origin", originText), read("extent", extentText)];
  if (!extent.every((length) => length > 0)) {
    throw refuse("extent", "extent must be positive numbers.");
  }
  return { origin, extent };
}

/** The number of points of a grid. */
export function pointsOf([slow, middle, fast]: SampleGrid): number {
  return slow.count * middle.count * fast.count;
}

/** The points of a grid, its last axis fastest. */
export function gridPoints(grid: SampleGrid): Float32Array {
  const points = new Float32Array(3 * pointsOf(grid));
  eachPoint(grid, 0, pointsOf(grid), (i, { x, y, z }) => points.set([x, y, z], 3 * i));
  return points;
}

/** Writes them, in slices of time. */
export async function writeGrid(grid: SampleGrid, writer: TripleWriter, slices: TimeSlices): Promise<void> {
  await slices.each(pointsOf(grid), (from, to) => {
    eachPoint(grid, from, to, (_, { x, y, z }) => writer.add(x, y, z));
  });
  writer.flush();
}

/** Calls back with the points `from .. to - 1`; the place is valid during the call. */
function eachPoint(
  [slow, middle, fast]: SampleGrid,
  from: number,
  to: number,
  treat: (i: number, place: Readonly<Record<AxisName, number>>) => void,
): void {
  const place = { x: 0, y: 0, z: 0 };
  for (let i = from; i < to; i++) {
    const row = Math.floor(i / fast.count);
    const layer = Math.floor(row / middle.count);
    place[slow.axis] = slow.origin + layer * slow.spacing;
    place[middle.axis] = middle.origin + (row - layer * middle.count) * middle.spacing;
    place[fast.axis] = fast.origin + (i - row * fast.count) * fast.spacing;
    treat(i, place);
  }
}
