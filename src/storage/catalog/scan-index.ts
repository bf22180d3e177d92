/** Index of the outcomes of scans, so that the next start opens only what has changed. */
import { createHash, randomUUID } from "node:crypto";
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { deserialize, serialize } from "node:v8";
import { makeFolder } from "../../shared/system.js";
import type { Candidate, CandidateOutcome } from "../dataset/scan.js";

const MAX_BYTES = 128 * 1024 * 1024;
const DIGEST_BYTES = 32;
/** Least age of the last change: some file systems have a resolution of two seconds. */
const SETTLED_MS = 3_000;

type Entry = Pick<Candidate, "state" | "outcome">;

export class ScanIndex {
  readonly #path: string;
  readonly #key: string;
  readonly #entries: ReadonlyMap<string, Entry>;
  readonly #next = new Map<string, Entry>();

  /**
   * An index that is missing, damaged, or of other code or settings is empty.
   * @param key everything that outcomes depend on except the files
   */
  constructor(path: string, key: string) {
    this.#path = path;
    this.#key = key;
    this.#entries = readEntries(path, key);
  }

  find(location: string, state: string): CandidateOutcome | null {
    const entry = this.#entries.get(location);
    return entry?.state === state ? entry.outcome : null;
  }

  /** Adds an outcome to the index that `write` writes. `changedMs`: time of the last change of its files. */
  add(location: string, state: string, changedMs: number, outcome: CandidateOutcome): void {
    if (changedMs < Date.now() - SETTLED_MS) this.#next.set(location, { state, outcome });
  }

  /** Replaces the index atomically. If it cannot be written, the next start takes longer. */
  write(): void {
    const content = serialize({ key: this.#key, entries: this.#next });
    if (content.length > MAX_BYTES) return;
    const partial = `${this.#path}.${randomUUID()}.partial`;
    try {
      makeFolder(dirname(this.#path));
      writeFileSync(partial, Buffer.concat([digestOf(content), content]), { mode: 0o600 });
      renameSync(partial, this.#path);
    } catch {
      rmSync(partial, { force: true });
    }
  }
}

function readEntries(path: string, key: string): ReadonlyMap<string, Entry> {
  try {
    if (statSync(path).size > MAX_BYTES) return new Map();
    const bytes = readFileSync(path);
    const content = bytes.subarray(DIGEST_BYTES);
    if (!digestOf(content).equals(bytes.subarray(0, DIGEST_BYTES))) return new Map();
    const read = deserialize(content) as { key: string; entries: ReadonlyMap<string, Entry> };
    return read.key === key ? read.entries : new Map();
  } catch {
    return new Map();
  }
}

const digestOf = (content: Uint8Array): Buffer => createHash("sha256").update(content).digest();
