/** A store behind an HTTP address or in a bucket of S3. */
import { createHash } from "node:crypto";
import type { AbsolutePath, RangeQuery } from "zarrita";
import { DataError } from "../../errors.js";
import { type Part, type RemoteObject, RemoteObjects } from "../remote/remote-objects.js";
import { s3Place } from "../remote/s3.js";
import type { ObjectStore, Opened } from "./object-store.js";

/** HTTP tells times in whole seconds. */
const RESOLUTION_MS = 1000;
/** Objects whose versions are remembered, because they are read part by part. */
const MOST_VERSIONS = 65_536;

export class RemoteStore implements ObjectStore {
  changedMs = 0;
  readonly objects: RemoteObjects;
  readonly #location: string;
  readonly #address: string;
  readonly #versions = new Map<string, string>();
  #newestMs = Number.POSITIVE_INFINITY;

  /** @param location `https://host/path`, `http://host/path` or `s3://bucket/prefix` */
  constructor(location: string) {
    this.#location = location;
    if (location.startsWith("s3://")) {
      const { prefix, sign } = s3Place(location);
      this.#address = prefix;
      this.objects = new RemoteObjects(sign);
    } else {
      this.#address = location.replace(/\/+$/, "");
      this.objects = new RemoteObjects();
    }
  }

  async open(changedMs: number): Promise<Opened> {
    const documents = new Map<string, Record<string, unknown>>();
    const hash = createHash("sha256");
    let [bytes, newestMs] = [0, 0];
    for (const name of ["zarr.json", ".zmetadata", ".zarray"]) {
      const object = await this.objects.fetch(`${this.#address}/${name}`);
      if (object === null) continue;
      hash.update(`${name}\n`).update(object.bytes);
      bytes += object.bytes.length;
      newestMs = Math.max(object.dateMs, changedMs);
      documents.set(name, this.#document(name, object));
      break;
    }
    const [found] = documents.values();
    if (found === undefined)
      throw new DataError(
        `${this.#location} has neither zarr.json nor .zmetadata nor .zarray: a store that cannot be listed needs consolidated metadata (zarr.consolidate_metadata)`,
      );
    if (found.node_type === "group" && found.consolidated_metadata === undefined)
      throw new DataError(`${this.#location} has no consolidated metadata (zarr.consolidate_metadata writes them)`);
    this.#newestMs = newestMs;
    return { documents, digest: hash.digest("hex"), bytes, newestMs };
  }

  #document(name: string, { bytes }: RemoteObject): Record<string, unknown> {
    try {
      return JSON.parse(new TextDecoder().decode(bytes));
    } catch (cause) {
      throw new DataError(`${this.#location}: ${name} is not readable as JSON`, cause);
    }
  }

  get(key: AbsolutePath): Promise<Uint8Array | undefined> {
    return this.#fetch(key, null);
  }

  getRange(key: AbsolutePath, range: RangeQuery): Promise<Uint8Array | undefined> {
    return this.#fetch(key, range);
  }

  async #fetch(key: AbsolutePath, part: Part | null): Promise<Uint8Array | undefined> {
    const path = key.slice(1).split("/").map(encodeURIComponent).join("/");
    const object = await this.objects.fetch(`${this.#address}/${path}`, part);
    if (object === null) return undefined;
    const modifiedMs = object.modifiedMs ?? 0;
    const isNewer = modifiedMs > this.#newestMs + RESOLUTION_MS;
    if (isNewer || (part !== null && this.#hasChanged(key, object.etag))) {
      this.changedMs = Math.max(this.changedMs, modifiedMs, this.#newestMs + 1);
      throw new DataError(`${this.#location}${key} has changed since the catalogue was read`);
    }
    return object.bytes;
  }

  /** Whether an object is another than the one of which parts have been read. */
  #hasChanged(key: string, etag: string | null): boolean {
    if (etag === null) return false;
    const known = this.#versions.get(key);
    if (known !== undefined) return known !== etag;
    if (this.#versions.size === MOST_VERSIONS) this.#versions.delete(this.#versions.keys().next().value as string);
    this.#versions.set(key, etag);
    return false;
  }
}
