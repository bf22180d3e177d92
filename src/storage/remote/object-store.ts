/** Fetches the objects of one store by key, and refuses those changed since it was opened. */
import type { Documents } from "../dataset/documents.js";
import type { ObjectPart, RemoteObjects } from "./objects/remote-objects.js";

/** Version of a store or file: a digest, and a time by the clock of its host. */
export interface VersionName {
  readonly digest: string;
  readonly newestMs: number;
}

export interface OpenedDocuments extends VersionName {
  readonly documents: Documents;
}

/** The time to freeze objects to: that of the last version if it is the present one, so that they may not be newer. */
export function pinnedTime(present: VersionName, changedMs: number, last: VersionName | null): number {
  const isSame = changedMs === 0 && last?.digest === present.digest;
  return isSame ? last.newestMs : Math.max(present.newestMs, changedMs);
}

export interface ObjectStore {
  /** Time of the newest object that was found changed; 0 if there is none. */
  readonly changedMs: number;
  readonly hosts: readonly RemoteObjects[];
  /**
   * Reads all metadata documents and freezes the objects to the time of the result.
   *
   * @param changedMs what is known to have changed until then
   */
  open(changedMs: number, last: VersionName | null): Promise<OpenedDocuments>;
  /** An object or a part of it; undefined if there is none. @throws DataError also for more bytes */
  read(key: string, part: ObjectPart | null, mostBytes: number): Promise<Uint8Array | undefined>;
}
