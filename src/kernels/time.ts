/** Interpolates in time: snapping to stored frames, the range of a time axis, cubic Hermite weights of four frames. */
import type { FrameWeights, TimeAxis } from "./types.js";

/** A time this fraction of the local step from a stored time is that stored time. */
const SNAP_STEPS = 1e-4;
/** Relative spacing of float32 numbers, in which many times are stored or sent. */
const SNAP_FLOAT32 = 2 ** -23;
/** Most of the local step by which the precision of a float32 may move a time. */
const SNAP_MOST = 1e-2;
/** Snapping distance of a snapshot, which has no step. */
const SNAP_SNAPSHOT = 1e-6;

/** Time of stored frame `frame`. */
export function frameTime(time: TimeAxis, frame: number): number {
  return time.values === null ? time.origin + frame * time.step : time.values[frame];
}

/** The last frame whose time is not above `t`, limited to first .. last - 1 (first, when there is only one). */
function frameBefore(time: TimeAxis, t: number, first: number, last: number): number {
  let low = first;
  let high = Math.max(last, first + 1);
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (frameTime(time, middle) <= t) low = middle;
    else high = middle;
  }
  return low;
}

/** Distance between frames k and k + 1. */
function interval(time: TimeAxis, k: number): number {
  return time.values === null ? time.step : time.values[k + 1] - time.values[k];
}

/**
 * The nearest stored time if `t` is within 1e-4 local steps of it, or within the precision of a float32 and a hundredth
 * of a step; else `t` itself. A snapshot accepts times within 1e-6, or the precision of a float32, of its time.
 */
export function snapTime(time: TimeAxis, t: number): number {
  const k = frameBefore(time, t, 0, time.count - 1);
  const nearest = nearerTime(time, k, t);
  const single = Math.abs(nearest) * SNAP_FLOAT32;
  if (time.count === 1) return Math.abs(t - nearest) <= Math.max(SNAP_SNAPSHOT, single) ? nearest : t;
  const step = interval(time, k);
  const reach = Math.max(SNAP_STEPS * step, Math.min(SNAP_MOST * step, single));
  return Math.abs(t - nearest) <= reach ? nearest : t;
}

/** The time of frame k or k + 1 that is nearer to `t`, the later one if they are equally near. */
function nearerTime(time: TimeAxis, k: number, t: number): number {
  const before = frameTime(time, k);
  const after = time.count === 1 ? before : frameTime(time, k + 1);
  return t - before < after - t ? before : after;
}

/**
 * The time that a float32 means: the stored time that it is nearest to, if it is that time rounded, else the number
 * itself; null if a step is less than two float32 numbers here, so that they do not tell frames apart. A number far
 * outside the stored times is itself.
 */
export function timeOfFloat32(time: TimeAxis, single: number): number | null {
  const k = frameBefore(time, single, 0, time.count - 1);
  const step = time.count === 1 ? Infinity : interval(time, k);
  const precision = Math.abs(single) * SNAP_FLOAT32;
  const nearest = nearerTime(time, k, single);
  if (precision >= 0.5 * step && Math.abs(single - nearest) <= Math.max(step, precision)) return null;
  return Math.fround(nearest) === single ? nearest : single;
}

/** Whether a time, after snapping, lies between the first and the last queryable frame; false for NaN. */
export function timeInRange(time: TimeAxis, t: number): boolean {
  const snapped = snapTime(time, t);
  return snapped >= frameTime(time, time.guardBefore) && snapped <= frameTime(time, time.count - 1 - time.guardAfter);
}

/**
 * The stored frames and weights that give the value at a time, ascending, none with weight 0.
 *
 * The option `None` takes the closer frame, of two equally close ones (to the precision of a float32, or a hundredth of
 * a step if that is less) the later. The option `PCHIP` is the cubic Hermite interpolant on the interval, with slopes
 * of the parabola through three neighbouring frames; guard frames take part, and at the ends of the axis the parabola
 * is that of the last three frames; two frames give a straight line. A time on a stored frame, and any time of a
 * snapshot, is that frame.
 *
 * Exact for quadratic functions of time; error O(step^3). Source: Catmull and Rom (1974) for equal steps.
 * @throws RangeError when the time is out of range
 */
export function frameWeights(time: TimeAxis, t: number, method: "None" | "PCHIP"): FrameWeights {
  const four = new Float64Array(4);
  const k = weighFrames(time, t, method, true, four, 0);
  const kept = [0, 1, 2, 3].filter((i) => four[i] !== 0);
  return { frames: kept.map((i) => k - 1 + i), weights: kept.map((i) => four[i]) };
}

/**
 * Writes the weights of frames k - 1 .. k + 2 at a time to `out[to]` and the following.
 *
 * @param snaps whether the time snaps to stored ones; adaptive steps would take the snap for a jump
 * @returns k
 * @throws RangeError when the time is out of range
 */
function weighFrames(
  time: TimeAxis,
  t: number,
  method: "None" | "PCHIP",
  snaps: boolean,
  out: Float64Array,
  to: number,
): number {
  const first = time.guardBefore;
  const last = time.count - 1 - time.guardAfter;
  const snapped = snapTime(time, t);
  if (!(snapped >= frameTime(time, first) && snapped <= frameTime(time, last)))
    throw new RangeError(`time ${t} is out of range`);
  const at = snaps ? snapped : t;
  const k = frameBefore(time, at, first, last);
  out[to] = 0;
  out[to + 1] = 1;
  out[to + 2] = 0;
  out[to + 3] = 0;
  if (at === frameTime(time, k)) return k;
  if (at === frameTime(time, k + 1)) return k + 1;
  if (method === "None") return isNearerToFirst(time, k, at) ? k : k + 1;
  const theta = (at - frameTime(time, k)) / interval(time, k);
  cubicHermite(time, k, theta, out, to);
  return k;
}

/** Whether a time is nearer to frame k than to frame k + 1, and not half way within rounding to float32. */
function isNearerToFirst(time: TimeAxis, k: number, t: number): boolean {
  const before = frameTime(time, k);
  const after = frameTime(time, k + 1);
  const single = Math.max(Math.abs(before), Math.abs(after)) * SNAP_FLOAT32;
  return t - before < (after - before) / 2 - Math.min(SNAP_MOST * (after - before), single);
}

/** Points that are represented by the same frames. */
export interface FramesOfPoints {
  readonly frames: readonly number[];
  /** The weights of each point, one after another. */
  readonly weights: Float64Array;
  /** The points, ascending. */
  readonly points: Uint32Array;
}

/**
 * Makes what finds the frames and weights of up to `most` times, each as `frameWeights` gives them, by the frames that
 * represent them, the earliest first. The arrays of an answer are overwritten by the next one.
 *
 * @param snaps   whether times snap to stored ones
 * @param weights holds the weights of answers: four for each time
 */
export function framesFinder(
  time: TimeAxis,
  most: number,
  method: "None" | "PCHIP",
  snaps = true,
  weights: Float64Array = new Float64Array(4 * most),
): (times: ArrayLike<number>, count: number) => readonly FramesOfPoints[] {
  const four = new Float64Array(4 * most);
  const keys = new Int32Array(most);
  const points = new Uint32Array(most);
  /** Sixteen times the frame k of a point, and a bit for each of its four frames whose weight is not 0. */
  const keyOf = (k: number, at: number): number =>
    16 * k +
    (four[at] === 0 ? 0 : 1) +
    (four[at + 1] === 0 ? 0 : 2) +
    (four[at + 2] === 0 ? 0 : 4) +
    (four[at + 3] === 0 ? 0 : 8);
  return (times, count) => {
    let [least, largest] = [Infinity, -1];
    for (let i = 0; i < count; i++) {
      const key = keyOf(weighFrames(time, times[i], method, snaps, four, 4 * i), 4 * i);
      keys[i] = key;
      if (key < least) least = key;
      if (key > largest) largest = key;
    }
    const ends = new Uint32Array(Math.max(0, largest - least + 1));
    for (let i = 0; i < count; i++) ends[keys[i] - least]++;
    for (let key = 1; key < ends.length; key++) ends[key] += ends[key - 1];
    for (let i = count - 1; i >= 0; i--) points[--ends[keys[i] - least]] = i;
    const groups: FramesOfPoints[] = [];
    for (let first = 0, end = 0; first < count; first = end) {
      const key = keys[points[first]];
      while (end < count && keys[points[end]] === key) end++;
      const kept = [0, 1, 2, 3].filter((f) => (key & (1 << f)) !== 0);
      const own = weights.subarray(4 * first, 4 * first + kept.length * (end - first));
      for (let n = first, to = 0; n < end; n++) for (const f of kept) own[to++] = four[4 * points[n] + f];
      groups.push({ frames: kept.map((f) => (key >> 4) - 1 + f), weights: own, points: points.subarray(first, end) });
    }
    return groups;
  };
}

/**
 * Cubic Hermite weights of frames k - 1 .. k + 2 at the fraction `theta` of the interval from frame k, in `out[to]` and
 * the following; Catmull-Rom on equal steps.
 */
function cubicHermite(time: TimeAxis, k: number, theta: number, out: Float64Array, to: number): void {
  const h = interval(time, k);
  const rest = 1 - theta;
  /** Hermite basis for the slopes at both ends, times the interval. */
  const slopeBefore = theta * rest * rest;
  const slopeAfter = -theta * theta * rest;
  let w0 = 0;
  let w1 = rest * rest * (1 + 2 * theta);
  let w2 = theta * theta * (3 - 2 * theta);
  let w3 = 0;
  if (k > 0) {
    const left = interval(time, k - 1);
    w0 -= (slopeBefore * h * h) / (left * (left + h));
    w1 += (slopeBefore * (h - left)) / left;
    w2 += (slopeBefore * left) / (left + h);
  } else {
    const [here, next, second] = endSlope(h, time.count > 2 ? interval(time, 1) : null);
    w1 -= slopeBefore * here;
    w2 += slopeBefore * next;
    w3 -= slopeBefore * second;
  }
  if (k + 2 < time.count) {
    const right = interval(time, k + 1);
    w1 -= (slopeAfter * right) / (h + right);
    w2 += (slopeAfter * (right - h)) / right;
    w3 += (slopeAfter * h * h) / (right * (h + right));
  } else {
    const [here, next, second] = endSlope(h, k > 0 ? interval(time, k - 1) : null);
    w2 += slopeAfter * here;
    w1 -= slopeAfter * next;
    w0 += slopeAfter * second;
  }
  out[to] = w0;
  out[to + 1] = w1;
  out[to + 2] = w2;
  out[to + 3] = w3;
}

/**
 * Weights a, b, c of the slope at the end of the axis, times the end interval of length `h`: for the first frame it is
 * -a f0 + b f1 - c f2, for the last one the mirror image.
 *
 * @param beyond length of the next interval; null if there is none: the slope is then that of the end interval
 */
function endSlope(h: number, beyond: number | null): readonly [here: number, next: number, second: number] {
  if (beyond === null) return [1, 1, 0];
  return [(2 * h + beyond) / (h + beyond), (h + beyond) / beyond, (h * h) / (beyond * (h + beyond))];
}
