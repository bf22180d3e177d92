/** Plan by arrival: cuts a query into batches in the order in which its points arrive. */
import { BATCH_POINTS } from "../../contract/memory.js";
import { batchInOrder, MAX_PARTICLES, MIN_POINTS, type Plan, type PlanContext, valuesPerPoint } from "./plan.js";

/** Batches of box filters per worker: one may take much longer than another. */
const FILTER_BATCHES = 4;

/** Plans batches in order of arrival; points that wait for a worker gather into larger batches. */
export function planByArrival(context: PlanContext): Plan {
  const { family } = context.checked.operation;
  const least = MIN_POINTS[family];
  const width = valuesPerPoint(context.checked);
  const mostOfFamily = family === "track" ? MAX_PARTICLES : BATCH_POINTS;
  const most = Math.max(1, Math.min(mostOfFamily, Math.floor(context.mostValues / width)));
  const values: Float32Array[] = [];
  let taken = 0;
  /** Returns the buffer of a part, once: a reader that left may still request the next part. */
  const drop = (part: number): void => {
    if (values[part].length > 0) context.buffers.giveBack(values[part]);
    values[part] = new Float32Array(0);
  };
  return {
    values,
    next(hasAll) {
      const waiting = context.points.count - taken;
      if (waiting === 0 || (!hasAll && (family === "track" || waiting < least))) return null;
      const even = Math.ceil(
        waiting / (family === "filter" ? FILTER_BATCHES * context.parallelism : context.parallelism),
      );
      const count = Math.min(waiting, Math.max(least, even), most);
      const first = taken;
      taken += count;
      const out = context.buffers.floats(count * width);
      values.push(out);
      return batchInOrder(context, first, count, out);
    },
    isFinished: () => taken === context.points.count,
    drop,
    release() {
      for (const part of values.keys()) drop(part);
    },
  };
}
