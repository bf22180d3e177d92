/** Pictures of planes: the question for the samples that a pane shows, and where in the plane they lie. */
import { signal } from "@preact/signals-core";
import { askNumbers, type Question, type Wanted } from "./ask.js";
import { AXIS_NAMES, type Axis, hasSameAxes, placeIn, roundedOn, sharedAxes } from "./dataset.js";
import { asFlowMap, columnOf, durationOf } from "./flow-map.js";
import type { Plane, View } from "./link.js";
import { cross, isDifference, selectionOf } from "./view.js";
import type { Picture } from "./volumes.js";

/** The axes across and up of the plane normal to an axis: xy, zy and xz. */
export const PLANE_AXES: Readonly<Record<Plane, readonly [number, number]>> = { z: [0, 1], x: [2, 1], y: [0, 2] };

const MAX_PICTURE_SAMPLES = 384;
const MIN_PICTURE_SAMPLES = 128;
/** Most samples along a side of a picture of flow maps, each of which is a path of a particle. */
const MAX_PATH_SAMPLES = 160;

/** The size of the pane of a plane in pixels, and the length of a pixel in the units of the box; set by the stage. */
export const paneSize = signal<readonly [number, number]>([500, 400]);
export const pixel = signal(0);

export interface PicturePlan {
  readonly question: Question;
  readonly key: string;
  readonly columns: number;
  readonly rows: number;
  /** Lower left corner, width and height of the picture. */
  readonly box: readonly [number, number, number, number];
  /** Whether the picture is periodic along its columns and rows. */
  readonly tiles: readonly [boolean, boolean];
}

/** The picture of the part of the box that a pane shows: of A − B, of what the boxes of both have in common. */
export function planOf(now: View, plane: Plane, second = false, at = cross.value): PicturePlan | null {
  const [selection, other] = [selectionOf(now, second), isDifference(now) ? selectionOf(now, !second) : null];
  const { centre } = now;
  if (selection === null || centre === null) return null;
  const { dataset: set, what, time, method } = selection;
  const [a, b] = second && other !== null ? [other.dataset, set] : [set, other?.dataset ?? set];
  const shared = hasSameAxes(a, b) ? null : sharedAxes(a, b);
  const [across, up] = PLANE_AXES[plane].map((axis, side) =>
    sideOf((shared ?? set.axes)[axis], shared !== null, durationOf(what) !== null, paneSize.value[side], centre[axis]),
  );
  const names = PLANE_AXES[plane].map((axis) => AXIS_NAMES[axis]);
  const ranges = [across, up].flatMap(({ range }, side) => (range === null ? [] : [[names[side], range]]));
  const members = { ...Object.fromEntries(ranges), [plane]: placeIn(set, at)[AXIS_NAMES.indexOf(plane)] };
  // The service counts samples of x before those of y and z.
  const samples = plane === "x" ? [up.count, across.count] : [across.count, up.count];
  const requested = { dataset: set.name, call: "grid", what: columnOf(what), ...members, time, method, samples };
  const question = asFlowMap({ dataset: set.name, times: set.times }, requested);
  return {
    question,
    key: JSON.stringify(["picture", set.digest, question]),
    columns: across.count,
    rows: up.count,
    box: [across.low, up.low, across.length, up.length],
    tiles: [across.isPeriod, up.isPeriod],
  };
}

/** A side of a picture along an axis: its samples, the range that is asked for (null: the axis), and where it lies. */
interface Side {
  readonly count: number;
  readonly range: string | null;
  readonly low: number;
  readonly length: number;
  /** Whether the side is a whole period. */
  readonly isPeriod: boolean;
}

function sideOf(axis: Axis, isShared: boolean, isOfPaths: boolean, pixels: number, centre: number): Side {
  const scale = pixel.value || 0.01;
  const seen = pixels * scale;
  const most = Math.min(isOfPaths ? MAX_PATH_SAMPLES : MAX_PICTURE_SAMPLES, pixels);
  let [low, high] = [centre - seen / 2, centre + seen / 2];
  if (!axis.periodic) [low, high] = [Math.max(axis.first, low), Math.min(axis.last, high)];
  const isAxisSeen = axis.periodic ? seen >= axis.length * 0.999 : low <= axis.first && high >= axis.last;
  const isWhole = isAxisSeen || !(high > low);
  if (isWhole && !isShared) {
    // A side of few pixels has samples for values between them.
    const least = isOfPaths ? 2 : Math.max(2, Math.min(48, 2 * axis.nodes));
    const count = Math.max(least, Math.min(Math.round(axis.length / scale), most, 4 * axis.nodes));
    if (axis.periodic) return { count, range: null, low: axis.first, length: axis.length, isPeriod: true };
    const step = axis.length / (count - 1);
    return { count, range: null, low: axis.first - step / 2, length: axis.length + step, isPeriod: false };
  }
  // Ends are rounded, so that a link that is opened again asks the same question.
  if (isWhole) [low, high] = [axis.first, axis.first + axis.length];
  else [low, high] = [low, high].map((end) => roundedOn(axis, end));
  const length = high - low;
  // Half a cell at each end of a range is of one colour: it has a few pixels at most.
  const count = Math.max(
    2,
    Math.min(most, Math.max(MIN_PICTURE_SAMPLES, Math.ceil((4 * axis.nodes * length) / axis.length))),
  );
  const isPeriod = isWhole && axis.periodic;
  // Samples of a range lie in the middle of equal intervals.
  return { count, range: `${low}:${high}`, low: isPeriod ? low + length / count / 2 : low, length, isPeriod };
}

/** The want of a plane's picture; answers have z outside of y outside of x, so that zy planes are transposed. */
export function wantedPicture(plan: PicturePlan, plane: Plane, priority: number): Wanted<Picture> {
  return {
    key: plan.key,
    priority,
    load: async (signal) => {
      const { columns, rows, box, tiles } = plan;
      const { data, unit } = await askNumbers(plan.question, columns * rows, signal);
      const turned = plane === "x" ? transposed(data, rows, columns) : data;
      return { data: turned, unit, columns, rows, isMasked: data.some(Number.isNaN), box, tiles };
    },
    sizeOf: ({ data }) => data.byteLength,
  };
}

function transposed(numbers: Float32Array, width: number, height: number): Float32Array {
  const out = new Float32Array(numbers.length);
  for (let i = 0; i < height; i++) for (let j = 0; j < width; j++) out[j * height + i] = numbers[i * width + j];
  return out;
}
