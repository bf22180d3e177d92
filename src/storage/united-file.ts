/** Several files of one time as one tree, for example one per variable. */
import { basename } from "node:path";
import { DataError } from "../shared/errors.js";
import type { ReadBuffer } from "./dataset/read-buffer.js";
import type { Attributes, AttributeValue, ChunkIndex, Hyperslab, RawValues, Stored } from "./dataset/stored.js";
import type { StoredFile, VirtualSources } from "./dataset/stored-file.js";
import { openFile } from "./open-file.js";

/** Most elements of a dataset that several files may repeat. */
const SMALL = 65_536;
const DEPTH = 8;
/** Attributes that number the dimensions of a file, or refer to its objects. */
const OF_THE_LIBRARY = /^(REFERENCE_LIST|DIMENSION_LIST|_Netcdf4\w+|_NCProperties)$/;
/** Addresses in one file are below this. */
const ADDRESSES = 2 ** 45;

/**
 * Opens files that the settings or the command line name, several as one tree, while `use` runs.
 * @throws DataError if they contradict each other; that of `use` then names them
 */
export function withFiles<T>(paths: readonly string[], use: (file: StoredFile) => T): T {
  const files: StoredFile[] = [];
  try {
    for (const path of paths) files.push(openFile(path, { named: true }));
    return use(files.length === 1 ? (files[0] as StoredFile) : new UnitedFile(files));
  } catch (error) {
    if (!(error instanceof DataError) || paths.some((path) => error.message.includes(basename(path)))) throw error;
    throw new DataError(`${paths.join(", ")}: ${error.message}`, error.cause);
  } finally {
    for (const file of files) file.close();
  }
}

/** Union of files. A member of several files is read from the first; the files must agree in numbers. */
export class UnitedFile implements StoredFile {
  readonly path: string;
  /** Text attributes that differ between files, on which nothing depends. */
  readonly varies: string[] = [];
  readonly #files: readonly StoredFile[];

  constructor(files: readonly StoredFile[]) {
    this.#files = files;
    this.path = (files[0] as StoredFile).path;
    for (const [at, file] of files.entries()) this.#compare(file, files.slice(0, at), "/", 0);
  }

  #compare(file: StoredFile, before: readonly StoredFile[], path: string, depth: number): void {
    const other = before.find((one) => one.resolve(path) !== null);
    if (other === undefined || depth > DEPTH) return;
    const isGroup = file.kind(path) === "group";
    if (isGroup !== (other.kind(path) === "group")) throw unlike(other, file, path);
    for (const [name, value] of file.attributes(path)) {
      const said = other.attributes(path).get(name);
      if (said === undefined || textOf(said) === textOf(value)) continue;
      const key = `${path === "/" ? "" : path}@${name}`;
      if (typeof value !== "string" && !OF_THE_LIBRARY.test(name)) throw unlike(other, file, key);
      if (!this.varies.includes(key)) this.varies.push(key);
    }
    if (!isGroup && !isSame(file, other, path)) throw unlike(other, file, path);
    for (const name of isGroup ? file.names(path) : []) {
      const child = path === "/" ? `/${name}` : `${path}/${name}`;
      if (file.resolve(child) === child) this.#compare(file, before, child, depth + 1);
    }
  }

  /** @throws DataError if no file has it */
  fileOf(path: string): StoredFile {
    const found = this.#files.find((file) => file.resolve(path) !== null);
    if (found === undefined) throw new DataError(`${this.path} has no ${path}.`);
    return found;
  }

  names(group: string): string[] {
    const holders = this.#files.filter((file) => file.resolve(group) !== null && file.kind(group) === "group");
    return [...new Set(holders.flatMap((file) => file.names(group)))];
  }

  resolve(path: string): string | null {
    return this.#files.find((file) => file.resolve(path) !== null)?.resolve(path) ?? null;
  }

  kind(path: string): "group" | "dataset" | "other" {
    return this.fileOf(path).kind(path);
  }

  describe(path: string): Stored {
    return this.fileOf(path).describe(path);
  }

  attributes(path: string): Attributes {
    return this.fileOf(path).attributes(path);
  }

  scales(path: string): string[][] {
    return this.fileOf(path).scales(path);
  }

  lostScales(path: string): number[] {
    return this.fileOf(path).lostScales?.(path) ?? [];
  }

  labels(path: string): (string | null)[] {
    return this.fileOf(path).labels(path);
  }

  texts(path: string): readonly string[] | null {
    return this.fileOf(path).texts(path);
  }

  address(path: string): number | null {
    const file = this.fileOf(path);
    const address = file.address(path);
    return address === null ? null : address + ADDRESSES * this.#files.indexOf(file);
  }

  numbers(path: string): Float64Array {
    return this.fileOf(path).numbers(path);
  }

  readHyperslab(path: string, stored: Stored, box: Hyperslab, buffer: ReadBuffer): RawValues {
    return this.fileOf(path).readHyperslab(path, stored, box, buffer);
  }

  chunkIndex(path: string, stored: Stored): ChunkIndex | null {
    return this.fileOf(path).chunkIndex(path, stored);
  }

  isUnwritten(path: string): boolean {
    return this.fileOf(path).isUnwritten(path);
  }

  sources(path: string): VirtualSources {
    return this.fileOf(path).sources?.(path) ?? { files: [], missing: [] };
  }

  hasExternalStorage(path: string): boolean {
    return this.fileOf(path).hasExternalStorage(path);
  }

  close(): void {
    for (const file of this.#files) file.close();
  }
}

const textOf = (value: AttributeValue | null): string =>
  JSON.stringify(value instanceof Float64Array ? [...value] : value);

/** Whether two files have the same small dataset at a path; a large one may be in one file only. */
function isSame(one: StoredFile, other: StoredFile, path: string): boolean {
  const [a, b] = [one.describe(path), other.describe(path)];
  const count = a.shape.reduce((product, length) => product * length, 1);
  if (count > SMALL || a.element !== b.element || a.shape.join() !== b.shape.join()) return false;
  if (a.element !== "float" && a.element !== "integer")
    return JSON.stringify(one.texts(path)) === JSON.stringify(other.texts(path));
  const [x, y] = [one.numbers(path), other.numbers(path)];
  return x.every((value, at) => Object.is(value, y[at]));
}

function unlike(one: StoredFile, other: StoredFile, what: string): DataError {
  const [a, b] = [one, other].map(({ path }) => basename(path));
  return new DataError(`${a} and ${b} both hold ${what}, and differ in it: they are not the variables of one time`);
}
