/** Keeps the last findings of `check` in the state folder, so that a service that serves the dataset can log them. */
import { createHash } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "../../make-folder.js";
import type { Dataset } from "../file/dataset.js";

const FOLDER = "checks";
/** Findings that a log repeats. */
const LISTED = 3;

interface CheckRecord {
  /** Digest of the files as they were. */
  readonly version: string;
  readonly at: string;
  readonly findings: readonly string[];
}

const digestOf = (value: unknown): string => createHash("sha256").update(JSON.stringify(value)).digest("hex");

function placeOf(state: string, { files }: Dataset): string {
  return join(state, FOLDER, `${digestOf(files.map(({ path }) => path))}.json`);
}

/** Keeps the findings of a check; without findings there is nothing to keep. @throws the error of the system */
export function keepFindings(state: string, dataset: Dataset, findings: readonly string[], now: Date): void {
  const path = placeOf(state, dataset);
  if (findings.length === 0) {
    rmSync(path, { force: true });
    return;
  }
  makeFolder(join(state, FOLDER));
  const record: CheckRecord = { version: digestOf(dataset.files), at: now.toISOString(), findings };
  writeFileSync(path, JSON.stringify(record));
}

/** What the last check of these very files found, in one line; null if it found nothing, or there was none. */
export function findingsOf(state: string, dataset: Dataset): string | null {
  const record = read(placeOf(state, dataset));
  if (record?.version !== digestOf(dataset.files)) return null;
  const { at, findings } = record;
  const more = findings.length - LISTED;
  return `check found on ${at}: ${findings.slice(0, LISTED).join("; ")}${more > 0 ? `; and ${more} more` : ""}`;
}

/** A record; null if there is none that can be read. */
function read(path: string): CheckRecord | null {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as CheckRecord;
  } catch {
    return null;
  }
}
