/** Writes the objects of a store, each atomically, to a folder or below a prefix in a bucket. */
import { createHash } from "node:crypto";
import { mkdir, open, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isBucket } from "../../../shared/addresses.js";
import { BusyError, DataError } from "../../../shared/errors.js";
import type { StoreSettings } from "../../../shared/store-settings.js";
import { reasonOf } from "../../../shared/system.js";
import { refusalIn } from "./host-refusal.js";
import { type ObjectRange, type RemoteObject, RemoteObjects } from "./remote-objects.js";
import { s3Place } from "./s3.js";
import { listFolder } from "./s3-list.js";
import { membersOf } from "./xml.js";

export interface ObjectTarget {
  readonly location: string;
  isEmpty(): Promise<boolean>;
  read(key: string): Promise<Uint8Array | null>;
  write(key: string, bytes: Uint8Array): Promise<void>;
  /** Waits until written objects survive a power failure. */
  flush(keys: readonly string[]): Promise<void>;
  remove(key: string): Promise<void>;
}

/** Files flushed at a time: one journal commit serves several. */
const FLUSHED_AT_ONCE = 16;
/** Bytes of a part, unless there would be more parts than hosts allow. */
const PART_BYTES = 16 * 1024 * 1024;
const MAX_PARTS = 10_000;
/** Bytes accepted for a request of the last byte: some hosts send the first bytes. */
const LAST_BYTES = 16;

/** @throws DataError for addresses other than buckets */
export function objectTarget(location: string, settings: StoreSettings): ObjectTarget {
  if (isBucket(location)) return new BucketTarget(location, settings);
  if (/^\w+:\/\//.test(location))
    throw new DataError(`${location}: stores are written to folders and buckets (s3://, gs://)`);
  return new FolderTarget(location);
}

class FolderTarget implements ObjectTarget {
  readonly location: string;

  constructor(location: string) {
    this.location = location;
  }

  async isEmpty(): Promise<boolean> {
    await mkdir(this.location, { recursive: true });
    return (await readdir(this.location)).length === 0;
  }

  async read(key: string): Promise<Uint8Array | null> {
    try {
      return await readFile(join(this.location, key));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
      throw error;
    }
  }

  async write(key: string, bytes: Uint8Array): Promise<void> {
    const path = join(this.location, key);
    await mkdir(dirname(path), { recursive: true });
    // No chunk has a name that begins with a dot.
    const partial = join(dirname(path), ".partial");
    try {
      // The name of a document marks it as complete.
      await writeFile(partial, bytes, { flush: key.endsWith(".json") });
      await rename(partial, path);
    } catch (error) {
      await rm(partial, { force: true });
      throw new DataError(`${path} cannot be written: ${reasonOf(error)}`, error);
    }
  }

  async flush(keys: readonly string[]): Promise<void> {
    const remaining = keys.values();
    const flushNext = async () => {
      for (const key of remaining) {
        const path = join(this.location, key);
        try {
          const file = await open(path, "r+");
          await file.sync().finally(() => file.close());
        } catch (error) {
          throw new DataError(`${path} cannot be written: ${reasonOf(error)}`, error);
        }
      }
    };
    await Promise.all(Array.from({ length: FLUSHED_AT_ONCE }, flushNext));
  }

  async remove(key: string): Promise<void> {
    await rm(join(this.location, key), { force: true });
  }
}

export class BucketTarget implements ObjectTarget {
  readonly location: string;
  readonly #place: ReturnType<typeof s3Place>;
  readonly #objects: RemoteObjects;

  constructor(location: string, settings: StoreSettings) {
    this.location = location;
    this.#place = s3Place(location);
    this.#objects = new RemoteObjects(this.#place.sign, settings);
  }

  async isEmpty(): Promise<boolean> {
    const { objects, folders } = await listFolder(this.#objects, this.#place, "");
    return objects.length === 0 && folders.length === 0;
  }

  async list(): Promise<readonly string[]> {
    return (await listFolder(this.#objects, this.#place, "")).objects.map(({ name }) => name);
  }

  async read(key: string): Promise<Uint8Array | null> {
    return (await this.#objects.fetch(this.#addressOf(key)))?.bytes ?? null;
  }

  /** The last byte of an object, with its size and version; null if there is none. */
  lastByte(key: string): Promise<RemoteObject | null> {
    return this.#objects.fetch(this.#addressOf(key), { suffixLength: 1 }, LAST_BYTES);
  }

  readPart(key: string, part: ObjectRange): Promise<RemoteObject | null> {
    return this.#objects.fetch(this.#addressOf(key), part, part.length);
  }

  async write(key: string, bytes: Uint8Array): Promise<void> {
    await this.#put(this.#addressOf(key), bytes);
  }

  #put(address: string, bytes: Uint8Array): Promise<RemoteObject | null> {
    // The host refuses bytes that were corrupted in transit.
    const sum = createHash("md5").update(bytes).digest("base64");
    const headers = { "content-type": "application/octet-stream", "content-md5": sum };
    return this.#objects.send(address, { method: "PUT", body: bytes as Uint8Array<ArrayBuffer>, headers });
  }

  /**
   * Writes a file as one object, in parts unless it is small.
   *
   * Source: Amazon S3 API reference, CreateMultipartUpload, UploadPart and CompleteMultipartUpload.
   * @param signal ends it between two parts
   * @throws DataError if the host refuses a part, BusyError if it does not answer; no object is left behind
   */
  async writeFile(key: string, path: string, signal: AbortSignal): Promise<void> {
    const file = await open(path);
    try {
      const { size } = await file.stat();
      const partBytes = Math.max(PART_BYTES, Math.ceil(size / MAX_PARTS));
      const partAt = async (at: number): Promise<Buffer> => {
        signal.throwIfAborted();
        const bytes = Buffer.alloc(Math.min(partBytes, size - at));
        const { bytesRead } = await file.read(bytes, 0, bytes.length, at);
        if (bytesRead < bytes.length) throw new DataError(`${path} became shorter while it was read`);
        return bytes;
      };
      if (size <= partBytes) await this.write(key, await partAt(0));
      else await this.#writeParts(key, size, partBytes, partAt);
    } finally {
      await file.close();
    }
  }

  async #writeParts(
    key: string,
    size: number,
    partBytes: number,
    partAt: (at: number) => Promise<Buffer>,
  ): Promise<void> {
    const address = this.#addressOf(key);
    const refused = (reason: string) => new DataError(`${address} cannot be written: ${reason}`);
    const begun = await this.#objects.send(`${address}?uploads=`, { method: "POST" });
    const id = membersOf(new TextDecoder().decode(begun?.bytes), "InitiateMultipartUploadResult").get("UploadId");
    if (id === undefined) throw refused("its host takes no upload in parts");
    const upload = `uploadId=${encodeURIComponent(id)}`;
    try {
      let list = "";
      for (let at = 0, number = 1; at < size; at += partBytes, number++) {
        const part = await this.#put(`${address}?partNumber=${number}&${upload}`, await partAt(at));
        const [, tag] = /^"?([\w-]+)"?$/.exec(part?.etag ?? "") ?? [];
        if (tag === undefined) throw refused("its host does not name the parts that it has");
        list += `<Part><PartNumber>${number}</PartNumber><ETag>"${tag}"</ETag></Part>`;
      }
      const body = Buffer.from(`<CompleteMultipartUpload>${list}</CompleteMultipartUpload>`);
      const headers = { "content-type": "application/xml" };
      const done = await this.#objects.send(`${address}?${upload}`, { method: "POST", body, headers });
      // A slow host begins to answer before it knows whether it succeeds.
      const { code, isTransient, reason } = refusalIn(done?.bytes ?? new Uint8Array(0), undefined);
      if (isTransient) throw new BusyError(`${address} is not written yet: its host says ${reason}`);
      if (code !== null) throw refused(`its host says ${reason}`);
      if ((await this.lastByte(key))?.size !== size) throw refused("its host has not put all of its parts together");
    } catch (error) {
      await this.#objects.send(`${address}?${upload}`, { method: "DELETE" }).catch(() => undefined);
      throw error;
    }
  }

  async flush(): Promise<void> {}

  async remove(key: string): Promise<void> {
    await this.#objects.send(this.#addressOf(key), { method: "DELETE" });
  }

  #addressOf(key: string): string {
    return `${this.#place.prefix}/${key.split("/").map(encodeURIComponent).join("/")}`;
  }
}
