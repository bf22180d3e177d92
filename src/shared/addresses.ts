/** Addresses of stores: recognised among paths, and lists of both split. */
import { statSync } from "node:fs";
import { fileURLToPath } from "node:url";

const ADDRESS = /^(https?|s3|gs):\/\//i;
/** Addresses of other kinds, whose data can be read by HTTPS addresses. */
const FOREIGN = /^(gcs|az|abfss?|ftp|hdfs|icechunk):\/\//i;
/** An address with its port and path up to the next separator; a colon in the path is written as %3A. */
const LISTED =
  /file:\/\/[^:;]*|(?:https?|s3|gs|gcs|az|abfss?|ftp|hdfs|icechunk):\/\/[^/:]+(?::\d+)?(?:\/[^:;]*)?|[^:;]+/gi;

/** Whether a place is the address of a store rather than a path. */
export function isAddress(place: string): boolean {
  return ADDRESS.test(place);
}

/** Whether an address is in a bucket. */
export function isBucket(place: string): boolean {
  return /^(s3|gs):\/\//i.test(place);
}

/** Advice for unsupported addresses, by their beginnings. */
const HINTS: readonly (readonly [beginning: RegExp, hint: string])[] = [
  [/^gcs:/i, "write gs://"],
  [/^(az|abfss?):/i, "give its address https://ACCOUNT.blob.core.windows.net/CONTAINER/PATH"],
  [/^icechunk:/i, "copy it to a store of Zarr (xarray: ds.to_zarr)"],
  [/^/, "give its https:// address"],
];

/** The advice for an unsupported address; null for any other place. */
export function foreignAddress(place: string): string | null {
  if (!FOREIGN.test(place)) return null;
  const [, hint] = HINTS.find(([beginning]) => beginning.test(place)) as (typeof HINTS)[number];
  return `${place}: only https://, http://, s3:// and gs:// are read; ${hint}`;
}

/** The path of a `file://` address; other locations unchanged. */
export function withoutFileScheme(place: string): string {
  if (!/^file:\/\/\//i.test(place)) return place;
  try {
    return fileURLToPath(place);
  } catch {
    return place;
  }
}

/** The folders and addresses of a list, separated as in `PATH`; one whose path has the separator stands alone. */
export function splitPlaces(list: string, delimiter: string): string[] {
  if (list.includes(delimiter) && statSync(list, { throwIfNoEntry: false }) !== undefined) return [list];
  const places = list.includes("://") ? (list.match(LISTED) ?? []) : list.split(delimiter);
  return places.map((place) => withoutFileScheme(place.trim())).filter((place) => place !== "");
}
