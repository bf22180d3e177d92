/**
 * `ObservedFile` passes on questions about the structure of a file, and records all answers. Another file with the same
 * answers has the same description.
 */
import { isDeepStrictEqual } from "node:util";
import type { FileStamp } from "../file/dataset.js";
import type { AttributeValue, ChunkIndex, RawValues, Stored } from "../file/stored.js";
import type { StoredFile } from "../file/stored-file.js";

/** The questions about a path of a file, and about an attribute of it. */
const QUESTIONS = {
  names: (file: StoredFile, path: string) => file.names(path),
  resolve: (file: StoredFile, path: string) => file.resolve(path),
  kind: (file: StoredFile, path: string) => file.kind(path),
  describe: (file: StoredFile, path: string) => file.describe(path),
  scales: (file: StoredFile, path: string) => file.scales(path),
  lostScales: (file: StoredFile, path: string) => file.lostScales?.(path) ?? [],
  labels: (file: StoredFile, path: string) => file.labels(path),
  texts: (file: StoredFile, path: string) => file.texts(path),
  numbers: (file: StoredFile, path: string) => file.numbers(path),
  isUnwritten: (file: StoredFile, path: string) => file.isUnwritten(path),
  hasExternalStorage: (file: StoredFile, path: string) => file.hasExternalStorage(path),
  attributeNames: (file: StoredFile, path: string) => [...file.attributes(path).keys()],
  attribute: (file: StoredFile, path: string, name: string) => file.attributes(path).get(name),
  address: (file: StoredFile, path: string) => file.address(path),
};

/** A question that was asked, and its answer. */
export interface Observation {
  readonly question: keyof typeof QUESTIONS | "derived";
  readonly path: string;
  /** Of the attribute, or of what is derived; empty for other questions. */
  readonly name: string;
  /** Derives the answer from a file. */
  readonly derive?: (file: StoredFile) => unknown;
  /** By address: the first path by which the object there was asked for. */
  readonly answer: unknown;
  /** Number of times that it was asked. */
  readonly times: number;
}

/** The answer of another file to an observed question. @throws DataError */
export function answerOf(file: StoredFile, { question, path, name, derive }: Observation): unknown {
  return question === "derived" ? derive?.(file) : QUESTIONS[question](file, path, name);
}

/** Whether another file gives all of these answers. @throws DataError */
export function isLike(file: StoredFile, observations: readonly Observation[]): boolean {
  const places = new Places();
  return observations.every((observation) => {
    const { question, path, answer } = observation;
    const own = question === "address" ? places.first(path, file.address(path)) : answerOf(file, observation);
    return Object.is(own, answer) || isDeepStrictEqual(own, answer);
  });
}

/** Tells which paths lead to one object; where in its file that lies is of no effect. */
class Places {
  readonly #paths = new Map<number, string>();

  /** The first path that was asked for of the object at an address. */
  first(path: string, address: number | null): string {
    if (address === null) return path;
    const known = this.#paths.get(address) ?? path;
    this.#paths.set(address, known);
    return known;
  }
}

/** A file whose answers are kept while it is described. */
export class ObservedFile implements StoredFile {
  readonly path: string;
  /** The file as it was opened. */
  readonly stamp: FileStamp;
  /** Whether nothing was read but answers that are kept here. */
  isComplete = true;
  readonly #file: StoredFile;
  readonly #observed = new Map<string, { -readonly [K in keyof Observation]: Observation[K] }>();

  constructor(file: StoredFile, stamp: FileStamp) {
    this.path = file.path;
    this.stamp = stamp;
    this.#file = file;
  }

  /** What was asked so far, in that order. */
  get observations(): readonly Observation[] {
    const places = new Places();
    return Array.from(this.#observed.values(), (observation) =>
      observation.question === "address"
        ? { ...observation, answer: places.first(observation.path, observation.answer as number | null) }
        : observation,
    );
  }

  names(group: string): string[] {
    return this.#ask("names", group);
  }

  resolve(path: string): string | null {
    return this.#ask("resolve", path);
  }

  kind(path: string): "group" | "dataset" | "other" {
    return this.#ask("kind", path);
  }

  describe(path: string): Stored {
    return this.#ask("describe", path);
  }

  attributes(path: string): ReadonlyMap<string, AttributeValue | null> {
    return new ObservedAttributes(
      () => this.#ask("attributeNames", path),
      (name) => this.#ask("attribute", path, name),
    );
  }

  scales(path: string): string[][] {
    return this.#ask("scales", path);
  }

  lostScales(path: string): number[] {
    return this.#ask("lostScales", path);
  }

  labels(path: string): (string | null)[] {
    return this.#ask("labels", path);
  }

  texts(path: string): readonly string[] | null {
    return this.#ask("texts", path);
  }

  numbers(path: string): Float64Array {
    return this.#ask("numbers", path);
  }

  address(path: string): number | null {
    return this.#ask("address", path);
  }

  isUnwritten(path: string): boolean {
    return this.#ask("isUnwritten", path);
  }

  hasExternalStorage(path: string): boolean {
    return this.#ask("hasExternalStorage", path);
  }

  readHyperslab(...args: Parameters<StoredFile["readHyperslab"]>): RawValues {
    this.isComplete = false;
    return this.#file.readHyperslab(...args);
  }

  chunkIndex(path: string, stored: Stored): ChunkIndex | null {
    this.isComplete = false;
    return this.#file.chunkIndex(path, stored);
  }

  close(): void {
    this.#file.close();
  }

  derived<T>(path: string, name: string, derive: (file: StoredFile) => T): T {
    return this.#keep("derived", path, name, () => derive(this.#file), derive);
  }

  #ask<K extends keyof typeof QUESTIONS>(question: K, path: string, name = ""): ReturnType<(typeof QUESTIONS)[K]> {
    const ask = () => QUESTIONS[question](this.#file, path, name) as ReturnType<(typeof QUESTIONS)[K]>;
    return this.#keep(question, path, name, ask);
  }

  #keep<T>(
    question: Observation["question"],
    path: string,
    name: string,
    ask: () => T,
    derive?: Observation["derive"],
  ): T {
    const key = `${question}\n${path}\n${name}`;
    const known = this.#observed.get(key);
    if (known !== undefined) {
      known.times++;
      return known.answer as T;
    }
    try {
      const answer = ask();
      this.#observed.set(key, { question, path, name, answer, times: 1, ...(derive === undefined ? {} : { derive }) });
      return answer;
    } catch (error) {
      this.isComplete = false;
      throw error;
    }
  }
}

/** Attributes that count as observed once they are read. */
class ObservedAttributes implements ReadonlyMap<string, AttributeValue | null> {
  readonly #names: () => readonly string[];
  readonly #value: (name: string) => AttributeValue | null | undefined;

  constructor(names: () => readonly string[], value: (name: string) => AttributeValue | null | undefined) {
    this.#names = names;
    this.#value = value;
  }

  get size(): number {
    return this.#names().length;
  }

  get(name: string): AttributeValue | null | undefined {
    return this.#value(name);
  }

  has(name: string): boolean {
    return this.#names().includes(name);
  }

  keys(): MapIterator<string> {
    return new Set(this.#names()).keys();
  }

  values(): MapIterator<AttributeValue | null> {
    return this.#readAll().values();
  }

  entries(): MapIterator<[string, AttributeValue | null]> {
    return this.#readAll().entries();
  }

  [Symbol.iterator](): MapIterator<[string, AttributeValue | null]> {
    return this.entries();
  }

  forEach(visit: (value: AttributeValue | null, name: string, all: this) => void): void {
    for (const [name, value] of this) visit(value, name, this);
  }

  #readAll(): Map<string, AttributeValue | null> {
    return new Map(this.#names().map((name) => [name, this.#value(name) ?? null]));
  }
}
