/**
 * An object store fetches the objects of one store by their keys, and refuses those that have changed since it was
 * opened.
 */
import type { AbsolutePath, RangeQuery } from "zarrita";
import type { RemoteObjects } from "../objects/remote-objects.js";
import type { Documents } from "./documents.js";

/** The documents of a store as they were when it was opened, and what tells a change. */
export interface OpenedDocuments {
  readonly documents: Documents;
  readonly digest: string;
  /** Time of the newest object in milliseconds of the store's clock; objects newer than that are refused. */
  readonly newestMs: number;
}

/** The objects of one store. Failures are DataErrors, or BusyErrors if another try may succeed. */
export interface ObjectStore {
  /** Time of the newest object that was found changed since the store was opened; 0 if there is none. */
  readonly changedMs: number;
  /** The hosts that its objects are fetched from; none for a folder. */
  readonly hosts: readonly RemoteObjects[];
  /**
   * Reads all metadata documents and pins the objects to their present versions.
   *
   * @param changedMs what is known to have changed until then
   */
  open(changedMs: number): Promise<OpenedDocuments>;
  /** An object; undefined if there is none. @throws DataError also for one with more bytes */
  get(key: AbsolutePath, mostBytes: number): Promise<Uint8Array | undefined>;
  getRange(key: AbsolutePath, range: RangeQuery, mostBytes: number): Promise<Uint8Array | undefined>;
}
