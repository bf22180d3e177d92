/** Describes the times of simulated frames, including guard frames at both ends that only serve interpolation. */

/** Guard frames before and after the queryable ones. */
export const GUARDS = { before: 1, after: 2 } as const;

/** The times of a descriptor: the first queryable one is 0. `count`: frames, guards included. */
export function guardedTimes(step: number, count: number) {
  return { origin: -GUARDS.before * step, step, count, guardBefore: GUARDS.before, guardAfter: GUARDS.after };
}
