/** Plan of one task that divides the points among peers, or runs here if it is small and its bricks are cached. */
import type { DividedTask, Sharing } from "../sharing.js";
import { batchInOrder, type Plan, type PlanContext, valuesPerPoint } from "./plan.js";

/** Plans a query all of whose points have arrived. */
export function planByPeers(context: PlanContext, sharing: Sharing): Plan {
  const { checked, points, velocities, buffers } = context;
  const { slabs, count } = points;
  const out = buffers.floats(count * valuesPerPoint(checked));
  const work = { points: slabs, velocities: velocities.slabs, count, out };
  let begun = false;
  return {
    values: [out],
    next(): DividedTask | null {
      if (begun) return null;
      begun = true;
      const whole = batchInOrder(context, 0, count, out);
      return { kind: "divided", whole, run: (control) => sharing.evaluate(checked, work, control) };
    },
    isFinished: () => begun,
    release: () => buffers.giveBack(out),
  };
}
