/** Gives the events module its clock, and runs a task after each local midnight; tests inject both. */
import { addDays, dayAt, startOfDay } from "./zone.js";

/** Seconds since 1970-01-01T00:00:00Z, rounded down. */
export type Clock = () => number;

/** The clock of the machine. */
export const systemClock: Clock = () => Math.floor(Date.now() / 1000);

/** A stopped clock, for reproducible demonstrations. @param instant ISO 8601 with offset */
export function fixedClock(instant: string): Clock {
  const seconds = Math.floor(Date.parse(instant) / 1000);
  return () => seconds;
}

/** Runs `work` once after a number of milliseconds; the result cancels it. */
export type Timer = (work: () => void, milliseconds: number) => () => void;

/** A timer that does not keep the process alive. */
export const processTimer: Timer = (work, milliseconds) => {
  const timeout = setTimeout(work, milliseconds).unref();
  return () => clearTimeout(timeout);
};

/** Seconds after midnight at which the task runs, so that a slightly slow clock has passed midnight as well. */
const AFTER_MIDNIGHT = 60;

/** Runs `work` after each midnight of `zone`; the result ends the series. */
export function nightly(clock: Clock, zone: () => string, timer: Timer, work: () => void): () => void {
  let cancel = () => {};
  const plan = () => {
    const now = clock();
    const midnight = startOfDay(addDays(dayAt(now, zone()), 1), zone());
    const run = () => {
      work();
      plan();
    };
    cancel = timer(run, (midnight + AFTER_MIDNIGHT - now) * 1000);
  };
  plan();
  return () => cancel();
}
