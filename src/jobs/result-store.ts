/** Stores of finished results: the folder in which they are written, or a bucket. */
import { createHash, randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { isBucket } from "../shared/addresses.js";
import { DataError } from "../shared/errors.js";
import { ReadMemory } from "../shared/read-memory.js";
import type { StoreSettings } from "../shared/store-settings.js";
import { BucketTarget } from "../storage/remote/objects/object-target.js";
import type { JobResult } from "./job.js";
import { besides, isId, removeOld } from "./job-files.js";

const STEP_BYTES = 4 * 1024 * 1024;
/** Bytes of a file that are hashed at a time, and number of comparisons that are cached. */
const HASH_BYTES = 256 * 1024;
const MAX_COMPARED = 1000;
/** The object that is written to check that a bucket accepts results. */
const CHECK_KEY = "fieldprobe-check";

export interface ResultStore {
  /** The folder in which results are written before they are stored. */
  readonly folder: string;
  /** Checks that results can be stored. Throws DataError if its host refuses, BusyError if it does not answer. */
  check(): Promise<void>;
  /** Stores a result, with its manifest and its checksum. Throws as `check`, and the reason of the signal. */
  keep(name: string, signal: AbortSignal): Promise<void>;
  /** Whether a result exists with the bytes that were written, by its digest, computed once. Throws as `check`. */
  holds(result: JobResult): Promise<boolean>;
  fileOf(name: string): string | null;
  read(name: string, first: number, last: number): Readable;
  /** Removes the files of one attempt at a result. */
  discard(name: string): Promise<void>;
  /** Removes the files of other attempts at the result of a job from the folder. */
  tidy(id: string, kept: string): Promise<void>;
  /** Removes the results of jobs, including results that were written but never recorded. */
  remove(ids: ReadonlySet<string>): Promise<void>;
  /** Removes files of a folder that belong to none of these jobs and were last changed before a time. */
  sweep(ids: ReadonlySet<string>, before: number): Promise<void>;
}

/** The store of a bucket, or else of a folder. `working`: folder in which results for a bucket are written. */
export function resultStore(place: string, working: string, settings: StoreSettings): ResultStore {
  return isBucket(place) ? new BucketResults(place, working, settings) : new FolderResults(place);
}

class Comparisons {
  readonly #known = new Map<string, Promise<boolean>>();

  /** @param state name of the bytes: a new state is compared again */
  compare({ name, sha256 }: JobResult, state: string, bytes: () => AsyncIterable<Buffer>): Promise<boolean> {
    const key = `${name} ${sha256} ${state}`;
    const compared = this.#known.get(key) ?? digestOf(bytes()).then((digest) => digest === sha256);
    if (this.#known.size >= MAX_COMPARED) this.#known.clear();
    this.#known.set(key, compared);
    compared.catch(() => this.#known.delete(key));
    return compared;
  }
}

async function digestOf(bytes: AsyncIterable<Buffer>): Promise<string> {
  const hash = createHash("sha256");
  for await (const part of bytes) hash.update(part);
  return hash.digest("hex");
}

/** The id of the job in the name of a result or an accompanying file. */
const jobOf = (name: string): string => /^[0-9a-f]*/.exec(name)?.[0] ?? "";

/** Results that stay in the folder in which they were written. */
export class FolderResults implements ResultStore {
  readonly folder: string;
  readonly #comparisons = new Comparisons();

  constructor(folder: string) {
    this.folder = folder;
  }

  async check(): Promise<void> {}

  async keep(): Promise<void> {}

  async holds(result: JobResult): Promise<boolean> {
    const path = join(this.folder, result.name);
    const found = await stat(path).catch(() => null);
    if (found === null || found.size !== result.bytes) return false;
    const state = [found.ino, found.mtimeMs, found.ctimeMs].join(" ");
    return this.#comparisons.compare(result, state, () => createReadStream(path, { highWaterMark: HASH_BYTES }));
  }

  fileOf(name: string): string {
    return join(this.folder, name);
  }

  read(name: string, first: number, last: number): Readable {
    return createReadStream(join(this.folder, name), { start: first, end: last });
  }

  async discard(name: string): Promise<void> {
    const path = join(this.folder, name);
    for (const file of [path, ...besides(path)]) await rm(file, { force: true });
  }

  tidy(id: string, kept: string): Promise<void> {
    return this.#remove((name) => jobOf(name) === id && !name.startsWith(kept));
  }

  async remove(ids: ReadonlySet<string>): Promise<void> {
    if (ids.size > 0) await this.#remove((name) => ids.has(jobOf(name)));
  }

  sweep(ids: ReadonlySet<string>, before: number): Promise<void> {
    return removeOld(this.folder, before, (name) => isId(jobOf(name)) && !ids.has(jobOf(name)));
  }

  async #remove(isGone: (name: string) => boolean): Promise<void> {
    const names = await readdir(this.folder).catch(() => []);
    for (const name of names) if (isGone(name)) await rm(join(this.folder, name), { force: true });
  }
}

/** Results that are uploaded to a bucket once they are whole. */
class BucketResults implements ResultStore {
  readonly #written: FolderResults;
  readonly #bucket: BucketTarget;
  readonly #comparisons = new Comparisons();

  constructor(place: string, working: string, settings: StoreSettings) {
    this.#written = new FolderResults(working);
    this.#bucket = new BucketTarget(place, settings);
  }

  get folder(): string {
    return this.#written.folder;
  }

  async check(): Promise<void> {
    const text = Buffer.from("Jobs of fieldprobe keep their results here.\n");
    await this.#bucket.write(CHECK_KEY, text);
    // Later needs of the bucket: sizes, bytes, and a list, without which old results would stay.
    if (
      (await this.#bucket.lastByte(CHECK_KEY))?.size !== text.length ||
      !(await this.#bucket.list()).includes(CHECK_KEY)
    )
      throw new DataError(`${this.#bucket.location} does not show what was written there`);
    await this.#bucket.remove(CHECK_KEY);
  }

  async keep(name: string, signal: AbortSignal): Promise<void> {
    try {
      // The result comes last, as in a folder.
      for (const key of [...besides(name), name]) await this.#bucket.writeFile(key, join(this.folder, key), signal);
    } finally {
      await this.#written.discard(name);
    }
  }

  async discard(name: string): Promise<void> {
    for (const key of [name, ...besides(name)]) await this.#bucket.remove(key);
  }

  tidy(id: string): Promise<void> {
    return this.#written.remove(new Set([id]));
  }

  sweep(ids: ReadonlySet<string>, before: number): Promise<void> {
    return this.#written.sweep(ids, before);
  }

  async holds(result: JobResult): Promise<boolean> {
    const { name, bytes } = result;
    const last = await this.#bucket.lastByte(name);
    if (last === null || last.size !== bytes) return false;
    // Without versions of objects, the whole object is compared each time.
    const state = last.etag ?? randomUUID();
    return this.#comparisons.compare(result, state, () => this.#parts(name, 0, bytes - 1));
  }

  fileOf(): null {
    return null;
  }

  read(name: string, first: number, last: number): Readable {
    return Readable.from(this.#parts(name, first, last), { objectMode: false });
  }

  async *#parts(name: string, first: number, last: number): AsyncGenerator<Buffer> {
    let known: string | null = null;
    for (let at = first; at <= last; at += STEP_BYTES) {
      const length = Math.min(STEP_BYTES, last + 1 - at);
      const part = await this.#bucket.readPart(name, { offset: at, length });
      if (part === null || part.bytes.length < length || (known !== null && part.etag !== known))
        throw new DataError(`${name} changed in ${this.#bucket.location} while it was read`);
      known = part.etag;
      const bytes = Buffer.from(part.bytes);
      ReadMemory.ofThread().giveBack(part.bytes);
      yield bytes;
    }
  }

  async remove(ids: ReadonlySet<string>): Promise<void> {
    if (ids.size === 0) return;
    await this.#written.remove(ids);
    for (const key of await this.#bucket.list()) if (ids.has(jobOf(key))) await this.#bucket.remove(key);
  }
}
