/** Finds possible datasets in a folder at an HTTP address or in a bucket, by the rules for local folders. */

import { DataError } from "../../shared/errors.js";
import { sha256 } from "../../shared/sha256.js";
import { DESCRIPTOR_NAME, FOLDER_DEPTH, folderKind, isPassedOver, STORE_NAMES } from "../dataset/folder-names.js";
import { hasHdf5Name, isReferences } from "../zarr/kinds.js";
import { type PinnedObjects, stampText } from "./objects/pinned-objects.js";
import type { FolderListing, ListedObject } from "./objects/s3-list.js";
import type { FolderContents } from "./protocol.js";

const MAX_FOLDERS = 1000;
const MAX_PLACES = 100_000;
const BEGINNING = { offset: 0, length: 2 } as const;
/** Documents that web servers omit from listings, because their names begin with a dot. */
const HIDDEN_NAMES = STORE_NAMES.filter((name) => name.startsWith("."));

export class RemoteFolder {
  readonly #address: string;
  readonly #objects: PinnedObjects;
  readonly #places: string[] = [];
  readonly #versions = new Map<string, string>();
  readonly #problems: { location: string; message: string }[] = [];
  #folders = 0;

  constructor(address: string, objects: PinnedObjects) {
    this.#address = address.replace(/\/+$/, "");
    this.#objects = objects;
  }

  /**
   * The stores, files and descriptors below the address, or the address itself if it is a store.
   * @throws DataError beyond the bounds, BusyError
   */
  async contents(): Promise<FolderContents> {
    const listed = await this.#list("");
    if (listed === null) this.#places.push(await this.#unlisted());
    else await this.#walk("", listed, 0);
    // Opening it as a store will report what is missing.
    if (this.#places.length + this.#problems.length === 0) this.#places.push(this.#address);
    return { places: this.#places.sort(), versions: this.#versions, problems: this.#problems };
  }

  /** The entries of a folder; null if the host does not list it. */
  async #list(folder: string): Promise<FolderListing | null> {
    if (++this.#folders > MAX_FOLDERS)
      throw new DataError(`${this.#address} holds more than ${MAX_FOLDERS} folders; name those that are meant`);
    try {
      const listed = await this.#objects.list(folder);
      const isClear = listed?.objects.some((object) => isFile(object) || STORE_NAMES.includes(object.name));
      if (listed === null || isClear === true || !this.#address.startsWith("http")) return listed;
      const hidden = await this.#thereOf(folder, HIDDEN_NAMES);
      return { ...listed, objects: [...listed.objects, ...hidden.map((name) => ({ name, version: null }))] };
    } catch (error) {
      if (error instanceof DataError) return null;
      throw error;
    }
  }

  async #thereOf(folder: string, names: readonly string[]): Promise<string[]> {
    const isThere = async (name: string): Promise<boolean> => {
      try {
        return (await this.#objects.fetchCurrent(keyOf(folder, name), BEGINNING)) !== null;
      } catch (error) {
        // Hosts that do not list refuse missing objects.
        if (error instanceof DataError) return false;
        throw error;
      }
    };
    const there = await Promise.all(names.map(isThere));
    return names.filter((_, index) => there[index]);
  }

  async #unlisted(): Promise<string> {
    const isStore = (await this.#thereOf("", STORE_NAMES)).length > 0;
    const isDescribed = !isStore && (await this.#thereOf("", [DESCRIPTOR_NAME])).length > 0;
    return isDescribed ? `${this.#address}/${DESCRIPTOR_NAME}` : this.#address;
  }

  async #walk(folder: string, { objects, folders }: FolderListing, depth: number): Promise<void> {
    const here = this.#addressOf(folder);
    const kind = folderKind([...objects.map(({ name }) => name), ...folders]);
    for (const object of objects) if (isFile(object)) this.#note(folder, object);
    if (typeof kind === "object") this.#problems.push({ location: here, message: kind.refused });
    else if (kind === "described") this.#add(`${here}/${DESCRIPTOR_NAME}`);
    else if (kind === "store") this.#add(here);
    else {
      for (const object of objects)
        if (isFile(object) && !isPassedOver(object.name)) this.#add(this.#addressOf(keyOf(folder, object.name)));
      if (depth === FOLDER_DEPTH) return;
      const below = folders.filter((name) => !isPassedOver(name)).map((name) => keyOf(folder, name));
      await Promise.all(below.map((name) => this.#walkInto(name, depth + 1)));
    }
  }

  async #walkInto(folder: string, depth: number): Promise<void> {
    const listed = await this.#list(folder);
    if (listed !== null) await this.#walk(folder, listed, depth);
    else this.#problems.push({ location: this.#addressOf(folder), message: "its host does not list the folder" });
  }

  #add(location: string): void {
    if (this.#places.push(location) > MAX_PLACES)
      throw new DataError(`${this.#address} holds more than ${MAX_PLACES} files and stores; name those that are meant`);
  }

  #note(folder: string, { name, version }: ListedObject): void {
    if (version === null) return;
    const digest = sha256(stampText(version));
    this.#versions.set(this.#addressOf(keyOf(folder, name)), `${digest} ${version.modifiedMs ?? 0}`);
  }

  #addressOf(key: string): string {
    return key === "" ? this.#address : `${this.#address}/${key.split("/").map(encodeURIComponent).join("/")}`;
  }
}

const isFile = ({ name }: ListedObject): boolean => hasHdf5Name(name) || isReferences(name) || name === DESCRIPTOR_NAME;

const keyOf = (folder: string, name: string): string => (folder === "" ? name : `${folder}/${name}`);
