/** Store at an HTTP address or in a bucket. */
import { createHash } from "node:crypto";
import { DataError } from "../../shared/errors.js";
import { STORE_BOUNDS } from "../../shared/store-settings.js";
import { DocumentReader, type Documents, type Json } from "../dataset/documents.js";
import { DOCUMENT_NAMES, expandConsolidated } from "../zarr/metadata.js";
import { type ObjectStore, type OpenedDocuments, pinnedTime, type VersionName } from "./object-store.js";
import { type Fetching, PinnedObjects } from "./objects/pinned-objects.js";
import type { ObjectPart, RemoteObject, RemoteObjects } from "./objects/remote-objects.js";

const NAMES: readonly string[] = DOCUMENT_NAMES;

/** Documents by key, as the host answered them. */
type Found = Map<string, RemoteObject & { readonly document: Json }>;

const documentsOf = (found: Found): Documents => new Map([...found].map(([key, { document }]) => [key, document]));

export class RemoteStore implements ObjectStore {
  readonly #location: string;
  readonly #objects: PinnedObjects;
  readonly #metadataBytes: number;

  constructor(location: string, fetching: Fetching, shared?: RemoteObjects) {
    this.#location = location;
    this.#objects = new PinnedObjects(location, fetching, shared);
    this.#metadataBytes = fetching.settings.metadataBytes;
  }

  get changedMs(): number {
    return this.#objects.changedMs;
  }

  get hosts(): readonly RemoteObjects[] {
    return [this.#objects.host];
  }

  async open(changedMs: number, last: VersionName | null): Promise<OpenedDocuments> {
    const reader = () => new DocumentReader(this.#metadataBytes);
    const found = (await this.#consolidated(reader())) ?? (await this.#listed(reader()));
    const hash = createHash("sha256");
    for (const [key, { bytes }] of found) hash.update(`${key}\n`).update(bytes);
    const digest = hash.digest("hex");
    const objects = [...found.values()];
    const newestMs = pinnedTime({ digest, newestMs: Math.max(...objects.map((one) => one.dateMs)) }, changedMs, last);
    this.#objects.newestMs = newestMs;
    const isUndated = objects.some(({ modifiedMs }) => modifiedMs === null);
    return { documents: documentsOf(found), digest, newestMs, isUndated };
  }

  async #read(key: string, reader: DocumentReader, found: Found): Promise<Json | null> {
    const object = await this.#objects.fetchCurrent(key, null, reader.bytesLeft);
    if (object === null) return null;
    const document = reader.read(`${this.#location}/${key}`, object.bytes);
    found.set(key, { document, ...object });
    return document;
  }

  /**
   * The documents of a store with consolidated metadata, and those of the other format, which may differ; null if there
   * are none.
   */
  async #consolidated(reader: DocumentReader): Promise<Found | null> {
    const found: Found = new Map();
    const read = (key: string): Promise<Json | null> => this.#read(key, reader, found);
    const third = await read("zarr.json");
    if (third?.node_type === "group" && third.consolidated_metadata === undefined) return null;
    if ((await read(".zmetadata")) === null && (await read(".zarray")) !== null) await read(".zattrs");
    if (found.size === 0) return null;
    const known = expandConsolidated(this.#location, documentsOf(found));
    const readOther = async (folder: string): Promise<void> => {
      if (!known.has(`${folder}zarr.json`)) await read(`${folder}zarr.json`);
      else if (!known.has(`${folder}.zarray`) && (await read(`${folder}.zarray`)) !== null)
        await read(`${folder}.zattrs`);
    };
    await Promise.all(arrayFolders(known).map(readOther));
    return new Map([...found].sort(([one], [other]) => (one < other ? -1 : 1)));
  }

  /** The documents of a store that can be listed. Throws DataError if it cannot, or there are none. */
  async #listed(reader: DocumentReader): Promise<Found> {
    const found: Found = new Map();
    const walk = async (folder: string, depth: number): Promise<void> => {
      const listed = await this.#objects.list(folder);
      if (listed === null)
        throw new DataError(
          `${this.#location} has no consolidated metadata, which a store needs that cannot be listed: zarr.consolidate_metadata(store) writes them; or name a list of references (NAME.refs.json)`,
        );
      let isArray = false;
      for (const name of listed.objects.map((object) => object.name).filter((object) => NAMES.includes(object))) {
        const key = folder === "" ? name : `${folder}/${name}`;
        const document = await this.#read(key, reader, found);
        if (document === null) continue;
        isArray ||= name === ".zarray" || document.node_type === "array";
        if (found.size > STORE_BOUNDS.nodes)
          throw new DataError(`${this.#location} has more than ${STORE_BOUNDS.nodes} groups and arrays`);
      }
      if (isArray || depth === STORE_BOUNDS.depth) return;
      for (const name of listed.folders) await walk(folder === "" ? name : `${folder}/${name}`, depth + 1);
    };
    await walk("", 0);
    if (found.size > 0) return found;
    throw new DataError(
      `${this.#location} holds neither zarr.json nor .zmetadata nor .zgroup nor .zarray, nor HDF5 files`,
    );
  }

  read(key: string, part: ObjectPart | null, mostBytes: number): Promise<Uint8Array | undefined> {
    return this.#objects.get(key, part, mostBytes);
  }
}

function arrayFolders(documents: Documents): string[] {
  const arrays = [...documents].filter(([key, { node_type }]) => key.endsWith("/.zarray") || node_type === "array");
  const folders = arrays.map(([key]) => key.slice(0, key.lastIndexOf("/") + 1));
  return [...new Set(folders)].filter((folder) => folder !== "");
}
