/** A store behind an HTTP address or in a bucket of S3. */
import { createHash } from "node:crypto";
import type { AbsolutePath, RangeQuery } from "zarrita";
import { DataError } from "../../errors.js";
import { type Fetching, PinnedObjects } from "../remote/pinned-objects.js";
import type { RemoteObjects } from "../remote/remote-objects.js";
import { type Documents, documentOf } from "./metadata.js";
import type { ObjectStore, Opened } from "./object-store.js";

export class RemoteStore implements ObjectStore {
  readonly #location: string;
  readonly #objects: PinnedObjects;

  /** @param location `https://host/path`, `http://host/path` or `s3://bucket/prefix` */
  constructor(location: string, fetching: Fetching) {
    this.#location = location;
    this.#objects = new PinnedObjects(location, fetching);
  }

  get changedMs(): number {
    return this.#objects.changedMs;
  }

  get hosts(): readonly RemoteObjects[] {
    return [this.#objects.objects];
  }

  async open(changedMs: number): Promise<Opened> {
    for (const name of ["zarr.json", ".zmetadata", ".zarray"]) {
      const object = await this.#objects.current(name);
      if (object === null) continue;
      const document = documentOf(`${this.#location}/${name}`, object.bytes);
      if (document.node_type === "group" && document.consolidated_metadata === undefined)
        throw new DataError(`${this.#location} has no consolidated metadata (zarr.consolidate_metadata writes them)`);
      const documents: Documents = new Map([[name, document]]);
      const digest = createHash("sha256").update(`${name}\n`).update(object.bytes).digest("hex");
      this.#objects.newestMs = Math.max(object.dateMs, changedMs);
      return { documents, digest, bytes: object.bytes.length, newestMs: this.#objects.newestMs };
    }
    throw new DataError(
      `${this.#location} has neither zarr.json nor .zmetadata nor .zarray: a store that cannot be listed needs consolidated metadata (zarr.consolidate_metadata)`,
    );
  }

  get(key: AbsolutePath): Promise<Uint8Array | undefined> {
    return this.#objects.get(key.slice(1), null);
  }

  getRange(key: AbsolutePath, range: RangeQuery): Promise<Uint8Array | undefined> {
    return this.#objects.get(key.slice(1), range);
  }
}
