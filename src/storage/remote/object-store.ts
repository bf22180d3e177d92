/**
 * An object store fetches the objects of one store by their keys, and refuses those that have changed since it was
 * opened.
 */
import type { AbsolutePath, RangeQuery } from "zarrita";
import type { Documents } from "../dataset/documents.js";
import type { RemoteObjects } from "./objects/remote-objects.js";

/** What names a version of a store or file: a digest, and a time by the clock of its host. */
export interface VersionName {
  readonly digest: string;
  readonly newestMs: number;
}

/** The documents of a store as they were when it was opened, and what tells a change. */
export interface OpenedDocuments extends VersionName {
  readonly documents: Documents;
}

/**
 * The time to freeze objects to: that of a version that was found before, if it is this one, so that its objects may
 * not be newer.
 *
 * @param present the version that is there, with the time at which it was read
 */
export function frozenTime(present: VersionName, changedMs: number, last: VersionName | null): number {
  const isSame = changedMs === 0 && last?.digest === present.digest;
  return isSame ? last.newestMs : Math.max(present.newestMs, changedMs);
}

/** The objects of one store. Failures are DataErrors, or BusyErrors if another try may succeed. */
export interface ObjectStore {
  /** Time of the newest object that was found changed since the store was opened; 0 if there is none. */
  readonly changedMs: number;
  /** The hosts that its objects are fetched from; none for a folder. */
  readonly hosts: readonly RemoteObjects[];
  /**
   * Reads all metadata documents and pins the objects to their present versions. Objects newer than the time of the
   * result are refused.
   *
   * @param changedMs what is known to have changed until then
   * @param last      the version that was found last
   */
  open(changedMs: number, last: VersionName | null): Promise<OpenedDocuments>;
  /** An object; undefined if there is none. @throws DataError also for one with more bytes */
  get(key: AbsolutePath, mostBytes: number): Promise<Uint8Array | undefined>;
  getRange(key: AbsolutePath, range: RangeQuery, mostBytes: number): Promise<Uint8Array | undefined>;
}
