/** Lists the objects below a prefix of a bucket. */
import sax from "sax";
import { DataError } from "../../../shared/errors.js";
import { STORE_BOUNDS } from "../../../shared/store-settings.js";
import type { RemoteObjects, Stamp } from "./remote-objects.js";
import { plainPath, type S3Place } from "./s3.js";

const MOST_PAGES = STORE_BOUNDS.listed / 1000;

export interface ListedObject {
  readonly name: string;
  /** The text that tells its version; null if the list does not tell it. */
  readonly version: Stamp | null;
}

export interface FolderListing {
  readonly objects: readonly ListedObject[];
  readonly folders: readonly string[];
}

interface KeyPage {
  readonly contents: Map<string, string>[];
  readonly prefixes: string[];
  /** Whether keys are percent-encoded. */
  isEncoded: boolean;
  next: string | null;
}

/**
 * Lists the entries directly below a folder of a bucket.
 *
 * Source: Amazon S3 API reference, ListObjectsV2.
 *
 * @param folder below the prefix of the place; empty for the prefix itself
 * @throws DataError beyond a million entries, or when the host does not list, BusyError
 */
export async function listFolder(
  objects: RemoteObjects,
  { bucket, key }: S3Place,
  folder: string,
): Promise<FolderListing> {
  const prefix = [key, folder].filter((part) => part !== "").join("/");
  const start = prefix === "" ? "" : `${prefix}/`;
  const found: { objects: ListedObject[]; folders: string[] } = { objects: [], folders: [] };
  let token: string | null = null;
  for (let page = 0; page < MOST_PAGES; page++) {
    const query = new URLSearchParams({ "list-type": "2", delimiter: "/", prefix: start, "encoding-type": "url" });
    if (token !== null) query.set("continuation-token", token);
    const answer = await objects.fetch(`${bucket}?${query}`, null, STORE_BOUNDS.pageBytes);
    if (answer === null) throw new DataError(`${bucket} does not exist`);
    const { contents, prefixes, isEncoded, next } = pageOf(bucket, answer.bytes);
    const decode = (text: string) => (isEncoded ? plainPath(bucket, text.replaceAll("+", " ")) : text);
    for (const entry of contents) {
      const name = alone(decode(entry.get("Key") ?? "").slice(start.length));
      if (name !== "") found.objects.push({ name, version: stampOf(entry) });
    }
    found.folders.push(...prefixes.map((prefix) => decode(prefix).slice(start.length, -1)));
    if (found.objects.length + found.folders.length > STORE_BOUNDS.listed) break;
    if (next === null) return found;
    token = next;
  }
  throw new DataError(`${bucket}/${prefix} holds more than ${STORE_BOUNDS.listed} objects`);
}

function alone(text: string): string {
  return Buffer.from(text).toString();
}

/** @throws DataError if it is not a list */
function pageOf(bucket: string, bytes: Uint8Array): KeyPage {
  const page: KeyPage = { contents: [], prefixes: [], isEncoded: false, next: null };
  const open: string[] = [];
  let isList = false;
  const parser = sax.parser(true);
  parser.onopentag = ({ name }) => {
    isList ||= name === "ListBucketResult";
    if (name === "Contents") page.contents.push(new Map());
    open.push(name);
  };
  parser.onclosetag = () => open.pop();
  parser.ontext = (text) => {
    const [parent, name] = open.slice(-2);
    if (parent === "Contents" && name !== undefined) {
      const entry = page.contents.at(-1);
      entry?.set(name, (entry.get(name) ?? "") + text);
    }
    if (parent === "CommonPrefixes" && name === "Prefix") page.prefixes.push(text);
    if (name === "EncodingType") page.isEncoded = text === "url";
    if (name === "NextContinuationToken") page.next = text;
  };
  parser.onerror = (error) => {
    throw new DataError(`${bucket} does not answer with a list: ${error.message.split("\n")[0]}`);
  };
  parser.write(new TextDecoder().decode(bytes)).close();
  if (!isList) throw new DataError(`${bucket} does not answer with a list of its objects`);
  return page;
}

function stampOf(entry: ReadonlyMap<string, string>): Stamp | null {
  const [etag, size, modifiedMs] = [
    entry.get("ETag"),
    Number(entry.get("Size")),
    Date.parse(entry.get("LastModified") ?? ""),
  ];
  if (etag === undefined || !Number.isSafeInteger(size) || Number.isNaN(modifiedMs)) return null;
  // Objects are sent with their times in whole seconds.
  return { etag: alone(etag), size, modifiedMs: Math.floor(modifiedMs / 1000) * 1000 };
}
