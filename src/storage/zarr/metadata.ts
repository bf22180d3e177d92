/** Reads the metadata documents of Zarr 2 and 3 into a tree of groups and arrays. */
import { registry } from "zarrita";
import { DataError } from "../../errors.js";
import type { StoredArray, StoredGroup, StoreTree } from "./protocol.js";

/** A metadata document, or an object inside one. */
export type Json = Readonly<Record<string, unknown>>;
/** Metadata documents by their keys, e.g. `u/zarr.json` or `u/.zarray`. */
export type Documents = ReadonlyMap<string, Json>;

/** Names of metadata documents. */
export const DOCUMENT_NAMES = ["zarr.json", ".zarray", ".zgroup", ".zattrs", ".zmetadata"] as const;
/** Element types of Zarr 2, without the byte order, in the words of Zarr 3. */
const TYPES = new Map([
  ["f4", "float32"],
  ["f8", "float64"],
  ["i1", "int8"],
  ["i2", "int16"],
  ["i4", "int32"],
  ["i8", "int64"],
  ["u1", "uint8"],
  ["u2", "uint16"],
  ["u4", "uint32"],
  ["u8", "uint64"],
]);
/** The codec of Zarr 3 that only says how elements become bytes. */
const PLAIN = new Set(["bytes", "transpose"]);

/** A metadata document. @throws DataError that names it */
export function documentOf(place: string, bytes: Uint8Array): Json {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(bytes));
  } catch (cause) {
    throw new DataError(`${place} is not readable as JSON`, cause);
  }
  return objectOf(value);
}

/** Copies the members of consolidated documents to the keys that they stand for. */
export function expandConsolidated(documents: Documents): Documents {
  const all = new Map<string, Json>();
  for (const [key, document] of documents) {
    const base = key.slice(0, key.lastIndexOf("/") + 1);
    if (key.endsWith(".zmetadata"))
      for (const [member, value] of Object.entries(objectOf(document.metadata)))
        all.set(base + member, objectOf(value));
    else {
      all.set(key, document);
      for (const [path, value] of Object.entries(objectOf(objectOf(document.consolidated_metadata).metadata)))
        all.set(`${base}${path}/zarr.json`, objectOf(value));
    }
  }
  return all;
}

/** Groups and arrays by their paths. @throws DataError for an array whose metadata are not complete */
export function entriesOf(documents: Documents): StoreTree["entries"] {
  const entries: Record<string, StoredGroup | StoredArray> = {};
  for (const [key, document] of documents) {
    const at = key.lastIndexOf("/");
    const [folder, name] = [key.slice(0, Math.max(at, 0)), key.slice(at + 1)];
    const path = folder === "" ? "/" : `/${folder}`;
    const beside = (other: string) => objectOf(documents.get(folder === "" ? other : `${folder}/${other}`));
    if (name === "zarr.json" && document.node_type === "array") entries[path] = thirdArray(path, document);
    else if (name === "zarr.json") entries[path] = { kind: "group", attributes: objectOf(document.attributes) };
    else if (name === ".zarray") entries[path] = secondArray(path, document, beside(".zattrs"));
    else if (name === ".zgroup") entries[path] = { kind: "group", attributes: beside(".zattrs") };
  }
  return entries;
}

/**
 * An array of Zarr 3.
 *
 * Source: Zarr core specification 3.1, sections "Array metadata" and "Sharding codec".
 */
function thirdArray(path: string, document: Json): StoredArray {
  const outer = codecsOf(document.codecs);
  const shard = outer.find(({ name }) => name === "sharding_indexed")?.configuration;
  const codecs = shard === undefined ? outer : codecsOf(shard.codecs);
  const chunks = shard?.chunk_shape ?? objectOf(objectOf(document.chunk_grid).configuration).chunk_shape;
  const names = codecs.map(({ name }) => name).filter((name) => !PLAIN.has(name));
  const known = [...names, ...outer.map(({ name }) => name)].filter((name) => name !== "sharding_indexed");
  const shape = lengths(path, "shape", document.shape);
  return {
    kind: "array",
    attributes: objectOf(document.attributes),
    shape,
    chunks: lengths(path, "chunk_shape", chunks),
    dataType: typeof document.data_type === "string" ? document.data_type : JSON.stringify(document.data_type),
    fill: document.fill_value,
    dimensions: shape.map((_, index) => textOrNull((document.dimension_names as unknown[] | undefined)?.[index])),
    codecs: shard === undefined ? names : [...names, "sharding"],
    unknownCodecs: known.filter((name) => !registry.has(name)),
  };
}

/** An array of Zarr 2. Source: Zarr storage specification 2; `_ARRAY_DIMENSIONS` is xarray's. */
function secondArray(path: string, document: Json, attributes: Json): StoredArray {
  const type = String(document.dtype);
  const codecs = [...((document.filters ?? []) as unknown[]), document.compressor ?? []]
    .flatMap((codec) => (Array.isArray(codec) ? codec : [codec]))
    .map((codec) => String(objectOf(codec).id));
  const shape = lengths(path, "shape", document.shape);
  const labels = attributes._ARRAY_DIMENSIONS;
  return {
    kind: "array",
    attributes,
    shape,
    chunks: lengths(path, "chunks", document.chunks),
    dataType: TYPES.get(type.slice(1)) ?? type,
    fill: document.fill_value,
    dimensions: shape.map((_, index) => textOrNull(Array.isArray(labels) ? labels[index] : null)),
    codecs,
    unknownCodecs: codecs.filter((name) => !registry.has(`numcodecs.${name}`) && !registry.has(name)),
  };
}

function codecsOf(value: unknown): { name: string; configuration: Json }[] {
  if (!Array.isArray(value)) return [];
  return value.map((codec) => ({
    name: String(objectOf(codec).name ?? codec),
    configuration: objectOf(objectOf(codec).configuration),
  }));
}

function lengths(path: string, member: string, value: unknown): number[] {
  const isLengths = Array.isArray(value) && value.every((length) => Number.isSafeInteger(length) && length >= 0);
  if (!isLengths) throw new DataError(`${path}: ${member} is not a list of lengths`);
  return value as number[];
}

function objectOf(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}
