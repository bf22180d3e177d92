/** Record of the last `check` in the state folder: its findings, and the checksums it compared. */
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "../../shared/system.js";
import type { Dataset } from "../dataset/dataset.js";

const FOLDER = "checks";
const LISTED = 3;

interface CheckRecord {
  readonly version: string;
  readonly at: string;
  readonly findings: readonly string[];
  /** SHA-256 of the manifest with which all bytes of the files agree; null: not compared, or they differ. */
  readonly manifest: string | null;
}

const digestOf = (value: unknown): string => createHash("sha256").update(JSON.stringify(value)).digest("hex");

function placeOf(state: string, { files }: Dataset): string {
  return join(state, FOLDER, `${digestOf(files.map(({ path }) => path))}.json`);
}

/** @param manifest text of the manifest whose checksums all files have @throws the error of the system */
export function keepCheck(state: string, dataset: Dataset, findings: readonly string[], manifest: string | null): void {
  const sums = manifest === null ? null : createHash("sha256").update(manifest).digest("hex");
  makeFolder(join(state, FOLDER));
  const record: CheckRecord = {
    version: digestOf(dataset.files),
    at: new Date().toISOString(),
    findings,
    manifest: sums,
  };
  writeFileSync(placeOf(state, dataset), JSON.stringify(record));
}

/** The findings of the last check of these very files, in one line; null if there were none, or no check. */
export function findingsOf(state: string, dataset: Dataset): string | null {
  const record = read(placeOf(state, dataset));
  if (record?.version !== digestOf(dataset.files) || record.findings.length === 0) return null;
  const { at, findings } = record;
  const more = findings.length - LISTED;
  return `check found on ${at}: ${findings.slice(0, LISTED).join("; ")}${more > 0 ? `; and ${more} more` : ""}`;
}

/** SHA-256 of the manifest that a check of these very files confirmed; null if there is none. */
export function verifiedManifestOf(state: string, dataset: Dataset): string | null {
  const record = read(placeOf(state, dataset));
  return record?.version === digestOf(dataset.files) ? (record.manifest ?? null) : null;
}

function read(path: string): CheckRecord | null {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as CheckRecord;
  } catch {
    return null;
  }
}
