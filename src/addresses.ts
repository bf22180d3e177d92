/** Tells addresses of stores from paths, and splits lists of both. */

const ADDRESS = /^(https?|s3):\/\//i;
/** Other addresses that people have, which are read by their HTTPS addresses. */
const FOREIGN = /^(gs|gcs|az|abfss?|ftp|hdfs):\/\//i;
/** An address with its port and path up to the next separator; a colon in the path is written as %3A. */
const LISTED = /(?:https?|s3|gs|gcs|az|abfss?|ftp|hdfs):\/\/[^/:]+(?::\d+)?(?:\/[^:;]*)?|[^:;]+/gi;

/** Whether a place is an address of a store rather than a path. */
export function isAddress(place: string): boolean {
  return ADDRESS.test(place);
}

/** What to do about an address of a kind that is not read; null for any other place. */
export function foreignAddress(place: string): string | null {
  if (!FOREIGN.test(place)) return null;
  const bucket = /^g(?:c)?s:\/\/(.*)/i.exec(place)?.[1];
  const hint = bucket === undefined ? "" : `, of a public bucket https://storage.googleapis.com/${bucket}`;
  return `${place}: only https://, http:// and s3:// are read; give its https:// address${hint}`;
}

/** The folders and addresses of a list, separated as in `PATH`. */
export function splitPlaces(list: string, delimiter: string): string[] {
  const places = list.includes("://") ? (list.match(LISTED) ?? []) : list.split(delimiter);
  return places.map((place) => place.trim()).filter((place) => place !== "");
}
