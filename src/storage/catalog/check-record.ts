/** Record of the last `check` in the state folder: the checksums it compared. */
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { orElse } from "../../shared/errors.js";
import { makeFolder } from "../../shared/system.js";
import type { Dataset } from "../dataset/dataset.js";

const FOLDER = "checks";

interface CheckRecord {
  readonly version: string;
  /** SHA-256 of the manifest with which all bytes of the files agree; null: not compared, or they differ. */
  readonly manifest: string | null;
}

const digestOf = (value: unknown): string => createHash("sha256").update(JSON.stringify(value)).digest("hex");

function placeOf(state: string, { files }: Dataset): string {
  return join(state, FOLDER, `${digestOf(files.map(({ path }) => path))}.json`);
}

/** Keeps the outcome if the state folder can be written. `manifest`: text whose checksums all files have. */
export function saveCheckRecord(state: string, dataset: Dataset, manifest: string | null): void {
  const sums = manifest === null ? null : createHash("sha256").update(manifest).digest("hex");
  const record: CheckRecord = { version: digestOf(dataset.files), manifest: sums };
  try {
    makeFolder(join(state, FOLDER));
    writeFileSync(placeOf(state, dataset), JSON.stringify(record));
  } catch (error) {
    if (!(error instanceof Error && "syscall" in error)) throw error;
  }
}

/** SHA-256 of the manifest that a check of these very files confirmed; null if there is none. */
export function verifiedManifestOf(state: string, dataset: Dataset): string | null {
  const read = (): CheckRecord => JSON.parse(readFileSync(placeOf(state, dataset), "utf8"));
  const record = orElse(read, null);
  return record?.version === digestOf(dataset.files) ? (record.manifest ?? null) : null;
}
