/** Interface of a store: fetches its objects by key, and refuses those changed since it was opened. */
import type { Documents } from "../dataset/documents.js";
import type { ObjectPart, RemoteObjects } from "./objects/remote-objects.js";

/** Version of a store or file: a digest, and a time by the clock of its host. */
export interface VersionName {
  readonly digest: string;
  readonly newestMs: number;
}

export interface OpenedDocuments extends VersionName {
  readonly documents: Documents;
  /** As in the tree of the store. */
  readonly present?: Readonly<Record<string, number>>;
}

/** The time to which objects are pinned: the time of the last version, if present, so that none may be newer. */
export function pinnedTime(present: VersionName, changedMs: number, last: VersionName | null): number {
  const isSame = changedMs === 0 && last?.digest === present.digest;
  return isSame ? last.newestMs : Math.max(present.newestMs, changedMs);
}

export interface ObjectStore {
  /** Time of the newest object that was found changed; 0 if there is none. */
  readonly changedMs: number;
  readonly hosts: readonly RemoteObjects[];
  /**
   * Reads all metadata documents and pins the objects to the time of the result.
   * @param changedMs time of the last known change
   */
  open(changedMs: number, last: VersionName | null): Promise<OpenedDocuments>;
  /** An object or part of an object; undefined if there is none. Throws DataError, also beyond `mostBytes`. */
  read(key: string, part: ObjectPart | null, mostBytes: number): Promise<Uint8Array | undefined>;
}
