/** The clock of the events module: whole epoch seconds, injected so that a demonstration or a test can stand still. */

/** Seconds since 1970-01-01T00:00:00Z, rounded down. */
export type Clock = () => number;

export const systemClock: Clock = () => Math.floor(Date.now() / 1000);

/** @param instant ISO 8601 with offset */
export function fixedClock(instant: string): Clock {
  const seconds = Math.floor(Date.parse(instant) / 1000);
  return () => seconds;
}
