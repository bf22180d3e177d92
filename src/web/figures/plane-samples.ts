/** This file places the samples of a plane: their coordinates, and the one nearest to a point; it subtracts planes. */
import type { SampleAxis, Slice } from "../state/api.js";
import { axisOf, type DatasetFacts, endOf } from "../state/facts.js";
import { AXES, type AxisName, type PlaneWindow } from "../state/plane-geometry.js";

/** The row and column of a sample. */
export interface SampleIndex {
  readonly row: number;
  readonly column: number;
}

/** The coordinate of a sample, rounded as the service rounds it. */
export function coordinateOf(axis: SampleAxis, index: number): number {
  return Math.fround(axis.origin + index * axis.spacing);
}

/** The part of a plane that its pixels cover: half a spacing beyond the outer samples. */
export function coveredBy({ columns, rows }: Slice): PlaneWindow {
  const ends = ({ origin, spacing, count }: SampleAxis) => [origin - spacing / 2, origin + (count - 0.5) * spacing];
  const [[left, right], [bottom, top]] = [ends(columns), ends(rows)];
  return [left, right, bottom, top];
}

/** The sample nearest to a point of a plane. */
export function sampleAt({ columns, rows }: Slice, [across, up]: readonly [number, number]): SampleIndex {
  const index = ({ origin, spacing, count }: SampleAxis, at: number) =>
    Math.max(0, Math.min(count - 1, Math.round((at - origin) / (spacing || 1))));
  return { column: index(columns, across), row: index(rows, up) };
}

/** The point of a sample of a plane, moved into the domain: the samples of an axis of one node may lie outside it. */
export function pointOf(
  { rows, columns }: Slice,
  { axis, at }: { readonly axis: AxisName; readonly at: number },
  { row, column }: SampleIndex,
  facts: DatasetFacts,
): [number, number, number] {
  const inside = (side: SampleAxis, index: number): number => {
    const span = axisOf(facts, side.axis);
    return Math.fround(Math.max(span.first, Math.min(endOf(span), coordinateOf(side, index))));
  };
  const point: [number, number, number] = [at, at, at];
  point[AXES.indexOf(columns.axis)] = inside(columns, column);
  point[AXES.indexOf(rows.axis)] = inside(rows, row);
  point[AXES.indexOf(axis)] = at;
  return point;
}

/** Subtracts the values of another plane, and finds the finite extremes of the difference; 0 and 0 without any. */
export function subtract(slice: Slice, other: Slice): Slice {
  const values = slice.values.map((value, i) => value - other.values[i]);
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return { ...slice, values, ...(low > high ? { low: 0, high: 0 } : { low, high }) };
}
