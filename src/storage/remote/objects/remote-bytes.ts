/** File at an HTTP address or in a bucket, read by ranges of one version. */

import { DataError } from "../../../shared/errors.js";
import { sha256 } from "../../../shared/sha256.js";
import { type Fetching, PinnedObjects, requireVersion, versionOf } from "./pinned-objects.js";
import type { RemoteObjects } from "./remote-objects.js";
import { plainPath } from "./s3.js";

export class RemoteBytes {
  readonly #address: string;
  readonly #name: string;
  readonly #objects: PinnedObjects;

  constructor(address: string, fetching: Fetching, shared?: RemoteObjects) {
    this.#address = address;
    const [folder, name] = splitAddress(address);
    this.#name = name;
    this.#objects = new PinnedObjects(folder, fetching, shared);
  }

  get hosts(): readonly RemoteObjects[] {
    return [this.#objects.host];
  }

  /** Time of another version, if one was found; else 0. */
  get changedMs(): number {
    return this.#objects.changedMs;
  }

  /** The version and size of all ranges. Throws DataError if the host states no version. */
  async open(): Promise<{ readonly size: number; readonly digest: string; readonly newestMs: number }> {
    const object = await this.#objects.pin(this.#name);
    if (object === null) throw new DataError(`${this.#address} does not exist`);
    const { size, modifiedMs, dateMs, isPart } = object;
    if (!isPart || size === null)
      throw new DataError(`${this.#address}: its host serves no ranges of bytes, which reading a part of a file needs`);
    const version = versionOf(object);
    requireVersion(this.#address, version);
    return { size, digest: sha256(version.text), newestMs: modifiedMs ?? dateMs };
  }

  /** @throws DataError when the file has changed or is too short */
  async read(position: number, length: number): Promise<Uint8Array> {
    const bytes = await this.#objects.get(this.#name, { offset: position, length }, length);
    if (bytes === undefined) throw new DataError(`${this.#address} does not exist any more`);
    return bytes;
  }
}

/** Address of the folder of an object, and its name. */
export function splitAddress(address: string): [folder: string, name: string] {
  const at = address.lastIndexOf("/");
  return [address.slice(0, at), plainPath(address, address.slice(at + 1))];
}
