/** A plan by peers evaluates a query as one task, which divides its points among the peers of a cluster. */
import type { DividedTask, Sharing } from "../sharing.js";
import { type Plan, type PlanContext, valuesPerPoint } from "./by-arrival.js";

/** Plans a query all of whose points have arrived. */
export function planByPeers({ checked, points, velocities, buffers }: PlanContext, sharing: Sharing): Plan {
  const size = points.count * valuesPerPoint(checked);
  const out = new Float32Array(buffers.take(4 * size), 0, size);
  const work = { points: points.slabs, velocities: velocities.slabs, count: points.count, out };
  let begun = false;
  return {
    values: [out],
    next(): DividedTask | null {
      if (begun) return null;
      begun = true;
      return { kind: "divided", run: (control) => sharing.evaluate(checked, work, control) };
    },
    complete: () => begun,
    release: () => buffers.give(out.buffer),
  };
}
