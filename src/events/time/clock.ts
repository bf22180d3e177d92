/** Clock and timer, replaceable in tests. */
import { addDays, dayAt, startOfDay } from "./zone.js";

/** Epoch seconds. */
export type Clock = () => number;

export const systemClock: Clock = () => Math.floor(Date.now() / 1000);

/** @param instant ISO 8601 with offset */
export function fixedClock(instant: string): Clock {
  const seconds = Math.floor(Date.parse(instant) / 1000);
  return () => seconds;
}

/** The result cancels it. */
export type Timer = (work: () => void, milliseconds: number) => () => void;

/** Does not keep the process alive. */
export const processTimer: Timer = (work, milliseconds) => {
  const timeout = setTimeout(work, milliseconds).unref();
  return () => clearTimeout(timeout);
};

/** A slightly slow clock has passed midnight too. */
const AFTER_MIDNIGHT = 60;

/** Seconds from `now` until the next day of a zone has begun. */
export function untilTomorrow(now: number, zone: string): number {
  return startOfDay(addDays(dayAt(now, zone), 1), zone) + AFTER_MIDNIGHT - now;
}
