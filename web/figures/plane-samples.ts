/** This file places the samples of a plane: their coordinates, and the one nearest to a point; it subtracts planes. */
import { nodeNear } from "../state/analyses.js";
import type { Slice } from "../state/api.js";
import { axisOf, type DatasetFacts, endOf, periodOf } from "../state/facts.js";
import {
  AXES,
  type AxisName,
  coordinateOf,
  copyAfter,
  extremesOf,
  nodeAxis,
  type PlaneWindow,
  type SampleAxis,
  sidesOf,
  wholePlane,
} from "../state/plane-geometry.js";
import { isOnAxis, type ViewState } from "../state/view-state.js";

/** The row and column of a sample. */
export interface SampleIndex {
  readonly row: number;
  readonly column: number;
}

/** The part of a plane that its pixels cover: half a spacing beyond the outer samples; no more than stretched nodes. */
export function coveredBy({ columns, rows }: Slice): PlaneWindow {
  const ends = ({ origin, spacing, count, coordinates }: SampleAxis) =>
    coordinates === undefined || count === 1
      ? [origin - spacing / 2, origin + (count - 0.5) * spacing]
      : [coordinates[0], coordinates[count - 1]];
  const [[left, right], [bottom, top]] = [ends(columns), ends(rows)];
  return [left, right, bottom, top];
}

/** The index of the coordinate nearest to a place. */
function nearestOf(coordinates: readonly number[], at: number): number {
  return coordinates.reduce((best, node, i) => (Math.abs(node - at) < Math.abs(coordinates[best] - at) ? i : best), 0);
}

/** Pixels along an axis of stretched samples. */
const STRETCHED_PIXELS = 1024;

/** The sample of each pixel along an axis: one for each of equally spaced samples, the nearest of stretched ones. */
export function samplesOfPixels(axis: SampleAxis, [from, to]: readonly [number, number]): readonly number[] {
  const { coordinates, count } = axis;
  if (coordinates === undefined || count === 1) return Array.from({ length: count }, (_, i) => i);
  return Array.from({ length: STRETCHED_PIXELS }, (_, i) =>
    nearestOf(coordinates, from + ((i + 0.5) / STRETCHED_PIXELS) * (to - from)),
  );
}

/** The sample nearest to a point of a plane. */
export function sampleAt({ columns, rows }: Slice, [across, up]: readonly [number, number]): SampleIndex {
  const index = ({ origin, spacing, count, coordinates }: SampleAxis, at: number) =>
    coordinates === undefined
      ? Math.max(0, Math.min(count - 1, Math.round((at - origin) / (spacing || 1))))
      : nearestOf(coordinates, at);
  return { column: index(columns, across), row: index(rows, up) };
}

/** What the sample at a probe is called: the probe if it is there; else near it, or its foot on a plane without it. */
export function sampleOfProbe(
  place: readonly number[],
  probe: readonly number[],
  axis: AxisName,
  facts: DatasetFacts,
): "Probe" | "Near probe" | "Probe’s foot" {
  const away = facts.axes.filter(({ name, length, spacing, periodic }) => {
    const i = AXES.indexOf(name);
    const distance = Math.abs((place[i] as number) - (probe[i] as number));
    const shortest = periodic ? Math.min(distance, Math.abs(length - distance)) : distance;
    return shortest > 1e-5 * Math.max(length, spacing);
  });
  if (away.some(({ name }) => name === axis)) return "Probe’s foot";
  return away.length === 0 ? "Probe" : "Near probe";
}

/** Nodes of a plane that fulfil conditions. */
export interface MarkedNodes {
  /** Coordinates across and up, in pairs. */
  readonly places: Float32Array;
  /** Nodes of the plane within the window. */
  readonly among: number;
  /** Position of the plane of nodes. */
  readonly at: number;
}

/**
 * The nodes of the plane nearest to the one shown that fulfil all conditions of the view.
 *
 * @param slices the quantities of the conditions at these nodes; none for conditions on coordinates
 */
export function markNodes(state: ViewState, facts: DatasetFacts, slices: readonly Slice[]): MarkedNodes {
  const [left, right, bottom, top] = state.window ?? wholePlane(facts, state.axis);
  const [across, up] = sidesOf(state.axis).map((name) => axisOf(facts, name));
  const [columns, rows] = [nodeAxis(across, left, right), nodeAxis(up, bottom, top)];
  const at = nodeNear(axisOf(facts, state.axis), state.at);
  let next = 0;
  const tests = state.brush.map((condition) => {
    const { of, low, high } = condition;
    const slice = isOnAxis(condition) ? null : slices[next++];
    return (row: number, column: number): boolean => {
      const place =
        of === columns.axis ? coordinateOf(columns, column) : of === rows.axis ? coordinateOf(rows, row) : at;
      const value = slice === null ? place : slice.values[row * columns.count + column];
      return value >= low && value <= high;
    };
  });
  const places: number[] = [];
  for (let row = 0; row < rows.count; row++) {
    for (let column = 0; column < columns.count; column++) {
      if (!tests.every((test) => test(row, column))) continue;
      places.push(coordinateOf(columns, column), coordinateOf(rows, row));
    }
  }
  return { places: Float32Array.from(places), among: rows.count * columns.count, at };
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
    const place = coordinateOf(side, index);
    const period = periodOf(span);
    if (period > 0 && (place < span.first || place > endOf(span)))
      return Math.fround(copyAfter(span.first, place, period));
    return Math.fround(Math.max(span.first, Math.min(endOf(span), place)));
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
  return { ...slice, values, ...extremesOf(values) };
}

/** The index of the value that is furthest from zero, -1 if there is none, and the root mean square of all. */
export interface Differences {
  readonly largest: number;
  readonly rms: number;
}

/** The differences of a plane that was subtracted. */
export function differencesIn({ values }: Pick<Slice, "values">): Differences {
  let [largest, sum, count] = [-1, 0, 0];
  for (const [i, value] of values.entries()) {
    if (!Number.isFinite(value)) continue;
    sum += value * value;
    count++;
    if (largest < 0 || Math.abs(value) > Math.abs(values[largest] as number)) largest = i;
  }
  return { largest, rms: Math.sqrt(sum / Math.max(1, count)) };
}
