/** Times of paths in regions: how long each has been in one, and when it first left another. */
import type { Result } from "../../../engine/contract/query.js";
import { RECORDS } from "../../../shared/operations.js";
import type { Context } from "../context.js";
import { wrong } from "../faults.js";
import type { RequestedRegion } from "../question/member-values.js";

const BLOCK = 8192;
/** Most images of a region that a particle may pass between two records. */
const MAX_IMAGES = 1000;

/** A part of the straight way between two records, as fractions of it. */
type WayPart = readonly [from: number, to: number];

/** The parts of the way from a to b that lie within low .. high or, unless it is 0, a whole period away from it. */
function partsWithin(a: number, b: number, low: number, high: number, period: number): readonly WayPart[] {
  if (period > 0 && high - low >= period) return [[0, 1]];
  const [least, most] = [Math.min(a, b), Math.max(a, b)];
  const first = period === 0 ? 0 : Math.ceil((least - high) / period);
  const last = period === 0 ? 0 : Math.floor((most - low) / period);
  if (last - first > MAX_IMAGES) throw wrong("every", `a particle passes ${last - first} periods between two records`);
  const parts: WayPart[] = [];
  for (let n = first; n <= last; n++) {
    const [near, far] = [low + n * period, high + n * period];
    if (most < near || least > far) continue;
    const [enter, leave] = a < b ? [near, far] : [far, near];
    const has = (x: number) => x >= near && x <= far;
    parts.push([has(a) ? 0 : (enter - a) / (b - a), has(b) ? 1 : (leave - a) / (b - a)]);
  }
  return a <= b ? parts : parts.reverse();
}

/**
 * For each record of each path, the time that it has spent in a region so far, the time at which it first left it, NaN
 * before, and 1 until then. A path is straight between records, and ends where it leaves the domain or meets a hole.
 * @param periods lengths of x, y and z; 0 for those that are not periodic
 * @param starts  the start of each path, if they differ: the times of `result` then count from there
 */
export async function timesIn(
  { life }: Context,
  region: RequestedRegion,
  periods: readonly number[],
  records: Float32Array,
  { components: width, record, itemsPerPoint: all, recordTimes = new Float64Array(1) }: Result,
  starts: Float64Array | null,
): Promise<Float32Array> {
  const exit = (RECORDS[record ?? "Point3"] as readonly string[]).indexOf("exit");
  const out = new Float32Array((3 * records.length) / width);
  const partsAt = (from: number, to: number): readonly WayPart[] =>
    region.reduce<readonly WayPart[]>(
      (parts, along, a) => {
        if (along === null) return parts;
        const [x, next] = [records[from + a], records[to + a]];
        const own = partsWithin(x, next, along[0], along[1], periods[a]);
        const both = parts.flatMap(([s, e]) => own.map(([u, v]) => [Math.max(s, u), Math.min(e, v)] as const));
        return both.filter(([s, e]) => s <= e);
      },
      [[0, 1]],
    );
  let [spent, left, isInside, isOver] = [0, Number.NaN, false, false];
  for (let i = 0; i < out.length / 3; i++) {
    if (i % BLOCK === 0) await life.slices.pause();
    const [nth, at] = [i % all, width * i];
    if (nth === 0) [spent, left, isInside, isOver] = [0, Number.NaN, partsAt(at, at).length > 0, false];
    else if (Number.isNaN(records[at])) [spent, isOver] = [Number.NaN, true];
    else if (!isOver) {
      const start = starts?.[Math.floor(i / all)] ?? 0;
      const [time, next] = [start + recordTimes[nth - 1], start + recordTimes[nth]];
      const ended = exit < 0 ? Number.NaN : records[at + exit];
      isOver = !Number.isNaN(ended);
      const length = (isOver ? ended : next) - time;
      const parts = partsAt(at - width, at);
      for (const [s, e] of parts) spent += (e - s) * Math.abs(length);
      const [enter = 1, leave = 1] = parts[0] ?? [];
      if (Number.isNaN(left) && isInside && enter > 0) left = time;
      else if (Number.isNaN(left) && leave < 1) left = time + leave * length;
      isInside = parts.at(-1)?.[1] === 1;
      if (Number.isNaN(left) && isInside && isOver) left = ended;
    }
    out.set([spent, left, Number.isNaN(left) ? 1 : 0], 3 * i);
  }
  return out;
}
