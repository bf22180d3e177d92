/** Lists the objects below a prefix of a bucket. */
import { DataError } from "../../../shared/errors.js";
import { STORE_BOUNDS } from "../../../shared/store-settings.js";
import type { RemoteObjects, Stamp } from "./remote-objects.js";
import { plainPath, type S3Place } from "./s3.js";
import { readXml, textsIn, type XmlElement } from "./xml.js";

const { listed: MAX_ENTRIES } = STORE_BOUNDS;
const MAX_PAGES = MAX_ENTRIES / 1000;

export interface ListedObject {
  readonly name: string;
  /** The text that identifies its version; null if the list does not state it. */
  readonly version: Stamp | null;
}

export interface FolderListing {
  readonly objects: readonly ListedObject[];
  readonly folders: readonly string[];
}

/**
 * Lists the entries directly below a folder of a bucket.
 *
 * Source: Amazon S3 API reference, ListObjectsV2.
 * @param folder below the prefix of the place; empty for the prefix itself
 * @throws DataError beyond a million entries or a thousand pages, or when the host does not list, BusyError
 */
export async function listFolder(
  client: RemoteObjects,
  { bucket, key }: S3Place,
  folder: string,
): Promise<FolderListing> {
  const prefix = [key, folder].filter((part) => part !== "").join("/");
  const start = prefix === "" ? "" : `${prefix}/`;
  const found: { objects: ListedObject[]; folders: string[] } = { objects: [], folders: [] };
  let token: string | null = null;
  for (let page = 0; page < MAX_PAGES; page++) {
    const query = new URLSearchParams({ "list-type": "2", delimiter: "/", prefix: start, "encoding-type": "url" });
    if (token !== null) query.set("continuation-token", token);
    const answer = await client.fetch(`${bucket}?${query}`, null, STORE_BOUNDS.pageBytes);
    if (answer === null) throw new DataError(`${bucket} does not exist`);
    const list = pageOf(bucket, answer.bytes);
    const about = textsIn(list);
    const isEncoded = about.get("EncodingType") === "url";
    const decode = (text = "") => (isEncoded ? plainPath(bucket, text.replaceAll("+", " ")) : text).slice(start.length);
    for (const element of list.children) {
      const members = textsIn(element);
      if (element.name === "CommonPrefixes") found.folders.push(decode(members.get("Prefix")).slice(0, -1));
      if (element.name !== "Contents") continue;
      const name = copyOf(decode(members.get("Key")));
      if (name !== "") found.objects.push({ name, version: stampOf(members) });
    }
    if (found.objects.length + found.folders.length > MAX_ENTRIES)
      throw new DataError(`${bucket}/${prefix} holds more than ${MAX_ENTRIES} objects`);
    token = about.get("NextContinuationToken") ?? null;
    if (token === null) return found;
  }
  throw new DataError(`${bucket}/${prefix} is listed on more than ${MAX_PAGES} pages`);
}

/** A copy, which does not keep the page in memory. */
const copyOf = (text: string): string => Buffer.from(text).toString();

/** @throws DataError if it is not a list */
function pageOf(bucket: string, bytes: Uint8Array): XmlElement {
  let page: XmlElement | null;
  try {
    page = readXml(new TextDecoder().decode(bytes));
  } catch (error) {
    throw new DataError(`${bucket} does not answer with a list: ${(error as Error).message.split("\n")[0]}`);
  }
  if (page?.name !== "ListBucketResult") throw new DataError(`${bucket} does not answer with a list of its objects`);
  return page;
}

function stampOf(entry: ReadonlyMap<string, string>): Stamp | null {
  const etag = entry.get("ETag");
  const size = Number(entry.get("Size"));
  const modifiedMs = Date.parse(entry.get("LastModified") ?? "");
  if (etag === undefined || !Number.isSafeInteger(size) || Number.isNaN(modifiedMs)) return null;
  // Objects are sent with times in whole seconds.
  return { etag: copyOf(etag), size, modifiedMs: Math.floor(modifiedMs / 1000) * 1000 };
}
