/** Zarr store as a stored file: groups and arrays, with the labels and coordinate tables of their dimensions. */
import { DataError } from "../../shared/errors.js";
import { ReadMemory } from "../../shared/read-memory.js";
import { MISSING_CHUNKS } from "../../shared/store-settings.js";
import { packingOf, unpack } from "../dataset/packing.js";
import type { ReadBuffer } from "../dataset/read-buffer.js";
import type { Attributes, AttributeValue, Hyperslab, NumberType, RawValues, Stored } from "../dataset/stored.js";
import type { StoredFile, StoredHyperslab } from "../dataset/stored-file.js";
import { countElements, MAX_TABLE_BYTES, MAX_TEXTS } from "../dataset/stored-file.js";
import type { StoredArray, StoredGroup, StoreTree } from "../zarr/store-tree.js";
import { type OpenOptions, StoreClient } from "./store-client.js";

const TEXTS = /^(string|\|O|[<>|][US]\d+)$/;

export class ZarrFile implements StoredFile {
  readonly path: string;
  readonly tree: StoreTree;
  readonly #client = StoreClient.ofThread();
  readonly #attributes = new Map<string, Attributes>();
  #closed = false;

  constructor(path: string, { newestMs, named, timeoutMs }: OpenOptions = {}) {
    this.path = path;
    this.tree = this.#client.ask({ kind: "open", store: path, newestMs, named }, timeoutMs);
  }

  get newestMs(): number {
    return this.tree.newestMs;
  }

  get version(): string {
    return this.tree.digest;
  }

  names(group: string): string[] {
    const start = group === "/" ? "/" : `${group}/`;
    return Object.keys(this.tree.entries)
      .filter((path) => path !== "/" && path.startsWith(start) && !path.slice(start.length).includes("/"))
      .map((path) => path.slice(start.length));
  }

  resolve(path: string): string | null {
    const parts = path.split("/").filter((part) => part !== "" && part !== ".");
    const resolved = `/${parts.join("/")}`;
    return this.#find(resolved) === undefined ? null : resolved;
  }

  #find(path: string): StoredArray | StoredGroup | undefined {
    const entry = this.tree.entries[path];
    if (entry !== undefined) return entry;
    const start = path === "/" ? "/" : `${path}/`;
    const isGroup = Object.keys(this.tree.entries).some((other) => other.startsWith(start));
    return isGroup ? { kind: "group", attributes: {} } : undefined;
  }

  kind(path: string): "group" | "dataset" | "other" {
    const kind = this.#find(path)?.kind;
    return kind === "array" ? "dataset" : kind === "group" ? "group" : "other";
  }

  #array(path: string): StoredArray {
    const entry = this.tree.entries[path];
    if (entry?.kind !== "array") throw new DataError(`${this.path}: ${path} is not an array.`);
    return entry;
  }

  describe(path: string): Stored {
    const { shape, chunks, dataType, codecs, unknownCodecs } = this.#array(path);
    const [, kind, bits] = /^(float|int|uint)(8|16|32|64)$/.exec(dataType) ?? [];
    return {
      shape,
      maxShape: shape,
      element: kind === undefined ? (/string|^[<>|][USO]/.test(dataType) ? "string" : "other") : elementOf(kind),
      // Numbers of two bytes are read as float32.
      size: dataType === "float16" ? 4 : Number(bits ?? 8) / 8,
      signed: kind !== "uint",
      littleEndian: true,
      chunks,
      // A read is decoded as a whole, whatever its codecs.
      filters:
        codecs.length === 0 && unknownCodecs.length === 0
          ? ["uncompressed"]
          : [...codecs.filter((name) => !unknownCodecs.includes(name)), ...unknownCodecs.map((name) => `#${name}`)],
      virtual: false,
    };
  }

  attributes(path: string): Attributes {
    const known = this.#attributes.get(path) ?? this.#attributesOf(path);
    this.#attributes.set(path, known);
    return known;
  }

  #attributesOf(path: string): Attributes {
    const entry = this.#find(path);
    const types = new Map<string, NumberType>();
    const found = Object.assign(new Map<string, AttributeValue | null>(), { types });
    for (const [name, value] of Object.entries(entry?.attributes ?? {})) {
      if (saysMissing(name, value)) continue;
      found.set(name, attributeValue(value));
      const element = numberElement(value);
      if (element !== null) types.set(name, { element, size: null });
    }
    if (entry?.kind !== "array") return found;
    const fill = found.get("_FillValue");
    if (typeof fill === "string") found.set("_FillValue", encodedFill(fill));
    return found;
  }

  /** Tables named like the dimensions, in the group of the array or above. */
  scales(path: string): string[][] {
    return this.#array(path).dimensions.map((name) => {
      if (name === null) return [];
      for (let group = parentOf(path); ; group = parentOf(group)) {
        const table = group === "/" ? `/${name}` : `${group}/${name}`;
        if (table !== path && this.tree.entries[table]?.kind === "array") return [table];
        if (group === "/") return [];
      }
    });
  }

  labels(path: string): (string | null)[] {
    return [...this.#array(path).dimensions];
  }

  texts(path: string): readonly string[] | null {
    const { shape, dataType, unknownCodecs } = this.#array(path);
    const count = shape.reduce((product, length) => product * length, 1);
    if (!TEXTS.test(dataType) || count === 0 || count > MAX_TEXTS || unknownCodecs.length > 0) return null;
    return this.#client.ask({ kind: "texts", store: this.path, newestMs: this.tree.newestMs, path });
  }

  address(): null {
    return null;
  }

  numbers(path: string): Float64Array {
    const stored = this.describe(path);
    const { shape, element, size } = stored;
    if (element !== "float" && element !== "integer") throw new DataError(`${this.path}: ${path} holds no numbers.`);
    const bytes = shape.reduce((product, length) => product * length, size);
    if (bytes > MAX_TABLE_BYTES)
      throw new DataError(`${this.path}: ${path} is too large for a table (${bytes} bytes).`);
    const elements = this.#read(path, { offset: shape.map(() => 0), count: shape });
    const values = Float64Array.from(elements as ArrayLike<number | bigint>, Number);
    ReadMemory.ofThread().giveBack(elements);
    return Float64Array.from(unpack(values, packingOf(this.attributes(path), stored)));
  }

  readHyperslab(path: string, stored: Stored, box: Hyperslab, buffer: ReadBuffer): RawValues {
    if (this.#closed) throw new DataError(`${this.path} is closed.`);
    countElements(`${this.path}: ${path}`, stored.shape, box);
    const elements = this.#read(path, box);
    if (elements instanceof BigInt64Array || elements instanceof BigUint64Array)
      throw new DataError(`${this.path}: ${path} holds integers of 8 bytes, which cannot be values of a field.`);
    return buffer.lent(elements);
  }

  fetch(boxes: readonly StoredHyperslab[]): readonly boolean[] {
    const { path: store } = this;
    const { newestMs } = this.tree;
    return this.#client.ask({ kind: "ready", store, reads: boxes.map((box) => ({ store, newestMs, ...box })) });
  }

  #read(path: string, { offset, count }: Hyperslab) {
    const [unknown] = this.#array(path).unknownCodecs;
    if (unknown !== undefined)
      throw new DataError(`${this.path}: ${path} is stored with ${unknown}, which is not read.`);
    const { newestMs } = this.tree;
    return this.#client.ask({ kind: "read", store: this.path, newestMs, path, offset, count });
  }

  /** None: unwritten values read as NaN. */
  chunkIndex(): null {
    return null;
  }

  /** Never: unwritten values read as NaN. */
  isUnwritten(): boolean {
    return false;
  }

  missingChunks(path: string): string | null {
    const { objects } = this.#array(path);
    const present = this.tree.present[path] ?? objects;
    return present < objects ? `${objects - present} of ${objects} chunks are not there` : null;
  }

  hasExternalStorage(): boolean {
    return false;
  }

  close(): void {
    this.#closed = true;
  }
}

function saysMissing(name: string, value: unknown): boolean {
  return name === "missing" && (MISSING_CHUNKS as readonly unknown[]).includes(value);
}

const elementOf = (kind: string): Stored["element"] => (kind === "float" ? "float" : "integer");

const parentOf = (path: string): string => path.slice(0, path.lastIndexOf("/")) || "/";

/** The fill value of a float64 that xarray wrote as base64, since JSON has no NaN; null for other texts. */
function encodedFill(text: string): number | null {
  if (text === "NaN") return Number.NaN;
  const bytes = Buffer.from(text, "base64");
  return bytes.length === 8 ? bytes.readDoubleLE(0) : null;
}

function numberElement(value: unknown): NumberType["element"] | null {
  if (value instanceof Float64Array) return "float";
  const all = Array.isArray(value) ? value : [value];
  if (all.length === 0 || !all.every((one) => typeof one === "number")) return null;
  return all.every(Number.isInteger) ? "integer" : "float";
}

/** Numbers, texts and lists; null for anything else. */
function attributeValue(value: unknown): AttributeValue | null {
  if (typeof value === "number" || typeof value === "string") return value;
  if (typeof value === "boolean") return Number(value);
  if (value instanceof Float64Array) return value;
  if (!Array.isArray(value) || value.length === 0) return null;
  if (value.every((entry) => typeof entry === "number")) return Float64Array.from(value);
  return value.every((entry) => typeof entry === "string") ? value : null;
}
