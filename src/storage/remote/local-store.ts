/** Zarr store in a local folder. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { constants, type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { changedSinceScan, DataError } from "../../shared/errors.js";
import { ReadMemory } from "../../shared/read-memory.js";
import { STORE_BOUNDS } from "../../shared/store-settings.js";
import { DocumentReader, type Json } from "../dataset/documents.js";
import { DOCUMENT_NAMES } from "../zarr/metadata.js";
import type { ObjectStore, OpenedDocuments } from "./object-store.js";
import type { ObjectPart } from "./objects/remote-objects.js";

export class LocalStore implements ObjectStore {
  readonly changedMs = 0;
  readonly hosts = [];
  readonly #folder: string;
  readonly #metadataBytes: number;
  #newestMs = 0;
  #latestMs = 0;

  constructor(folder: string, metadataBytes: number) {
    this.#folder = folder;
    this.#metadataBytes = metadataBytes;
  }

  async open(): Promise<OpenedDocuments> {
    const documents = new Map<string, Json>();
    const reader = new DocumentReader(this.#metadataBytes);
    const hash = createHash("sha256");
    let [newestMs, latestMs, objects] = [0, 0, 0];
    const present: Record<string, number> = {};
    /** @returns the chunks in a folder */
    const walk = (folder: string, depth: number): number => {
      const names: string[] = [];
      let chunks = 0;
      for (const entry of readdirSync(join(this.#folder, folder), { withFileTypes: true }).sort(byName)) {
        const key = folder === "" ? entry.name : `${folder}/${entry.name}`;
        if (entry.isSymbolicLink()) throw new DataError(`${this.#folder}: ${key} is a link, which is refused`);
        names.push(entry.name);
        if (entry.isDirectory() && depth < STORE_BOUNDS.depth) chunks += walk(key, depth + 1);
        if (!entry.isFile()) continue;
        if (/\d$/.test(entry.name)) chunks++;
        if (++objects > STORE_BOUNDS.objects)
          throw new DataError(`${this.#folder}: has more than ${STORE_BOUNDS.objects} objects`);
        const { size, mtimeMs, ctimeMs } = statSync(join(this.#folder, key));
        hash.update(`${key}\n${size} ${mtimeMs} ${ctimeMs}\n`);
        newestMs = Math.max(newestMs, mtimeMs);
        latestMs = Math.max(latestMs, ctimeMs);
        if (!(DOCUMENT_NAMES as readonly string[]).includes(entry.name)) continue;
        const place = `${this.#folder}: ${key}`;
        reader.count(place, size);
        documents.set(key, reader.parse(place, readFileSync(join(this.#folder, key))));
      }
      requireKeys(this.#folder, folder, names, documents);
      present[`/${folder}`] = chunks;
      return chunks;
    };
    walk("", 0);
    this.#newestMs = newestMs;
    this.#latestMs = latestMs;
    return { documents, digest: hash.digest("hex"), newestMs, present };
  }

  read(key: string, part: ObjectPart | null, mostBytes: number): Promise<Uint8Array | undefined> {
    return readPart(join(this.#folder, key), part, { newestMs: this.#newestMs, latestMs: this.#latestMs, mostBytes });
  }
}

/** @throws DataError if chunks have paths `0/0/0` where the document names `0.0.0`: all would read as missing */
function requireKeys(
  store: string,
  folder: string,
  names: readonly string[],
  documents: ReadonlyMap<string, Json>,
): void {
  const document = documents.get(folder === "" ? ".zarray" : `${folder}/.zarray`);
  if (document === undefined) return;
  const { dimension_separator: separator = ".", shape } = Object(document) as Record<string, unknown>;
  const isOfFiles = separator === "." && Array.isArray(shape) && shape.length > 1;
  if (isOfFiles && names.includes("0") && !names.some((name) => /^\d+(\.\d+)+$/.test(name)))
    throw new DataError(
      `${store}: the chunks of ${folder} are in folders (0/0/0), which its .zarray does not say; add "dimension_separator": "/" to it`,
    );
}

export interface PartBounds {
  readonly newestMs: number;
  /** Time of the last change; unlike the time of writing, no program can set it. */
  readonly latestMs: number;
  readonly mostBytes: number;
}

/**
 * Reads a file or part of a file into lent memory; undefined if there is none.
 * @throws DataError unless it is a plain file, unchanged, readable and of the right length
 */
export async function readPart(
  path: string,
  part: ObjectPart | null,
  { newestMs, latestMs, mostBytes }: PartBounds,
): Promise<Uint8Array | undefined> {
  let file: FileHandle;
  try {
    // A named pipe would block the thread until somebody writes to it.
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new DataError(`${path} is not readable`, cause);
  }
  try {
    const status = await file.stat();
    if (!status.isFile()) throw new DataError(`${path} is not a plain file`);
    if (status.mtimeMs > newestMs || status.ctimeMs > latestMs) throw changedSinceScan(path);
    const [offset, length] = placeIn(status.size, part);
    if (offset + length > status.size) throw new DataError(`${path} ends after ${status.size} bytes`);
    if (length > mostBytes) throw new DataError(`${path} has ${length} bytes, more than ${mostBytes}`);
    const bytes = ReadMemory.ofThread().allocate(length);
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

const byName = (a: { readonly name: string }, b: { readonly name: string }): number => (a.name < b.name ? -1 : 1);
