/** Ids for events and terms that come without one. */

/** First id that is given; ids given by hand are expected below. */
const FIRST_GIVEN_ID = 1_000_000_000;

/** The first free id after `last`, but none below `FIRST_GIVEN_ID`. */
export function nextId(last: number, isTaken: (id: number) => boolean): number {
  let id = Math.max(last + 1, FIRST_GIVEN_ID);
  while (isTaken(id)) id += 1;
  return id;
}
