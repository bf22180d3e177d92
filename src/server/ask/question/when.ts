/** Times of a question: any times for values between nodes, stored times at nodes, intervals for paths. */
import type { Dataset } from "../../../engine/contract/dataset.js";
import { withoutNoise } from "../../../float32/format.js";
import { timesOf } from "../../http/describe.js";
import { outOfRange, wrong } from "../faults.js";
import type { MemberValues, RequestedFrames, RequestedTimes } from "./member-values.js";

export interface Times {
  readonly times: readonly number[];
  readonly isList: boolean;
}

function listed(stored: readonly number[]): string {
  const some = stored.map((time) => String(withoutNoise(time)));
  return some.length <= 12 ? some.join(", ") : `${some.slice(0, 6).join(", ")}, … ${some.at(-1)} (${some.length})`;
}

/** The frames of a question, from 0, and whether they form a dimension. Throws RequestError. */
function framesOf(
  frame: RequestedFrames,
  stored: readonly number[],
  name: string,
): { frames: readonly number[]; isList: boolean } {
  const all = stored.map((_, k) => k);
  if (frame === "all") return { frames: all, isList: true };
  const check = (number: number): number => {
    if (number < 0 || number >= stored.length)
      throw outOfRange("frame", `"${name}" has frames 0 to ${stored.length - 1}, not ${number}`);
    return number;
  };
  if ("at" in frame) return { frames: [check(frame.at)], isList: false };
  if ("node" in frame) return { frames: [check(frame.node)], isList: false };
  if ("list" in frame) return { frames: frame.list.map(check), isList: true };
  const [first, end] = [frame.first ?? 0, frame.end ?? stored.length];
  if (end <= first) throw outOfRange("frame", "first:end:stride has no frame");
  check(first);
  check(end - 1);
  return { frames: all.slice(first, end).filter((_, i) => i % frame.stride === 0), isList: true };
}

/** The stored frame next to a time, and whether the time means it, as between nodes: to 1e-4 steps, or as a float32. */
function nearestFrame(time: number, stored: readonly number[]): { readonly frame: number; readonly isStored: boolean } {
  const off = stored.map((one) => Math.abs(one - time));
  const frame = off.indexOf(Math.min(...off));
  const step = Math.min(...[frame - 1, frame + 1].map((k) => off[k] ?? Infinity)) + off[frame];
  const reach = Math.max(1e-4 * step, Math.min(1e-2 * step, Math.abs(time) * 2 ** -23));
  return { frame, isStored: off[frame] <= (step === Infinity ? 0 : reach) };
}

function rangeOf(
  { first, last, step }: { first: number; last: number; step: number | null },
  stored: readonly number[],
): readonly number[] {
  if (step === null) {
    const ends = [first, last].map((end) => {
      const { frame, isStored } = nearestFrame(end, stored);
      return isStored ? stored[frame] : end;
    });
    const [low, high] = [Math.min(...ends), Math.max(...ends)];
    const near = 1e-9 * Math.max(1, Math.abs(high));
    const within = stored.filter((time) => time >= low - near && time <= high + near);
    if (within.length === 0)
      throw outOfRange("time", `no stored time is within ${first}:${last}; stored are ${listed(stored)}`);
    return last < first ? within.toReversed() : within;
  }
  // A range of float32 numbers has the steps that the numbers mean.
  const rounding = Math.min(1e-2, (2 ** -23 * (Math.abs(first) + 2 * Math.abs(last))) / Math.abs(step));
  const count = Math.floor((last - first) / step + Math.max(1e-9, rounding)) + 1;
  if (count < 1) throw wrong("time", `${first}:${last}:${step} has no time`);
  const at = (i: number) => withoutNoise(first + i * step);
  return Array.from({ length: count }, (_, i) => (step > 0 ? Math.min(at(i), last) : Math.max(at(i), last)));
}

export function timesIn({ time, frame }: MemberValues, dataset: Dataset): Times {
  const stored = timesOf(dataset.time);
  if (frame !== undefined) {
    const { frames, isList } = framesOf(frame, stored, dataset.name);
    return { times: frames.map((k) => stored[k]), isList };
  }
  if (time !== undefined) return question(time, stored);
  if (stored.length === 1) return { times: stored, isList: false };
  throw wrong("time", `it is missing; "${dataset.name}" stores ${listed(stored)}`);
}

function question(time: RequestedTimes, stored: readonly number[]): Times {
  if (time === "all") return { times: stored, isList: true };
  if ("at" in time) return { times: [time.at], isList: false };
  if ("list" in time) return { times: time.list, isList: true };
  if ("each" in time) throw wrong("time", "each is for values and paths, with a time in each row of points");
  return { times: rangeOf(time, stored), isList: true };
}

/** Stored frames, from 0. Throws RequestError for a time that is not stored, and for repeated ones. */
export function storedIn(values: MemberValues, dataset: Dataset): { frames: readonly number[]; isList: boolean } {
  const stored = timesOf(dataset.time);
  const { frame } = values;
  const found =
    frame !== undefined
      ? framesOf(frame, stored, dataset.name)
      : (({ times, isList }) => {
          // One time more than are stored: at least one is not stored, or repeated.
          const some = times.slice(0, stored.length + 1);
          return { frames: some.map((one) => frameAt(one, stored, dataset.name)), isList };
        })(timesIn(values, dataset));
  const again = found.frames.find((number, i) => found.frames.indexOf(number) < i);
  if (again !== undefined) throw wrong(frame === undefined ? "time" : "frame", `frame ${again} is asked twice`);
  return found;
}

function frameAt(time: number, stored: readonly number[], name: string): number {
  const { frame, isStored } = nearestFrame(time, stored);
  if (isStored) return frame;
  const near = withoutNoise(stored[frame]);
  throw outOfRange("time", `"${name}" stores no frame at ${time}; the nearest is at ${near}`, String(near));
}

/** An interval of paths: between two times, or of a length from the separate time of each point. */
export type Interval = { readonly start: number; readonly end: number } | { readonly each: number };

export function intervalIn({ time }: MemberValues): Interval {
  if (typeof time === "object" && "first" in time) {
    if (time.step !== null) throw wrong("time", "an interval is first:last; step is a member");
    if (time.first === time.last) throw wrong("time", "an interval has two different ends");
    return { start: time.first, end: time.last };
  }
  if (typeof time === "object" && "each" in time && time.each !== null) {
    if (time.each === 0) throw wrong("time", "each:D needs a D that is not 0");
    return { each: time.each };
  }
  throw wrong("time", "expected the interval first:last, such as 0:0.5");
}

/** The time step: as requested, else the step of the simulation, else a tenth of the stored interval. */
export function stepIn({ step }: MemberValues, { dnsStep, time }: Dataset): number {
  if (step !== undefined) return step;
  if (dnsStep !== null) return dnsStep;
  const [first = 0, second = first] = timesOf(time);
  if (second === first) throw wrong("step", "it is missing, and the dataset has no interval of times");
  return withoutNoise((second - first) / 10);
}
