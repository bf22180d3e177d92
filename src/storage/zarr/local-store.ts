/** `LocalStore` reads a store in a folder of this machine. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { constants, type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import type { AbsolutePath, RangeQuery } from "zarrita";
import { DataError } from "../../errors.js";
import type { ObjectPart } from "../objects/remote-objects.js";
import { DOCUMENT_NAMES, documentOf } from "./metadata.js";
import type { ObjectStore, OpenedDocuments } from "./object-store.js";

/** Objects of a store that is looked through when it is opened. */
const MOST_OBJECTS = 1_000_000;
const DEPTH = 32;

export class LocalStore implements ObjectStore {
  readonly changedMs = 0;
  readonly hosts = [];
  readonly #folder: string;
  #newestMs = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async open(): Promise<OpenedDocuments> {
    const documents = new Map<string, ReturnType<typeof documentOf>>();
    const hash = createHash("sha256");
    let [newestMs, objects] = [0, 0];
    const walk = (folder: string, depth: number) => {
      for (const entry of readdirSync(join(this.#folder, folder), { withFileTypes: true }).sort(byName)) {
        const key = folder === "" ? entry.name : `${folder}/${entry.name}`;
        if (entry.isSymbolicLink()) throw new DataError(`${this.#folder}: ${key} is a link, which is refused`);
        if (entry.isDirectory() && depth < DEPTH) walk(key, depth + 1);
        if (!entry.isFile()) continue;
        if (++objects > MOST_OBJECTS) throw new DataError(`${this.#folder}: has more than ${MOST_OBJECTS} objects`);
        const { size, mtimeMs } = statSync(join(this.#folder, key));
        hash.update(`${key}\n${size} ${mtimeMs}\n`);
        newestMs = Math.max(newestMs, mtimeMs);
        if ((DOCUMENT_NAMES as readonly string[]).includes(entry.name)) documents.set(key, this.#document(key));
      }
    };
    walk("", 0);
    this.#newestMs = newestMs;
    return { documents, digest: hash.digest("hex"), newestMs };
  }

  #document(key: string): ReturnType<typeof documentOf> {
    return documentOf(`${this.#folder}: ${key}`, readFileSync(join(this.#folder, key)));
  }

  get(key: AbsolutePath): Promise<Uint8Array | undefined> {
    return readPart(join(this.#folder, key.slice(1)), null, this.#newestMs);
  }

  getRange(key: AbsolutePath, range: RangeQuery): Promise<Uint8Array | undefined> {
    return readPart(join(this.#folder, key.slice(1)), range, this.#newestMs);
  }
}

/**
 * Reads a file or part of it; undefined where there is none.
 *
 * @param newestMs a file that is newer is refused
 * @throws DataError when it has changed, is not readable or too short
 */
export async function readPart(
  path: string,
  part: ObjectPart | null,
  newestMs: number,
): Promise<Uint8Array | undefined> {
  let file: FileHandle;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new DataError(`${path} is not readable`, cause);
  }
  try {
    const { size, mtimeMs } = await file.stat();
    if (mtimeMs > newestMs) throw new DataError(`${path} has changed since the catalogue was read`);
    const [offset, length] = placeIn(size, part);
    if (offset + length > size) throw new DataError(`${path} ends after ${size} bytes`);
    const bytes = new Uint8Array(length);
    const { bytesRead } = await file.read(bytes, 0, length, offset);
    if (bytesRead < length) throw new DataError(`${path} ends after ${offset + bytesRead} bytes`);
    return bytes;
  } finally {
    await file.close();
  }
}

function placeIn(size: number, part: ObjectPart | null): [offset: number, length: number] {
  if (part === null) return [0, size];
  if (!("suffixLength" in part)) return [part.offset, part.length];
  return [Math.max(0, size - part.suffixLength), Math.min(size, part.suffixLength)];
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}
