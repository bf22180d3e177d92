/** Store whose objects are parts of other files, by a list of references as kerchunk writes it. */

import { createHash } from "node:crypto";
import { realpathSync, statSync } from "node:fs";
import { dirname, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { isAddress } from "../../shared/addresses.js";
import { DataError } from "../../shared/errors.js";
import { sha256 } from "../../shared/sha256.js";
import { STORE_BOUNDS } from "../../shared/store-settings.js";
import { DocumentReader, type Documents } from "../dataset/documents.js";
import { readList } from "../zarr/list-document.js";
import { DOCUMENT_NAMES } from "../zarr/metadata.js";
import { otherTarget, referencesOf, stampsOf, type TargetStamp } from "../zarr/reference-list.js";
import { readPart } from "./local-store.js";
import { type ObjectStore, type OpenedDocuments, pinnedTime, type VersionName } from "./object-store.js";
import type { Hosts } from "./objects/hosts.js";
import { type Fetching, PinnedObjects } from "./objects/pinned-objects.js";
import { splitAddress } from "./objects/remote-bytes.js";
import type { ObjectPart, RemoteObjects } from "./objects/remote-objects.js";

/** Most JSON values of a list: five for each reference, and the values of its documents. */
const MAX_VALUES = 6 * STORE_BOUNDS.references;

type Reference = readonly [target: string, offset?: number, length?: number];

interface ListContents {
  /** Identifies the version of the list: the status of a local file, or a digest of a remote one. */
  readonly version: string;
  readonly digest: string;
  readonly inline: ReadonlyMap<string, Uint8Array>;
  readonly references: ReadonlyMap<string, Reference>;
  readonly targets: readonly string[];
  readonly stamps: ReadonlyMap<string, TargetStamp>;
  readonly documents: Documents;
}

export class ReferenceStore implements ObjectStore {
  readonly #location: string;
  readonly #hosts: Hosts;
  readonly #fetching: Fetching;
  #contents: ListContents | null;
  readonly #remote = new Map<string, PinnedObjects>();
  #newestMs = 0;
  #latestMs = 0;

  /** @param known the same store as opened before: an unchanged list is not expanded again */
  constructor(location: string, hosts: Hosts, fetching: Fetching, known: ReferenceStore | null = null) {
    this.#location = location;
    this.#hosts = hosts;
    this.#fetching = fetching;
    this.#contents = known === null ? null : known.#contents;
  }

  get changedMs(): number {
    return Math.max(0, ...[...this.#remote.values()].map(({ changedMs }) => changedMs));
  }

  get hosts(): readonly RemoteObjects[] {
    return [...this.#remote.values()].map(({ host }) => host);
  }

  async open(changedMs: number, last: VersionName | null): Promise<OpenedDocuments> {
    const { version, newestMs, bytes } = await this.#list();
    this.#newestMs = newestMs;
    if (this.#contents?.version !== version) this.#contents = this.#expand(version, await bytes());
    const { documents, digest, targets } = this.#contents;
    const hash = createHash("sha256").update(digest);
    await this.#checkTargets(targets, (line) => hash.update(line));
    const present = { digest: hash.digest("hex"), newestMs: this.#newestMs };
    this.#newestMs = pinnedTime(present, changedMs, last);
    for (const objects of this.#remote.values()) objects.newestMs = this.#newestMs;
    return { documents, digest: present.digest, newestMs: this.#newestMs };
  }

  async #list(): Promise<{ version: string; newestMs: number; bytes: () => Promise<Uint8Array> }> {
    const mostBytes = this.#fetching.settings.referencesBytes;
    if (!isAddress(this.#location)) {
      const { mtimeMs: newestMs, ctimeMs: latestMs, size, ino } = statSync(this.#location);
      const bytes = async () => {
        const found = await readPart(this.#location, null, { newestMs, latestMs, mostBytes });
        if (found === undefined) throw new DataError(`${this.#location} does not exist`);
        return found;
      };
      return { version: `${size} ${newestMs} ${latestMs} ${ino}`, newestMs, bytes };
    }
    const [folder, name] = splitAddress(this.#location);
    const object = await new PinnedObjects(folder, this.#fetching).fetchCurrent(name, null, mostBytes);
    if (object === null) throw new DataError(`${this.#location} does not exist`);
    return { version: sha256(object.bytes), newestMs: object.dateMs, bytes: async () => object.bytes };
  }

  #expand(version: string, bytes: Uint8Array): ListContents {
    const { referencesBytes } = this.#fetching.settings;
    const reader = new DocumentReader(referencesBytes, MAX_VALUES, MAX_VALUES);
    const list = readList(this.#location, bytes, reader);
    const inline = new Map<string, Uint8Array>();
    const references = new Map<string, Reference>();
    // Many references share a target.
    const places = new Map<string, string>();
    for (const [key, value] of referencesOf(this.#location, list)) {
      // Keys are unique within each parsed part of the list; these are of all parts.
      if (inline.has(key) || references.has(key))
        throw new DataError(`${this.#location}: the member ${key} is stated twice`);
      if (typeof value === "string") inline.set(key, inlineOf(value));
      else references.set(key, this.#referenceOf(key, value, places));
    }
    const stamps = new Map([...stampsOf(list.rest)].map(([target, stamp]) => [this.#placeOf(target), stamp]));
    const names: readonly string[] = DOCUMENT_NAMES;
    const found = [...inline].filter(([key]) => names.includes(key.slice(key.lastIndexOf("/") + 1)));
    const metadata = new DocumentReader(this.#fetching.settings.metadataBytes);
    const documents = new Map(found.map(([key, text]) => [key, metadata.read(`${this.#location}: ${key}`, text)]));
    const targets = [...new Set(places.values())];
    return { version, digest: sha256(bytes), inline, references, targets, stamps, documents };
  }

  #referenceOf(key: string, value: unknown, places: Map<string, string>): Reference {
    const [target, offset, length] = (Array.isArray(value) ? value : []) as [unknown, unknown, unknown];
    const isLength = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;
    const isPart = offset === undefined || (isLength(offset) && isLength(length));
    if (typeof target !== "string" || !isPart)
      throw new DataError(`${this.#location}: the reference of ${key} is not a target with an offset and a length`);
    const place = places.get(target) ?? this.#placeOf(target);
    if (places.size < places.set(target, place).size && places.size > STORE_BOUNDS.targets)
      throw new DataError(`${this.#location} names more than ${STORE_BOUNDS.targets} files`);
    return offset === undefined ? [place] : [place, offset as number, length as number];
  }

  #placeOf(target: string): string {
    if (isAddress(target)) return target;
    if (isAddress(this.#location)) return new URL(target, this.#location).href;
    return resolve(dirname(this.#location), target.startsWith("file:") ? fileURLToPath(target) : target);
  }

  /** Local targets must lie in or below the folder of the list; hosts in a private network must be named. */
  async #checkTargets(targets: readonly string[], note: (line: string) => void): Promise<void> {
    for (const target of targets) {
      if (isAddress(target)) {
        await this.#hosts.check(target);
        continue;
      }
      const inside = relative(realpathSync(dirname(this.#location)), realpathSync(target));
      if (inside === ".." || inside.startsWith(`..${sep}`) || isAddress(this.#location))
        throw new DataError(`${this.#location}: ${target} lies outside of the folder of the list`);
      const status = statSync(target);
      const { size, mtimeMs, ctimeMs } = status;
      if (!status.isFile()) throw new DataError(`${this.#location}: ${target} is not a plain file`);
      const { bytes = size, modifiedMs = mtimeMs } = this.#contents?.stamps.get(target) ?? {};
      if (bytes !== size || modifiedMs !== mtimeMs) throw otherTarget(this.#location, target);
      note(`${inside}\n${size} ${mtimeMs} ${ctimeMs}\n`);
      this.#newestMs = Math.max(this.#newestMs, mtimeMs);
      this.#latestMs = Math.max(this.#latestMs, ctimeMs);
    }
  }

  async read(key: string, part: ObjectPart | null, mostBytes: number): Promise<Uint8Array | undefined> {
    const inline = this.#contents?.inline.get(key);
    if (inline !== undefined) return inside(inline, part);
    const reference = this.#contents?.references.get(key);
    if (reference === undefined) return undefined;
    const [target, offset, length] = reference;
    const wanted = partOf(part, offset, length);
    const bytes = isAddress(target)
      ? await this.#fetch(target, wanted, mostBytes)
      : await readPart(target, wanted, { newestMs: this.#newestMs, latestMs: this.#latestMs, mostBytes });
    // A missing chunk has no reference, so a missing target is damage.
    if (bytes === undefined) throw new DataError(`${target} does not exist`);
    return bytes;
  }

  #fetch(target: string, part: ObjectPart | null, mostBytes: number): Promise<Uint8Array | undefined> {
    const [folder, name] = splitAddress(target);
    let objects = this.#remote.get(folder);
    if (objects === undefined) {
      objects = new PinnedObjects(folder, this.#fetching);
      objects.newestMs = this.#newestMs;
      this.#remote.set(folder, objects);
    }
    const stamp = this.#contents?.stamps.get(target);
    if (stamp !== undefined) objects.expected.set(name, { ...stamp, refusal: otherTarget(this.#location, target) });
    return objects.get(name, part, mostBytes);
  }
}

function inlineOf(value: string): Uint8Array {
  return value.startsWith("base64:") ? Buffer.from(value.slice(7), "base64") : Buffer.from(value, "utf8");
}

function inside(bytes: Uint8Array, part: ObjectPart | null): Uint8Array {
  if (part === null) return bytes;
  if ("suffixLength" in part) return bytes.subarray(Math.max(0, bytes.length - part.suffixLength));
  return bytes.subarray(part.offset, part.offset + part.length);
}

function partOf(part: ObjectPart | null, offset: number | undefined, length: number | undefined): ObjectPart | null {
  if (offset === undefined || length === undefined) return part;
  if (part === null) return { offset, length };
  if ("suffixLength" in part) {
    const count = Math.min(part.suffixLength, length);
    return { offset: offset + length - count, length: count };
  }
  return { offset: offset + part.offset, length: Math.min(part.length, length - part.offset) };
}
