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
  /** As `StoreTree.present`. */
  readonly present?: Readonly<Record<string, number>>;
  /** Whether its host tells no times of change, so that a chunk cannot be known to be of this version. */
  readonly isUndated?: boolean;
}

/** Time to which objects are pinned: none may be newer. An unchanged store keeps the time of its last version. */
export function pinnedTime(present: VersionName, knownChangeMs: number, last: VersionName | null): number {
  const isSame = knownChangeMs === 0 && last?.digest === present.digest;
  return isSame ? last.newestMs : Math.max(present.newestMs, knownChangeMs);
}

export interface ObjectStore {
  /** Time of the newest object that was found changed; 0 if there is none. */
  readonly changedMs: number;
  readonly hosts: readonly RemoteObjects[];
  /**
   * Reads all metadata documents and pins the objects to the time of the result.
   * @param knownChangeMs time of the last known change
   */
  open(knownChangeMs: number, last: VersionName | null): Promise<OpenedDocuments>;
  /** An object or part of an object; undefined if there is none. Throws DataError, also beyond `mostBytes`. */
  read(key: string, part: ObjectPart | null, mostBytes: number): Promise<Uint8Array | undefined>;
}
