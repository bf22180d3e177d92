/** Ids for events and terms that come without one. */

/** First id given to an event or term that comes without one; ids given by hand are expected below. */
const FIRST_GIVEN_ID = 1_000_000_000;

export function nextId(taken: readonly number[]): number {
  return taken.reduce((highest, id) => Math.max(highest, id), FIRST_GIVEN_ID - 1) + 1;
}
