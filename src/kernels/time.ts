/**
 * Interpolates in time: snapping to stored frames, the range of a time axis, and cubic Hermite weights of four frames.
 */
import type { FrameWeights, TimeAxis } from "./types.js";

/** A time this fraction of the local step from a stored time is that stored time. */
const SNAP_STEPS = 1e-4;
/** Relative spacing of float32 numbers: times arrive in that precision. */
const SNAP_FLOAT32 = 2 ** -23;
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
 * The nearest stored time when `t` is within 1e-4 local steps or the precision of a float32 of it, else `t` itself.
 * A snapshot accepts times within 1e-6 of its time.
 */
export function snapTime(time: TimeAxis, t: number): number {
  const k = frameBefore(time, t, 0, time.count - 1);
  const before = frameTime(time, k);
  if (time.count === 1)
    return Math.abs(t - before) <= Math.max(SNAP_SNAPSHOT, Math.abs(before) * SNAP_FLOAT32) ? before : t;
  const after = frameTime(time, k + 1);
  const nearest = t - before < after - t ? before : after;
  const reach = Math.max(SNAP_STEPS * interval(time, k), Math.abs(t) * SNAP_FLOAT32);
  return Math.abs(t - nearest) <= reach ? nearest : t;
}

/** Whether a time, after snapping, lies between the first and the last queryable frame; false for NaN. */
export function timeInRange(time: TimeAxis, t: number): boolean {
  const snapped = snapTime(time, t);
  return snapped >= frameTime(time, time.guardBefore) && snapped <= frameTime(time, time.count - 1 - time.guardAfter);
}

/**
 * The stored frames and weights that give the value at a time, ascending, none with weight 0.
 *
 * The option `None` takes the closer frame, of two equally close ones the later. The option `PCHIP` is the cubic
 * Hermite interpolant on the interval, with slopes of the parabola through three neighbouring frames; guard frames take
 * part, and without a neighbour the slope is that of the end interval. A time on a stored frame, and any time of a
 * snapshot, is that frame.
 *
 * Exact for quadratic functions of time in the interior; error O(step^3). Source: Catmull and Rom (1974) for equal
 * steps.
 * @throws RangeError when the time is out of range
 */
export function frameWeights(time: TimeAxis, t: number, method: "None" | "PCHIP"): FrameWeights {
  if (!timeInRange(time, t)) throw new RangeError(`time ${t} is out of range`);
  const at = snapTime(time, t);
  const first = time.guardBefore;
  const last = time.count - 1 - time.guardAfter;
  const k = frameBefore(time, at, first, last);
  if (at === frameTime(time, k)) return { frames: [k], weights: [1] };
  if (at === frameTime(time, k + 1)) return { frames: [k + 1], weights: [1] };
  const theta = (at - frameTime(time, k)) / interval(time, k);
  if (method === "None") return { frames: [theta < 0.5 ? k : k + 1], weights: [1] };
  return cubicHermite(time, k, theta);
}

/**
 * Cubic Hermite weights of frames k - 1 .. k + 2 at the fraction `theta` of the interval from frame k; Catmull-Rom on
 * equal steps.
 */
function cubicHermite(time: TimeAxis, k: number, theta: number): FrameWeights {
  const h = interval(time, k);
  const rest = 1 - theta;
  /** Hermite basis for the slopes at both ends, times the interval. */
  const slopeBefore = theta * rest * rest;
  const slopeAfter = -theta * theta * rest;
  /** Weights of frames k - 1, k, k + 1, k + 2. */
  const weight = [0, rest * rest * (1 + 2 * theta), theta * theta * (3 - 2 * theta), 0];
  if (k > 0) {
    const left = interval(time, k - 1);
    weight[0] -= (slopeBefore * h * h) / (left * (left + h));
    weight[1] += (slopeBefore * (h - left)) / left;
    weight[2] += (slopeBefore * left) / (left + h);
  } else {
    weight[1] -= slopeBefore;
    weight[2] += slopeBefore;
  }
  if (k + 2 < time.count) {
    const right = interval(time, k + 1);
    weight[1] -= (slopeAfter * right) / (h + right);
    weight[2] += (slopeAfter * (right - h)) / right;
    weight[3] += (slopeAfter * h * h) / (right * (h + right));
  } else {
    weight[1] -= slopeAfter;
    weight[2] += slopeAfter;
  }
  const kept = [0, 1, 2, 3].filter((i) => weight[i] !== 0);
  return { frames: kept.map((i) => k - 1 + i), weights: kept.map((i) => weight[i]) };
}
