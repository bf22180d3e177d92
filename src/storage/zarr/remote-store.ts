/** `RemoteStore` reads a store behind an HTTP address or in a bucket of S3. */
import { createHash } from "node:crypto";
import type { AbsolutePath, RangeQuery } from "zarrita";
import { DataError } from "../../errors.js";
import { type Fetching, PinnedObjects } from "../remote/pinned-objects.js";
import type { RemoteObjects } from "../remote/remote-objects.js";
import { DOCUMENT_NAMES, type Documents, documentOf, type Json } from "./metadata.js";
import type { ObjectStore, OpenedDocuments } from "./object-store.js";

/** Documents that are read of a store without consolidated metadata, and how deep its groups may lie in each other. */
const MOST_DOCUMENTS = 10_000;
const DEPTH = 32;
const NAMES: readonly string[] = DOCUMENT_NAMES;

/** The metadata documents of a store, and their texts by key. */
interface Found {
  readonly documents: Documents;
  readonly texts: ReadonlyMap<string, Uint8Array>;
  /** Time of the last answer by the clock of the host. */
  readonly dateMs: number;
}

export class RemoteStore implements ObjectStore {
  readonly #location: string;
  readonly #objects: PinnedObjects;

  /**
   * @param location `https://host/path`, `http://host/path` or `s3://bucket/prefix`
   * @param shared   what asks its host, where that is shared with other places of the host
   */
  constructor(location: string, fetching: Fetching, shared?: RemoteObjects) {
    this.#location = location;
    this.#objects = new PinnedObjects(location, fetching, shared);
  }

  get changedMs(): number {
    return this.#objects.changedMs;
  }

  get hosts(): readonly RemoteObjects[] {
    return [this.#objects.objects];
  }

  async open(changedMs: number): Promise<OpenedDocuments> {
    const { documents, texts, dateMs } = (await this.#consolidated()) ?? (await this.#listed());
    const hash = createHash("sha256");
    for (const [key, bytes] of texts) hash.update(`${key}\n`).update(bytes);
    this.#objects.newestMs = Math.max(dateMs, changedMs);
    return { documents, digest: hash.digest("hex"), newestMs: this.#objects.newestMs };
  }

  /** The documents of a store that has them in one object; null where it has not. */
  async #consolidated(): Promise<Found | null> {
    for (const name of ["zarr.json", ".zmetadata", ".zarray"]) {
      const object = await this.#objects.current(name);
      if (object === null) continue;
      const document = documentOf(`${this.#location}/${name}`, object.bytes);
      if (document.node_type === "group" && document.consolidated_metadata === undefined) return null;
      return { documents: new Map([[name, document]]), texts: new Map([[name, object.bytes]]), dateMs: object.dateMs };
    }
    return null;
  }

  /**
   * The documents of a store that can be listed, group by group.
   * @throws DataError where it cannot, or there are none
   */
  async #listed(): Promise<Found> {
    const found = { documents: new Map<string, Json>(), texts: new Map<string, Uint8Array>(), dateMs: 0 };
    const walk = async (folder: string, depth: number): Promise<void> => {
      const listed = await this.#objects.list(folder);
      if (listed === null)
        throw new DataError(
          `${this.#location} has no consolidated metadata, which a store needs that cannot be listed: zarr.consolidate_metadata(store) writes them; or name a list of references (NAME.refs.json)`,
        );
      let isArray = false;
      for (const name of listed.objects.map((object) => object.name).filter((object) => NAMES.includes(object))) {
        const key = folder === "" ? name : `${folder}/${name}`;
        const object = await this.#objects.current(key);
        if (object === null) continue;
        const document = documentOf(`${this.#location}/${key}`, object.bytes);
        found.documents.set(key, document);
        found.texts.set(key, object.bytes);
        found.dateMs = Math.max(found.dateMs, object.dateMs);
        isArray ||= name === ".zarray" || document.node_type === "array";
        if (found.documents.size > MOST_DOCUMENTS)
          throw new DataError(`${this.#location} has more than ${MOST_DOCUMENTS} groups and arrays`);
      }
      if (isArray || depth === DEPTH) return;
      for (const name of listed.folders) await walk(folder === "" ? name : `${folder}/${name}`, depth + 1);
    };
    await walk("", 0);
    if (found.documents.size > 0) return found;
    throw new DataError(
      `${this.#location} holds neither zarr.json nor .zmetadata nor .zgroup nor .zarray, nor HDF5 files`,
    );
  }

  get(key: AbsolutePath): Promise<Uint8Array | undefined> {
    return this.#objects.get(key.slice(1), null);
  }

  getRange(key: AbsolutePath, range: RangeQuery): Promise<Uint8Array | undefined> {
    return this.#objects.get(key.slice(1), range);
  }
}
