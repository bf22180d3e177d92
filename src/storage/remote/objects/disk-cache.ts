/**
 * Cache of fetched bytes in a folder, within a bound; processes share it, and it survives a restart.
 *
 * An entry is one file, written atomically, with a checksum of everything in it: damage is a miss. The least recently
 * used entries go first.
 */

import { createHash, randomUUID } from "node:crypto";
import { open, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { sha256 } from "../../../shared/sha256.js";
import { makeFolder, reasonOf } from "../../../shared/system.js";
import type { DiskCounts } from "./store-status.js";

export interface EntryName {
  readonly address: string;
  /** Version of the object; empty if `note` holds it. */
  readonly version: string;
  readonly range: string;
}

export interface CacheEntry {
  readonly bytes: Uint8Array;
  readonly note: unknown;
}

const MAGIC = Buffer.from("FPCACHE1", "latin1");
const SUM_BYTES = 32;
const HEAD_BYTES = MAGIC.length + SUM_BYTES + 4;
/** Bytes that wait to be written; more are dropped. */
const MAX_WAITING = 128 * 1024 * 1024;
/** Time within which a further use is not recorded. */
const USE_RESOLUTION_MS = 60_000;
/** Fractions of the bound: written between looks at the folder, full, and left when entries are removed. */
const LOOK_AFTER = 0.02;
const FULL = 0.94;
const KEEP = 0.9;
const SUSPENDED_MS = 60_000;
const ABANDONED_MS = 3_600_000;

interface EntryFile {
  readonly path: string;
  readonly bytes: number;
  readonly usedMs: number;
}

export class DiskCache {
  readonly counts: { -readonly [K in keyof DiskCounts]: number } = {
    hits: 0,
    misses: 0,
    damaged: 0,
    evictions: 0,
    dropped: 0,
    bytes: 0,
  };
  readonly #folder: string;
  readonly #mostBytes: number;
  readonly #warn: (line: string) => void;
  #waiting = 0;
  #written = Number.POSITIVE_INFINITY;
  /** Time by `Date.now` until which nothing is written because writing failed. */
  #suspendedUntil = 0;
  #work: Promise<unknown> = Promise.resolve();

  /** @param warn receives a line when entries are dropped, when the folder cannot be written, and when it can again */
  constructor(folder: string, mostBytes: number, warn: (line: string) => void) {
    this.#folder = folder;
    this.#mostBytes = mostBytes;
    this.#warn = warn;
  }

  /** The entry of a name; null if there is none, or a damaged one. */
  async get(name: EntryName): Promise<CacheEntry | null> {
    const path = this.#pathOf(name);
    const found = await this.#read(path, name);
    if (found === null) this.counts.misses++;
    else this.counts.hits++;
    return found;
  }

  async #read(path: string, name: EntryName): Promise<CacheEntry | null> {
    let file: Buffer;
    try {
      const handle = await open(path);
      try {
        const { mtimeMs } = await handle.stat();
        file = await handle.readFile();
        const now = new Date();
        if (now.getTime() - mtimeMs > USE_RESOLUTION_MS) await handle.utimes(now, now).catch(() => undefined);
      } finally {
        await handle.close();
      }
    } catch {
      return null;
    }
    const entry = entryIn(file, name);
    if (entry !== null) return entry;
    this.counts.damaged++;
    await rm(path, { force: true }).catch(() => undefined);
    return null;
  }

  put(name: EntryName, bytes: Uint8Array, note: unknown): void {
    const isLate = this.#waiting + bytes.length > MAX_WAITING;
    if (this.#isSuspended || bytes.length > this.#mostBytes / 2 || isLate) {
      const reason = isLate ? "they come faster than the disk writes" : "they are larger than half of its bound";
      this.#drop(this.#isSuspended ? null : reason);
      return;
    }
    this.#waiting += bytes.length;
    // A copy: a reader may write NaN over missing values before this entry is written.
    const kept = Uint8Array.from(bytes);
    this.#work = this.#work
      .then(() => this.#write(this.#pathOf(name), fileOf(name, kept, note)))
      .catch((error: unknown) => this.#suspend(error))
      .finally(() => {
        this.#waiting -= bytes.length;
      });
  }

  /** Counts an entry that is dropped; the log reports the first, the tenth, the hundredth and so on. */
  #drop(reason: string | null): void {
    const count = ++this.counts.dropped;
    if (reason !== null && Number.isInteger(Math.log10(count)))
      this.#warn(`the cache in ${this.#folder} has dropped entries, ${count} so far: ${reason}`);
  }

  async settled(): Promise<void> {
    await this.#work;
  }

  async #write(path: string, parts: readonly Uint8Array[]): Promise<void> {
    if (this.#isSuspended) return;
    const bytes = parts.reduce((sum, part) => sum + part.length, 0);
    this.#written += bytes;
    if (this.#written > LOOK_AFTER * this.#mostBytes) await this.#makeRoom(bytes);
    makeFolder(join(path, ".."), 0o700);
    const partial = `${path}.${randomUUID()}.partial`;
    try {
      const file = await open(partial, "wx", 0o600);
      try {
        // Unlike `writev`, this writes everything, or fails if the disk is full.
        for (const part of parts) await file.writeFile(part);
      } finally {
        await file.close();
      }
      await rename(partial, path);
    } catch (error) {
      await rm(partial, { force: true }).catch(() => undefined);
      throw error;
    }
    this.counts.bytes += bytes;
    if (this.#suspendedUntil > 0) this.#warn(`the cache in ${this.#folder} keeps entries again`);
    this.#suspendedUntil = 0;
  }

  get #isSuspended(): boolean {
    return Date.now() < this.#suspendedUntil;
  }

  #suspend(error: unknown): void {
    if (this.#suspendedUntil === 0)
      this.#warn(`the cache in ${this.#folder} keeps nothing for now: ${reasonOf(error)}`);
    this.#suspendedUntil = Date.now() + SUSPENDED_MS;
  }

  async #makeRoom(bytes: number): Promise<void> {
    const files = await this.#look();
    let total = files.reduce((sum, file) => sum + file.bytes, 0);
    if (total + bytes > FULL * this.#mostBytes) {
      for (const file of files.sort((a, b) => a.usedMs - b.usedMs)) {
        if (total + bytes <= KEEP * this.#mostBytes) break;
        await rm(file.path, { force: true });
        total -= file.bytes;
        this.counts.evictions++;
      }
    }
    this.counts.bytes = total;
    this.#written = bytes;
  }

  /** Lists all entries of the folder, and removes abandoned ones. */
  async #look(): Promise<EntryFile[]> {
    makeFolder(this.#folder, 0o700);
    const found: EntryFile[] = [];
    for (const part of await readdir(this.#folder)) {
      const folder = join(this.#folder, part);
      if (!/^[0-9a-f]{2}$/.test(part)) continue;
      for (const name of await readdir(folder)) {
        const path = join(folder, name);
        const status = await stat(path).catch(() => null);
        if (status === null) continue;
        if (name.endsWith(".partial")) {
          if (Date.now() - status.mtimeMs > ABANDONED_MS) await rm(path, { force: true });
        } else found.push({ path, bytes: status.size, usedMs: status.mtimeMs });
      }
    }
    return found;
  }

  #pathOf({ address, version, range }: EntryName): string {
    const digest = sha256(JSON.stringify([address, version, range]));
    return join(this.#folder, digest.slice(0, 2), digest.slice(2));
  }
}

function fileOf({ address, version, range }: EntryName, bytes: Uint8Array, note: unknown): Uint8Array[] {
  const name = Buffer.from(JSON.stringify({ address, version, range, note, bytes: bytes.length }));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(name.length);
  const sum = createHash("sha256").update(length).update(name).update(bytes).digest();
  return [Buffer.concat([MAGIC, sum, length, name]), bytes];
}

function entryIn(file: Buffer, { address, version, range }: EntryName): CacheEntry | null {
  if (file.length < HEAD_BYTES || !file.subarray(0, MAGIC.length).equals(MAGIC)) return null;
  const sum = createHash("sha256")
    .update(file.subarray(HEAD_BYTES - 4))
    .digest();
  if (!sum.equals(file.subarray(MAGIC.length, MAGIC.length + SUM_BYTES))) return null;
  const nameBytes = file.readUInt32LE(HEAD_BYTES - 4);
  const name = JSON.parse(file.toString("utf8", HEAD_BYTES, HEAD_BYTES + nameBytes)) as EntryName & { note: unknown };
  if (name.address !== address || name.version !== version || name.range !== range) return null;
  return { bytes: file.subarray(HEAD_BYTES + nameBytes), note: name.note };
}
