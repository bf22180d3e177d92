/** A task that runs after every local midnight. */
import type { Clock } from "./clock.js";
import { addDays, dayAt, startOfDay } from "./zone.js";

/** Runs `work` once after a number of milliseconds; the result cancels it. */
export type Timer = (work: () => void, milliseconds: number) => () => void;

/** Does not keep the process alive. */
export const processTimer: Timer = (work, milliseconds) => {
  const timeout = setTimeout(work, milliseconds).unref();
  return () => clearTimeout(timeout);
};

/** Seconds after midnight at which the task runs, so that a clock that is a little slow has passed it as well. */
const AFTER_MIDNIGHT = 60;

/** @returns a function that ends the series */
export function nightly(clock: Clock, zone: () => string, timer: Timer, work: () => void): () => void {
  let cancel = () => {};
  const plan = () => {
    const now = clock();
    const midnight = startOfDay(addDays(dayAt(now, zone()), 1), zone());
    cancel = timer(
      () => {
        work();
        plan();
      },
      (midnight + AFTER_MIDNIGHT - now) * 1000,
    );
  };
  plan();
  return () => cancel();
}
