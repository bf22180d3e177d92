/** This file computes windows of a plane: which part is shown, how it is sampled, and where it lies on the screen. */
import { type AxisFacts, axisOf, type DatasetFacts, periodOf } from "./facts.js";

export type AxisName = "x" | "y" | "z";
export const AXES: readonly AxisName[] = ["x", "y", "z"];

/** Left, right, bottom and top of a part of a plane, in coordinates of the dataset. */
export type PlaneWindow = readonly [number, number, number, number];

/** A rectangle on the screen, in CSS pixels. */
export interface Rectangle {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** Samples along an axis: equally spaced, or at the coordinates that are listed. */
export interface SampleAxis {
  readonly axis: AxisName;
  readonly count: number;
  readonly origin: number;
  readonly spacing: number;
  readonly coordinates?: readonly number[];
}

/** The coordinate of a sample, rounded as the service rounds it. */
export function coordinateOf({ origin, spacing, coordinates }: SampleAxis, index: number): number {
  return Math.fround(coordinates?.[index] ?? origin + index * spacing);
}

/** The least and the largest finite number of some values; 0 and 0 if there is none. */
export function extremesOf(values: Float32Array): { readonly low: number; readonly high: number } {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low > high ? { low: 0, high: 0 } : { low, high };
}

/** Most samples along a side of a picture. */
const MOST_SAMPLES = 1024;

/** Samples a side of a picture by default. */
export const USUAL_SAMPLES = 256;

/** The samples a side of a square that one request may hold, at most `wanted`. */
export function fittingSide({ points }: Pick<DatasetFacts, "points">, wanted: number): number {
  return Math.max(1, Math.min(wanted, Math.floor(Math.sqrt(points))));
}

/** Smallest window, in grid spacings. */
const SMALLEST_CELLS = 4;

/** The axes along the columns and rows of a plane across `axis`. */
export function sidesOf(axis: AxisName): readonly [AxisName, AxisName] {
  const [columns, rows] = AXES.filter((name) => name !== axis);
  return [columns, rows];
}

/** The length that an axis of a picture has: that of the domain, or one spacing for a single node. */
function lengthOf({ length, spacing }: AxisFacts): number {
  return length > 0 ? length : spacing || 1;
}

function spanOf(axis: AxisFacts): readonly [number, number] {
  if (axis.length > 0) return [axis.first, axis.first + axis.length];
  return [axis.first - lengthOf(axis) / 2, axis.first + lengthOf(axis) / 2];
}

/** The whole plane across an axis. */
export function wholePlane(facts: DatasetFacts, axis: AxisName): PlaneWindow {
  const [columns, rows] = sidesOf(axis).map((name) => spanOf(axisOf(facts, name)));
  return [...columns, ...rows];
}

/** Periods of a plane across and up; 0 for an axis that has none. */
export type Periods = readonly [number, number];

/** The periods of the plane across an axis. */
export function periodsOf(facts: DatasetFacts, axis: AxisName): Periods {
  const [columns, rows] = sidesOf(axis).map((name) => periodOf(axisOf(facts, name)));
  return [columns, rows];
}

/** The copy of a place that is at `from` or less than a period after it; the place itself without a period. */
export function copyAfter(from: number, place: number, period: number): number {
  return period === 0 ? place : place + Math.ceil((from - place) / period - 1e-9) * period;
}

/** The window of a size that lies inside the plane, nearest to a corner, or begins there if the plane is periodic. */
export function clampWindow(
  whole: PlaneWindow,
  left: number,
  bottom: number,
  width: number,
  height: number,
  periods: Periods = [0, 0],
): PlaneWindow {
  const side = (from: number, to: number, at: number, length: number, period: number) => {
    const size = Math.min(length, to - from);
    const low = period > 0 ? copyAfter(from, at, period) : Math.max(from, Math.min(to - size, at));
    return [low, low + size];
  };
  const [l, r] = side(whole[0], whole[1], left, width, periods[0]);
  const [b, t] = side(whole[2], whole[3], bottom, height, periods[1]);
  return [Math.fround(l), Math.fround(r), Math.fround(b), Math.fround(t)];
}

/** The places across and up at which the periods of a plane begin anew inside a window, not at its edges. */
export function seamsIn(window: PlaneWindow, whole: PlaneWindow, periods: Periods): readonly (readonly number[])[] {
  return periods.map((period, i) => {
    const [low, high] = [window[2 * i] as number, window[2 * i + 1] as number];
    const seam = period > 0 ? copyAfter(low, whole[2 * i] as number, period) : low;
    const edge = 1e-4 * (high - low);
    return seam > low + edge && seam < high - edge ? [seam] : [];
  });
}

/** Samples of a window along columns and rows, and the window that they fill. */
export interface WindowSampling {
  readonly window: PlaneWindow;
  readonly counts: readonly [number, number];
}

/** The nodes of an axis inside a part of it: the part moved to the edges between nodes, and their number. */
function nodesWithin(axis: AxisFacts, low: number, high: number): readonly [number, number, number] {
  const h = axis.spacing;
  const from = Math.floor((low - axis.first) / h + 0.5);
  const most = axis.periodic ? axis.nodes : axis.nodes - from;
  const count = Math.max(1, Math.min(MOST_SAMPLES, most, Math.ceil((high - axis.first) / h - 0.5) - from + 1));
  const begin = axis.first + (from - 0.5) * h;
  return [begin, begin + count * h, count];
}

/**
 * Samples a window with square cells.
 *
 * @param nodes the root of the number of samples; `grid` for the nodes of the dataset if its axes are uniform; `auto`
 *              for as many samples as a picture needs and the service admits
 */
export function sampleWindow(facts: DatasetFacts, axis: AxisName, window: PlaneWindow, nodes: string): WindowSampling {
  const [columns, rows] = sidesOf(axis).map((name) => axisOf(facts, name));
  const [left, right, bottom, top] = window;
  if (nodes === "grid" && !isStretched(columns) && !isStretched(rows)) {
    const [l, r, nx] = nodesWithin(columns, left, right);
    const [b, t, ny] = nodesWithin(rows, bottom, top);
    return { window: [l, r, b, t], counts: [nx, ny] };
  }
  const root = Math.sqrt((right - left) / (top - bottom));
  const whole = nodes === "auto" ? Math.floor : Math.round;
  const budget =
    nodes === "grid"
      ? Math.sqrt(columns.nodes * rows.nodes)
      : nodes === "auto"
        ? fittingSide(facts, USUAL_SAMPLES)
        : Number(nodes);
  const count = (side: number) => Math.max(1, Math.min(MOST_SAMPLES, whole(side + 1e-9)));
  return { window, counts: [count(budget * root), count(budget / root)] };
}

/** The nodes of an axis inside a part of it, at least the nearest one. */
export function nodeAxis(axis: AxisFacts, low: number, high: number): SampleAxis {
  const { name, spacing, coordinates } = axis;
  if (coordinates === undefined) {
    const [begin, , count] = nodesWithin(axis, low, high);
    return { axis: name, count, origin: begin + spacing / 2, spacing };
  }
  const middle = (low + high) / 2;
  const nearest = coordinates.reduce((best, node) => (Math.abs(node - middle) < Math.abs(best - middle) ? node : best));
  const inside = coordinates.filter((node) => node >= low && node <= high);
  const places = inside.length === 0 ? [nearest] : inside;
  return { axis: name, count: places.length, origin: places[0], spacing, coordinates: places };
}

/** Whether the nodes of an axis are not equally spaced. */
export function isStretched(axis: AxisFacts): boolean {
  return axis.coordinates !== undefined;
}

/** The place of a window in its viewport: as large as fits, in the middle, with equal scales along both axes. */
export function fitWindow(
  [left, right, bottom, top]: PlaneWindow,
  [width, height]: readonly [number, number],
): Rectangle {
  const scale = Math.min(width / (right - left), height / (top - bottom));
  const w = Math.max(1, Math.round((right - left) * scale));
  const h = Math.max(1, Math.round((top - bottom) * scale));
  return { left: Math.round((width - w) / 2), top: Math.round((height - h) / 2), width: w, height: h };
}

/**
 * Zooms a window about a point that keeps its place in the viewport.
 *
 * @param factor enlargement, above 1 to come nearer
 * @param point  in coordinates of the dataset
 */
export function zoomWindow(
  facts: DatasetFacts,
  axis: AxisName,
  window: PlaneWindow,
  viewport: readonly [number, number],
  factor: number,
  point: readonly [number, number],
): PlaneWindow {
  const whole = wholePlane(facts, axis);
  const now = fitWindow(window, viewport);
  const least = fitWindow(whole, viewport).width / (whole[1] - whole[0]);
  const finest = Math.min(...sidesOf(axis).map((name) => lengthOf(axisOf(facts, name)) / axisOf(facts, name).nodes));
  const most = Math.max(least, Math.min(...viewport) / (SMALLEST_CELLS * finest));
  const before = now.width / (window[1] - window[0]);
  const scale = Math.max(least, Math.min(most, before * factor));
  const [px, py] = [
    now.left + (point[0] - window[0]) * before - viewport[0] / 2,
    viewport[1] / 2 - (now.top + (window[3] - point[1]) * before),
  ];
  const width = Math.min(whole[1] - whole[0], viewport[0] / scale);
  const height = Math.min(whole[3] - whole[2], viewport[1] / scale);
  const [left, bottom] = [point[0] - px / scale - width / 2, point[1] - py / scale - height / 2];
  return clampWindow(whole, left, bottom, width, height, periodsOf(facts, axis));
}

/** The window about a box that has the shape of its viewport, as far as the plane goes. */
export function windowAround(
  whole: PlaneWindow,
  [left, right, bottom, top]: PlaneWindow,
  [across, up]: readonly [number, number],
  periods: Periods = [0, 0],
): PlaneWindow {
  const width = Math.max(right - left, ((top - bottom) * across) / up);
  const height = Math.max(top - bottom, ((right - left) * up) / across);
  return clampWindow(whole, (left + right - width) / 2, (bottom + top - height) / 2, width, height, periods);
}

/** Moves a window by a distance in coordinates of the dataset. */
export function panWindow(
  whole: PlaneWindow,
  window: PlaneWindow,
  across: number,
  up: number,
  periods: Periods = [0, 0],
): PlaneWindow {
  const [left, right, bottom, top] = window;
  return clampWindow(whole, left + across, bottom + up, right - left, top - bottom, periods);
}

/** Moves a window so that a point is inside. */
export function revealPoint(whole: PlaneWindow, window: PlaneWindow, [x, y]: readonly [number, number]): PlaneWindow {
  const [left, right, bottom, top] = window;
  if (x >= left && x <= right && y >= bottom && y <= top) return window;
  return clampWindow(whole, x - (right - left) / 2, y - (top - bottom) / 2, right - left, top - bottom);
}

/** Whether a window shows the whole plane. */
export function isWhole(whole: PlaneWindow, window: PlaneWindow): boolean {
  return window.every(
    (edge, i) => Math.abs(edge - whole[i]) <= 1e-5 * Math.max(whole[1] - whole[0], whole[3] - whole[2]),
  );
}
