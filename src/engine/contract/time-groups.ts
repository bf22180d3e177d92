/** Divides points with separate times into groups, with one query for each group. */
import { type FramesOfPoints, framesFinder, timeInRange } from "../../kernels/time.js";
import { RequestError } from "../../shared/errors.js";
import type { Operation } from "../../shared/operations.js";
import type { Dataset } from "./dataset.js";
import type { Query } from "./query.js";

/** Least number of points at one time that get a separate query, in which they share combinations of frames. */
const SHARED = 64;

/** A query and the indices of the points that it answers. */
export interface TimedGroup {
  readonly query: Query;
  readonly points: Uint32Array;
}

/**
 * Groups points by their times: fields between the same frames, all others at the same time.
 *
 * @param member the member of the query that the times replace: `time` or `StartTime`
 * @throws RequestError that names the first time out of range
 */
export function groupsOfTimes(
  query: Query,
  { family }: Pick<Operation, "family">,
  dataset: Dataset,
  member: "time" | "StartTime",
  times: Float64Array,
): readonly TimedGroup[] {
  // The places of a moving grid depend on the time.
  const isByFrames = family === "points" && dataset.frameVelocity.every((speed) => speed === 0);
  if (!isByFrames || areShared(times)) {
    checkTimes(dataset, member, times);
    return groupsOfEqual(query, member, times);
  }
  const method = query.temporalInterpolation ?? "None";
  try {
    const weights = new Float64Array(new SharedArrayBuffer(32 * times.length));
    const find = framesFinder(dataset.time, times.length, method, true, weights);
    return find(times, times.length).flatMap((frames) => groupsOfFrames(query, frames, times));
  } catch (error) {
    checkTimes(dataset, member, times);
    throw error;
  }
}

/** @throws RequestError that names the first time out of range */
function checkTimes(dataset: Dataset, member: "time" | "StartTime", times: Float64Array): void {
  const outside = times.findIndex((time) => !timeInRange(dataset.time, time));
  if (outside < 0) return;
  const text = `Time ${times[outside]} out of range for "${dataset.name}".`;
  throw new RequestError("OutOfRange", text, { member: `${member === "time" ? "times" : "startTimes"}[${outside}]` });
}

/** Groups points between the same frames, or at equal times if many points share each time. */
function groupsOfFrames(
  query: Query,
  { frames, weights, points }: FramesOfPoints,
  times: Float64Array,
): readonly TimedGroup[] {
  const own = new Float64Array(points.length);
  for (let i = 0; i < own.length; i++) own[i] = times[points[i] as number] as number;
  if (areShared(own))
    return groupsOfEqual(query, "time", own).map((group) => ({
      query: group.query,
      points: group.points.map((i) => points[i] as number),
    }));
  const weighed = frames.length === 1 ? {} : { weights };
  return [{ query: { ...query, time: own[0] as number, ...weighed }, points }];
}

/** Whether `SHARED` points share each time, or all points do. */
function areShared(times: Float64Array): boolean {
  const most = Math.max(1, times.length / SHARED);
  const different = new Set<number>();
  for (let i = 0; i < times.length && different.size <= most; i++) different.add(times[i] as number);
  return different.size <= most;
}

function groupsOfEqual(query: Query, member: "time" | "StartTime", times: Float64Array): readonly TimedGroup[] {
  const groups = new Map<number, number[]>();
  times.forEach((time, i) => {
    const group = groups.get(time) ?? [];
    if (group.push(i) === 1) groups.set(time, group);
  });
  return [...groups].map(([time, points]) => ({
    query: { ...query, [member]: time },
    points: Uint32Array.from(points),
  }));
}

/** The triples of some points. */
export function triplesOf(triples: Float32Array, points: Uint32Array): Float32Array {
  const some = new Float32Array(3 * points.length);
  points.forEach((point, i) => {
    for (let c = 0; c < 3; c++) some[3 * i + c] = triples[3 * point + c] as number;
  });
  return some;
}
