/** Lists the objects below a prefix of a bucket. */
import sax from "sax";
import { DataError } from "../../errors.js";
import type { RemoteObjects } from "./remote-objects.js";
import type { S3Place } from "./s3.js";

/** Pages of a thousand objects that are asked for. */
const MOST_PAGES = 1000;

/** What stands directly below a prefix. */
export interface Listed {
  /** Names of objects. */
  readonly objects: readonly string[];
  /** Names of what would be folders. */
  readonly folders: readonly string[];
}

/** One page of a list. */
interface KeyPage {
  readonly keys: string[];
  readonly prefixes: string[];
  next: string | null;
}

/**
 * Lists what stands directly below a folder of a bucket.
 *
 * Source: Amazon S3 API reference, ListObjectsV2.
 *
 * @param folder below the prefix of the place, without slashes around it; empty for the prefix itself
 * @throws DataError when there is more than a million entries or the host does not list, BusyError
 */
export async function listFolder(objects: RemoteObjects, { bucket, key }: S3Place, folder: string): Promise<Listed> {
  const prefix = [key, folder].filter((part) => part !== "").join("/");
  const start = prefix === "" ? "" : `${prefix}/`;
  const found: { objects: string[]; folders: string[] } = { objects: [], folders: [] };
  let token: string | null = null;
  for (let page = 0; page < MOST_PAGES; page++) {
    const query = new URLSearchParams({ "list-type": "2", delimiter: "/", prefix: start, "encoding-type": "url" });
    if (token !== null) query.set("continuation-token", token);
    const answer = await objects.fetch(`${bucket}?${query}`);
    if (answer === null) throw new DataError(`${bucket} does not exist`);
    const { keys, prefixes, next } = pageOf(bucket, answer.bytes);
    found.objects.push(...keys.map((name) => name.slice(start.length)).filter((name) => name !== ""));
    found.folders.push(...prefixes.map((name) => name.slice(start.length, -1)));
    if (next === null) return found;
    token = next;
  }
  throw new DataError(`${bucket}/${prefix} holds more than ${MOST_PAGES} pages of objects`);
}

/** @throws DataError when it is no list */
function pageOf(bucket: string, bytes: Uint8Array): KeyPage {
  const page: KeyPage = { keys: [], prefixes: [], next: null };
  const open: string[] = [];
  let isList = false;
  const parser = sax.parser(true);
  parser.onopentag = ({ name }) => {
    isList ||= name === "ListBucketResult";
    open.push(name);
  };
  parser.onclosetag = () => open.pop();
  parser.ontext = (text) => {
    const [parent, name] = open.slice(-2);
    if (parent === "Contents" && name === "Key") page.keys.push(decodeKey(text));
    if (parent === "CommonPrefixes" && name === "Prefix") page.prefixes.push(decodeKey(text));
    if (name === "NextContinuationToken") page.next = text;
  };
  parser.onerror = (error) => {
    throw new DataError(`${bucket} does not answer with a list: ${error.message.split("\n")[0]}`);
  };
  parser.write(new TextDecoder().decode(bytes)).close();
  if (!isList) throw new DataError(`${bucket} does not answer with a list of its objects`);
  return page;
}

function decodeKey(text: string): string {
  return decodeURIComponent(text.replaceAll("+", " "));
}
