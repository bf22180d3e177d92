/** Evaluates quantities at the recorded positions and times of paths, bit-identical to calls at points. */
import { SIZES } from "../../../analysis/array-functions.js";
import type { Expression } from "../../../analysis/expression.js";
import type { Dataset } from "../../../engine/contract/dataset.js";
import type { Query, Result } from "../../../engine/contract/query.js";
import { withoutNoise } from "../../../float32/format.js";
import { RECORDS } from "../../../shared/operations.js";
import type { TimeSlices } from "../../http/policies/time-slices.js";
import type { RequestLife } from "../../http/request-life.js";
import type { TimedPoints } from "./own-times.js";
import { evaluateAt } from "./point-columns.js";

/** Records read between two checks of the clock. */
const BLOCK = 8192;

interface AlongValues {
  readonly width: number;
  readonly values: Float32Array;
}

/**
 * Evaluates quantities at the records of paths; after a particle has left the domain or met a hole they are NaN.
 * @param starts the start of each path, if they differ: the times of `result` then count from there
 */
export async function valuesAlong(
  life: RequestLife,
  columns: readonly Expression[],
  derivatives: string,
  query: Query,
  result: Result,
  starts: Float64Array | null,
): Promise<readonly AlongValues[]> {
  const { points, times, left } = await recordsOf(life.slices, result, query, starts);
  const along = columns.map(({ shape }) => {
    return { width: SIZES[shape], values: new Float32Array(SIZES[shape] * times.length) };
  });
  if (times.length === 0) return along;
  const startOf = (record: number) =>
    starts?.[Math.floor(record / result.itemsPerPoint)] ?? (query.StartTime as number);
  const options = {
    // Along streamlines, all quantities are evaluated at one time.
    ...(query.frozen ? { time: times.map((_, i) => startOf(i)), clock: times } : { time: times }),
    ...{ method: query.spatialInterpolation as string, derivatives, temporalInterpolation: "PCHIP" as const },
  };
  await evaluateAt(life, life.find(query.dataset ?? "") as Dataset, columns, points, options, (k, from, components) => {
    const { values, width } = along[k] as AlongValues;
    for (const [c, numbers] of components.entries())
      for (let i = 0; i < numbers.length; i++)
        values[width * (from + i) + c] = left[from + i] === 1 ? Number.NaN : numbers[i];
  });
  return along;
}

/** Positions and times of all records, and 1 for particles that have left the domain or met a hole. */
async function recordsOf(
  slices: TimeSlices,
  { values, components, record, itemsPerPoint, recordTimes = new Float64Array(1) }: Result,
  { StartTime = 0, dt = 1, EndTime = StartTime + dt }: Query,
  starts: Float64Array | null,
): Promise<TimedPoints & { readonly left: Uint8Array }> {
  const count = values.reduce((sum, part) => sum + part.length / components, 0);
  const points = new Float32Array(3 * count);
  const times = new Float64Array(count);
  const left = new Uint8Array(count);
  const names: readonly string[] = RECORDS[record ?? "Point3"];
  const exit = names.indexOf("exit");
  const sign = EndTime < StartTime || dt < 0 ? -1 : 1;
  const shared = starts === null ? Float64Array.from(recordTimes, withoutNoise) : null;
  let i = 0;
  for (const part of values)
    for (let at = 0; at < part.length; at += components, i++) {
      if (i % BLOCK === 0) await slices.pause();
      const isKnown = !Number.isNaN(Number(part[at]) + Number(part[at + 1]) + Number(part[at + 2]));
      if (!isKnown) left[i] = 1;
      // A valid position for the query, in place of the position of a particle that has left.
      const first = 3 * (i - (i % itemsPerPoint));
      for (let c = 0; c < 3; c++) points[3 * i + c] = isKnown ? Number(part[at + c]) : Number(points[first + c]);
      const nth = i % itemsPerPoint;
      const start = starts?.[Math.floor(i / itemsPerPoint)] ?? 0;
      times[i] = shared?.[nth] ?? withoutNoise(start + Number(recordTimes[nth]));
      if (exit >= 0 && sign * (Number(times[i]) - Number(part[at + exit])) > 0) left[i] = 1;
    }
  return { points, times, left };
}
