/** Tells addresses of stores from paths, and splits lists of both. */

const ADDRESS = /^(https?|s3):\/\//i;
/** An address with its port and path up to the next separator; a colon in the path is written as %3A. */
const LISTED = /(?:https?|s3):\/\/[^/:]+(?::\d+)?(?:\/[^:;]*)?|[^:;]+/gi;

/** Whether a place is an address of a store rather than a path. */
export function isAddress(place: string): boolean {
  return ADDRESS.test(place);
}

/** The folders and addresses of a list, separated as in `PATH`. */
export function splitPlaces(list: string, delimiter: string): string[] {
  const places = list.includes("://") ? (list.match(LISTED) ?? []) : list.split(delimiter);
  return places.map((place) => place.trim()).filter((place) => place !== "");
}
