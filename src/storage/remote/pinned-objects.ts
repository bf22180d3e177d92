/** Objects of one host or bucket as they were at one time: what has changed since is refused. */
import { DataError } from "../../errors.js";
import { type Part, type RemoteObject, RemoteObjects } from "./remote-objects.js";
import { s3Place } from "./s3.js";

/** HTTP tells times in whole seconds. */
const RESOLUTION_MS = 1000;
/** Objects whose versions are remembered, because they are read part by part. */
const MOST_VERSIONS = 65_536;

export class PinnedObjects {
  /** Time of the newest object that was found changed; 0 where there is none. */
  changedMs = 0;
  /** The time that objects are pinned to, in milliseconds of the host's clock. */
  newestMs = Number.POSITIVE_INFINITY;
  readonly objects: RemoteObjects;
  readonly #versions = new Map<string, string>();
  readonly #base: string;

  /** @param base `https://host/path`, `http://host/path` or `s3://bucket/prefix`, before which keys stand */
  constructor(base: string) {
    if (base.startsWith("s3://")) {
      const { prefix, sign } = s3Place(base);
      this.#base = prefix;
      this.objects = new RemoteObjects(sign);
    } else {
      this.#base = base.replace(/\/+$/, "");
      this.objects = new RemoteObjects();
    }
  }

  /** Fetches an object, whatever its version; null where there is none. */
  current(key: string): Promise<RemoteObject | null> {
    return this.objects.fetch(this.#addressOf(key));
  }

  /** Fetches an object or part of it; undefined where there is none. @throws DataError when it has changed */
  async get(key: string, part: Part | null): Promise<Uint8Array | undefined> {
    const address = this.#addressOf(key);
    const object = await this.objects.fetch(address, part);
    if (object === null) return undefined;
    const modifiedMs = object.modifiedMs ?? 0;
    const isNewer = modifiedMs > this.newestMs + RESOLUTION_MS;
    if (isNewer || (part !== null && this.#isOther(key, object.etag))) {
      this.changedMs = Math.max(this.changedMs, modifiedMs, this.newestMs + 1);
      throw new DataError(`${address} has changed since the catalogue was read`);
    }
    return object.bytes;
  }

  #addressOf(key: string): string {
    return `${this.#base}/${key.split("/").map(encodeURIComponent).join("/")}`;
  }

  /** Whether an object is another than the one of which parts have been read. */
  #isOther(key: string, etag: string | null): boolean {
    if (etag === null) return false;
    const known = this.#versions.get(key);
    if (known !== undefined) return known !== etag;
    if (this.#versions.size === MOST_VERSIONS) this.#versions.delete(this.#versions.keys().next().value as string);
    this.#versions.set(key, etag);
    return false;
  }
}
