/** Objects of one host or bucket, pinned to the versions of one time: changed objects are refused. */

import { isBucket } from "../../../shared/addresses.js";
import { BusyError, changedSinceScan, DataError } from "../../../shared/errors.js";
import { sha256 } from "../../../shared/sha256.js";
import { STORE_DEFAULTS, type StoreSettings } from "../../../shared/store-settings.js";
import type { DiskCache } from "./disk-cache.js";
import type { HttpConnections } from "./http-connections.js";
import { listPage } from "./http-list.js";
import { RangeQueue } from "./range-queue.js";
import type { ObjectPart, ObjectRange, RemoteObject, Stamp } from "./remote-objects.js";
import { RemoteObjects, UNCHANGED } from "./remote-objects.js";
import { type S3Place, s3Place } from "./s3.js";
import { type FolderListing, listFolder } from "./s3-list.js";

const RESOLUTION_MS = 1000;
const MAX_VERSIONS = 65_536;

/** Range fetched to learn a version; some hosts answer a range of one byte with the whole object. */
const BEGINNING = { offset: 0, length: 2 } as const;

export type Network = Readonly<Record<"buckets" | "others", HttpConnections>>;

export interface Fetching {
  readonly settings: StoreSettings;
  readonly disk: DiskCache | null;
  /** Absent: new connections, to any host. */
  readonly network?: Network;
}

const PLAIN: Fetching = { settings: STORE_DEFAULTS, disk: null };

interface Version {
  readonly text: string;
  readonly size: number | null;
  readonly etag: string | null;
  readonly modifiedMs: number;
  readonly isExact: boolean;
  /** Whether a change is certain to show: by a strong `ETag`, or a time of change that is not recent. */
  readonly showsChanges: boolean;
}

interface ExpectedVersion {
  readonly bytes?: number;
  readonly version?: string;
  readonly refusal: DataError;
}

export class PinnedObjects {
  /** Time of the newest object that was found changed; 0 if there is none. */
  changedMs = 0;
  /** Objects changed after this time, by the clock of the host, are refused. */
  newestMs = Number.POSITIVE_INFINITY;
  readonly host: RemoteObjects;
  /** By key: the version that an object must have. */
  readonly expected = new Map<string, ExpectedVersion>();
  readonly #versions = new Map<string, Version>();
  readonly #queues = new Map<string, RangeQueue>();
  readonly #base: string;
  readonly #place: S3Place | null = null;
  readonly #disk: DiskCache | null;

  /** @param base `https://host/path`, `http://host/path`, `s3://bucket/prefix` or `gs://bucket/prefix` */
  constructor(base: string, { settings, disk, network }: Fetching = PLAIN, shared?: RemoteObjects) {
    this.#disk = disk;
    if (isBucket(base)) this.#place = s3Place(base);
    this.#base = this.#place?.prefix ?? base.replace(/\/+$/, "");
    // The host of a bucket is Amazon's or named by the AWS variables of this process, so its address is not refused.
    const connections = this.#place === null ? network?.others : network?.buckets;
    this.host = shared ?? new RemoteObjects(this.#place?.sign, settings, connections);
  }

  fetchCurrent(key: string, part: ObjectPart | null = null, mostBytes?: number): Promise<RemoteObject | null> {
    return this.host.fetch(this.#addressOf(key), part, mostBytes);
  }

  list(folder: string): Promise<FolderListing | null> {
    if (this.#place !== null) return listFolder(this.host, this.#place, folder);
    return listPage(this.host, folder === "" ? `${this.#base}/` : `${this.#addressOf(folder)}/`);
  }

  /** Fetches the beginning of an object, and pins its ranges to that version; null if there is none. */
  async pin(key: string): Promise<RemoteObject | null> {
    const object = await this.fetchCurrent(key, BEGINNING);
    if (object !== null) this.#versions.set(key, versionOf(object));
    return object;
  }

  /** Fetches an object or part of it; undefined if there is none. Throws DataError if it has changed or is too long. */
  async get(key: string, part: ObjectPart | null, mostBytes: number): Promise<Uint8Array | undefined> {
    const most = part === null ? mostBytes : "offset" in part ? part.length : part.suffixLength;
    if (most > mostBytes) throw new DataError(`${this.#addressOf(key)}: ${most} bytes are more than ${mostBytes}`);
    if (part !== null && "offset" in part) return (await this.#range(key, part)) ?? undefined;
    return (part === null ? await this.#whole(key, mostBytes) : await this.#fetch(key, part)) ?? undefined;
  }

  async #range(key: string, range: ObjectRange): Promise<Uint8Array | null> {
    const version = this.#versions.get(key) ?? (this.#disk === null ? undefined : await this.#versionOnDisk(key));
    const name = {
      address: this.#addressOf(key),
      version: version?.text ?? "",
      range: `${range.offset}-${range.length}`,
    };
    const isKept = this.#disk !== null && version?.isExact === true;
    const kept = isKept ? await this.#disk?.get(name) : null;
    if (kept) return kept.bytes;
    let queue = this.#queues.get(key);
    if (queue === undefined) {
      queue = new RangeQueue((buffer) => this.#fetch(key, buffer));
      if (this.#queues.size === MAX_VERSIONS) this.#queues.clear();
      this.#queues.set(key, queue);
    }
    const bytes = await queue.get(range);
    if (isKept && bytes !== null) this.#disk?.put(name, bytes, null);
    return bytes;
  }

  async #versionOnDisk(key: string): Promise<Version | undefined> {
    if ((await this.#fetch(key, BEGINNING)) === null) return undefined;
    return this.#versions.get(key);
  }

  async #whole(key: string, mostBytes: number): Promise<Uint8Array | null> {
    const disk = this.#disk;
    if (disk === null) return this.#fetch(key, null, mostBytes);
    const address = this.#addressOf(key);
    const name = { address, version: "", range: "whole" };
    const kept = await disk.get(name);
    const known = kept?.note as Version | null | undefined;
    const object = known?.etag
      ? await this.host.fetchUnless(address, known.etag, mostBytes)
      : await this.host.fetch(address, null, mostBytes);
    if (object === null) return null;
    if (object === UNCHANGED) {
      this.#check(key, known as Version, null);
      return (kept as { bytes: Uint8Array }).bytes;
    }
    const version = versionOf(object);
    this.#check(key, version, null);
    if (version.etag !== null && version.isExact) disk.put(name, object.bytes, version);
    return object.bytes;
  }

  async #fetch(key: string, part: ObjectPart | null, mostBytes?: number): Promise<Uint8Array | null> {
    const object = await this.host.fetch(this.#addressOf(key), part, mostBytes);
    if (object === null) return null;
    this.#check(key, versionOf(object), part);
    return object.bytes;
  }

  /** @throws DataError when an object is newer than the pinned time, or of another version than its other parts */
  #check(key: string, version: Version, part: ObjectPart | null): void {
    if (part === null && version.modifiedMs === 0) throw undated(this.#addressOf(key));
    if (part !== null) requireVersion(this.#addressOf(key), version);
    const expected = this.expected.get(key);
    if (expected !== undefined && !isExpected(version, expected)) throw expected.refusal;
    const isNewer = version.modifiedMs > this.newestMs + RESOLUTION_MS;
    if (!isNewer && (part === null || !this.#isOther(key, version))) return;
    this.changedMs = Math.max(this.changedMs, version.modifiedMs, this.newestMs + 1);
    throw changedSinceScan(this.#addressOf(key));
  }

  #addressOf(key: string): string {
    return `${this.#base}/${key.split("/").map(encodeURIComponent).join("/")}`;
  }

  /** Whether an object is of another version than its parts read before; the first one seen is pinned. */
  #isOther(key: string, version: Version): boolean {
    const known = this.#versions.get(key);
    if (known !== undefined) return known.text !== version.text;
    if (this.#versions.size === MAX_VERSIONS) this.#versions.delete(this.#versions.keys().next().value as string);
    this.#versions.set(key, version);
    return false;
  }
}

/** The error of an object whose host does not tell when it changed. */
export const undated = (address: string, lacking = "no Last-Modified"): DataError =>
  new DataError(`${address}: its host tells ${lacking}, so a change would go unseen`);

function isExpected({ text, size }: Version, expected: ExpectedVersion): boolean {
  const isSize = expected.bytes === undefined || size === null || size === expected.bytes;
  return isSize && (expected.version === undefined || expected.version === sha256(text));
}

/**
 * The version of an object.
 *
 * Source: RFC 9110, sections 8.8.2.2 and 8.8.3: a time of change identifies a version if it lies two seconds before
 * the answer, and a weak `ETag` is shared by several sequences of bytes.
 */
export function versionOf({ dateMs, ...stamp }: Stamp & { readonly dateMs: number }): Version {
  const { etag, modifiedMs } = stamp;
  const isStrong = etag !== null && !etag.startsWith("W/");
  const isOld = modifiedMs !== null && dateMs - modifiedMs >= 2 * RESOLUTION_MS;
  return {
    text: stampText(stamp),
    size: stamp.size,
    etag,
    modifiedMs: modifiedMs ?? 0,
    isExact: etag === null ? isOld : isStrong,
    showsChanges: isStrong || isOld,
  };
}

/**
 * Refuses ranges of an object whose host states no usable version.
 * @throws DataError, or BusyError if the time of change identifies the version a moment later
 */
export function requireVersion(address: string, { showsChanges, modifiedMs }: Version): void {
  if (showsChanges) return;
  if (modifiedMs === 0) throw undated(address, "neither Last-Modified nor a strong ETag");
  throw new BusyError(
    `${address} has changed a moment ago, and its host tells no strong ETag: a further change would go unseen.`,
    (2 * RESOLUTION_MS) / 1000,
  );
}

export function stampText({ etag, modifiedMs, size }: Stamp): string {
  return `${etag ?? ""} ${modifiedMs ?? ""} ${size ?? ""}`;
}
