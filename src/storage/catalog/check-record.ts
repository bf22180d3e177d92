/** Record of the last `check` in the state folder: the checksums it compared. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { orElse } from "../../shared/errors.js";
import { sha256 } from "../../shared/sha256.js";
import { makeFolder } from "../../shared/system.js";
import type { Dataset } from "../dataset/dataset.js";

const FOLDER = "checks";

interface CheckRecord {
  /** Digest of the stamps of the files. */
  readonly version: string;
  /** SHA-256 of the manifest with which all bytes of the files agree; null: not compared, or they differ. */
  readonly manifest: string | null;
}

const digestOf = (value: unknown): string => sha256(JSON.stringify(value));

function recordPath(state: string, { files }: Dataset): string {
  return join(state, FOLDER, `${digestOf(files.map(({ path }) => path))}.json`);
}

/** Keeps the outcome if the state folder can be written. `manifest`: its text, if all files have the checksums in it. */
export function saveCheckRecord(state: string, dataset: Dataset, manifest: string | null): void {
  const manifestDigest = manifest === null ? null : sha256(manifest);
  const record: CheckRecord = { version: digestOf(dataset.files), manifest: manifestDigest };
  try {
    makeFolder(join(state, FOLDER));
    writeFileSync(recordPath(state, dataset), JSON.stringify(record));
  } catch (error) {
    if (!(error instanceof Error && "syscall" in error)) throw error;
  }
}

/** SHA-256 of the manifest that a check of these very files confirmed; null if there is none. */
export function verifiedManifestOf(state: string, dataset: Dataset): string | null {
  const read = (): CheckRecord => JSON.parse(readFileSync(recordPath(state, dataset), "utf8"));
  const record = orElse(read, null);
  return record?.version === digestOf(dataset.files) ? (record.manifest ?? null) : null;
}
