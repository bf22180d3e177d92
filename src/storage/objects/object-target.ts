/**
 * `ObjectTarget` writes the objects of a store to a folder, or below a prefix in a bucket. Each object is there whole
 * or not at all.
 */
import { createHash } from "node:crypto";
import { mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isBucket } from "../../addresses.js";
import { DataError } from "../../errors.js";
import type { StoreSettings } from "../../store-settings.js";
import { reasonOf } from "../../system-error.js";
import { RemoteObjects } from "./remote-objects.js";
import { s3Place } from "./s3.js";
import { listFolder } from "./s3-list.js";

export interface ObjectTarget {
  /** Folder or address. */
  readonly location: string;
  isEmpty(): Promise<boolean>;
  /** Null if there is no such object. */
  read(key: string): Promise<Uint8Array | null>;
  write(key: string, bytes: Uint8Array): Promise<void>;
  /** Waits until objects that were written survive a loss of power. */
  settle(keys: readonly string[]): Promise<void>;
  remove(key: string): Promise<void>;
}

/** Files that are handed to the disk at a time: one commit of a journal serves several. */
const SETTLED_AT_ONCE = 16;

/** The target at a path, or below a prefix of a bucket. @throws DataError for other addresses */
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
      const file = await open(partial, "w");
      try {
        await file.writeFile(bytes);
        // The name of a document tells that it is whole, so the disk has it before it has that name.
        if (key.endsWith(".json")) await file.sync();
      } finally {
        await file.close();
      }
      await rename(partial, path);
    } catch (error) {
      await rm(partial, { force: true });
      throw new DataError(`${path} cannot be written: ${reasonOf(error)}`, error);
    }
  }

  async settle(keys: readonly string[]): Promise<void> {
    const left = keys.values();
    const settleNext = async () => {
      for (const key of left) {
        const path = join(this.location, key);
        try {
          const file = await open(path, "r+");
          await file.sync().finally(() => file.close());
        } catch (error) {
          throw new DataError(`${path} cannot be written: ${reasonOf(error)}`, error);
        }
      }
    };
    await Promise.all(Array.from({ length: SETTLED_AT_ONCE }, settleNext));
  }

  async remove(key: string): Promise<void> {
    await rm(join(this.location, key), { force: true });
  }
}

class BucketTarget implements ObjectTarget {
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

  async read(key: string): Promise<Uint8Array | null> {
    return (await this.#objects.fetch(this.#addressOf(key)))?.bytes ?? null;
  }

  write(key: string, bytes: Uint8Array): Promise<void> {
    // The host refuses bytes that have changed on their way.
    const sum = createHash("md5").update(bytes).digest("base64");
    const headers = { "content-type": "application/octet-stream", "content-md5": sum };
    return this.#objects.send(this.#addressOf(key), { method: "PUT", body: bytes as Uint8Array<ArrayBuffer>, headers });
  }

  /** An object that a bucket has accepted is kept. */
  async settle(): Promise<void> {}

  remove(key: string): Promise<void> {
    return this.#objects.send(this.#addressOf(key), { method: "DELETE" });
  }

  #addressOf(key: string): string {
    return `${this.#place.prefix}/${key.split("/").map(encodeURIComponent).join("/")}`;
  }
}
