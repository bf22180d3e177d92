/** Several files of one time as one tree, for example one per variable. */
import { basename } from "node:path";
import { DataError } from "../shared/errors.js";
import type { AttributeValue } from "./dataset/stored.js";
import { NO_SOURCES, type StoredFile, type VirtualSources } from "./dataset/stored-file.js";
import { openFile } from "./open-file.js";

/** Most elements of a dataset that several files may repeat. */
const MAX_ELEMENTS = 65_536;
const MAX_DEPTH = 8; // Below it nothing is compared.
/** Attributes that number the dimensions of a file, or refer to its objects. */
const OF_THE_LIBRARY = /^(REFERENCE_LIST|DIMENSION_LIST|_Netcdf4\w+|_NCProperties)$/;
/** Addresses in one file are below this. */
const ADDRESS_RANGE = 2 ** 45;

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
    throw new DataError(`${paths.join(", ")}: ${error.message}`, error.cause, error.context);
  } finally {
    for (const file of files) file.close();
  }
}

/** Attributes of an object in several files. `get` throws for one in which the files differ. */
class UnitedAttributes extends Map<string, AttributeValue | null> {
  readonly refusals = new Map<string, DataError>();

  override get(name: string): AttributeValue | null | undefined {
    const refusal = this.refusals.get(name);
    if (refusal !== undefined) throw refusal;
    return super.get(name);
  }
}

/** Union of files. A member of several files is read from the first; the files must agree in numbers. */
export class UnitedFile implements StoredFile {
  readonly path: string;
  /** Text attributes that differ between files, on which nothing depends. */
  readonly varies: string[] = [];
  readonly #files: readonly StoredFile[];
  readonly #attributes = new Map<string, UnitedAttributes>();
  readonly kind: StoredFile["kind"] = (path) => this.fileOf(path).kind(path);
  readonly describe: StoredFile["describe"] = (path) => this.fileOf(path).describe(path);
  readonly scales: StoredFile["scales"] = (path) => this.fileOf(path).scales(path);
  readonly labels: StoredFile["labels"] = (path) => this.fileOf(path).labels(path);
  readonly texts: StoredFile["texts"] = (path) => this.fileOf(path).texts(path);
  readonly numbers: StoredFile["numbers"] = (path) => this.fileOf(path).numbers(path);
  readonly chunkIndex: StoredFile["chunkIndex"] = (path, stored) => this.fileOf(path).chunkIndex(path, stored);
  readonly isUnwritten: StoredFile["isUnwritten"] = (path) => this.fileOf(path).isUnwritten(path);
  readonly hasExternalStorage: StoredFile["hasExternalStorage"] = (path) => this.fileOf(path).hasExternalStorage(path);
  readonly readHyperslab: StoredFile["readHyperslab"] = (path, stored, box, buffer) =>
    this.fileOf(path).readHyperslab(path, stored, box, buffer);
  readonly lostScales = (path: string): number[] => this.fileOf(path).lostScales?.(path) ?? [];
  readonly sources = (path: string): VirtualSources => this.fileOf(path).sources?.(path) ?? NO_SOURCES;

  constructor(files: readonly StoredFile[]) {
    this.#files = files;
    this.path = (files[0] as StoredFile).path;
    for (const [at, file] of files.entries()) this.#compare(file, files.slice(0, at), "/", 0);
  }

  #compare(file: StoredFile, before: readonly StoredFile[], path: string, depth: number): void {
    const other = before.find((one) => one.resolve(path) !== null);
    if (other === undefined || depth > MAX_DEPTH) return;
    const isGroup = file.kind(path) === "group";
    if (isGroup !== (other.kind(path) === "group")) throw differenceIn(other, file, path);
    for (const [name, refusal] of this.attributes(path).refusals) {
      const value = file.attributes(path).get(name);
      if (value !== undefined && typeof value !== "string" && !OF_THE_LIBRARY.test(name)) throw refusal;
      const key = keyOf(path, name);
      if (!this.varies.includes(key)) this.varies.push(key);
    }
    if (!isGroup && !isSame(file, other, path)) throw differenceIn(other, file, path);
    for (const name of isGroup ? file.names(path) : []) {
      const child = path === "/" ? `/${name}` : `${path}/${name}`;
      if (file.resolve(child) === child) this.#compare(file, before, child, depth + 1);
    }
  }

  /** @throws DataError if no file has it */
  fileOf(path: string): StoredFile {
    const holder = this.#files.find((file) => file.resolve(path) !== null);
    if (holder === undefined) throw new DataError(`${this.path} has no ${path}.`);
    return holder;
  }

  names(group: string): string[] {
    const holders = this.#files.filter((file) => file.resolve(group) !== null && file.kind(group) === "group");
    return [...new Set(holders.flatMap((file) => file.names(group)))];
  }

  resolve(path: string): string | null {
    return this.#files.find((file) => file.resolve(path) !== null)?.resolve(path) ?? null;
  }

  /** What any of the files says of an object; of a group, only what the file of a `member` says, if one is given. */
  attributes(path: string, member = path): UnitedAttributes {
    const key = `${path}\n${member}`;
    const cached = this.#attributes.get(key);
    if (cached !== undefined) return cached;
    const holders = this.#files.filter((file) => file.resolve(path) !== null);
    const owner = member === path ? null : this.fileOf(member);
    const stated = holders.find((file) => file === owner)?.attributes(path);
    const united = new UnitedAttributes();
    for (const name of new Set(holders.flatMap((file) => [...file.attributes(path).keys()]))) {
      if (stated?.has(name) === false) continue;
      const by = holders.filter((file) => file.attributes(path).has(name));
      const texts = by.map((file) => textOf(file.attributes(path).get(name) ?? null));
      const other = texts.findIndex((text) => text !== texts[0]);
      united.set(name, other < 0 ? (by[0]?.attributes(path).get(name) ?? null) : texts);
      if (other > 0)
        united.refusals.set(name, differenceIn(by[0] as StoredFile, by[other] as StoredFile, keyOf(path, name)));
    }
    this.#attributes.set(key, united);
    return united;
  }

  address(path: string): number | null {
    const file = this.fileOf(path);
    const address = file.address(path);
    return address === null ? null : address + ADDRESS_RANGE * this.#files.indexOf(file);
  }

  close(): void {
    for (const file of this.#files) file.close();
  }
}

const keyOf = (path: string, name: string): string => `${path === "/" ? "" : path}@${name}`;

const textOf = (value: AttributeValue | null): string =>
  JSON.stringify(value instanceof Float64Array ? [...value] : value);

/** Whether two files have the same small dataset at a path; a large one may be in one file only. */
function isSame(one: StoredFile, other: StoredFile, path: string): boolean {
  const [a, b] = [one.describe(path), other.describe(path)];
  const count = a.shape.reduce((product, length) => product * length, 1);
  if (count > MAX_ELEMENTS || a.element !== b.element || a.shape.join() !== b.shape.join()) return false;
  if (a.element !== "float" && a.element !== "integer")
    return JSON.stringify(one.texts(path)) === JSON.stringify(other.texts(path));
  const [x, y] = [one.numbers(path), other.numbers(path)];
  return x.every((value, at) => Object.is(value, y[at]));
}

function differenceIn(one: StoredFile, other: StoredFile, what: string): DataError {
  const [a, b] = [one, other].map(({ path }) => basename(path));
  return new DataError(`${a} and ${b} both hold ${what}, and differ in it: they are not the variables of one time`);
}
