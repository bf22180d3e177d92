/** Reads the metadata documents of Zarr 2 and 3 into a tree of groups and arrays. */

import { isDeepStrictEqual } from "node:util";
import { registry } from "zarrita";
import { DataError } from "../../errors.js";
import type { StoredArray, StoredGroup, StoreTree } from "./store-tree.js";

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
/** Members of an array of Zarr 3 that its values depend on. */
const THIRD_MEMBERS = [
  "node_type",
  "shape",
  "data_type",
  "chunk_grid",
  "chunk_key_encoding",
  "codecs",
  "fill_value",
  "attributes",
  "dimension_names",
  "storage_transformers",
] as const;
const KNOWN_MEMBERS: ReadonlySet<string> = new Set(["zarr_format", ...THIRD_MEMBERS]);
const KEY_ENCODINGS: readonly unknown[] = [undefined, "default", "v2"];

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

/**
 * Copies the members of consolidated documents to the keys that they stand for.
 *
 * @throws DataError where an array has documents of its own that say something else
 */
export function expandConsolidated(documents: Documents): Documents {
  const all = new Map<string, Json>();
  const put = (key: string, value: Json): void => {
    const own = all.get(key);
    if (own !== undefined && !isSameArray(own, value))
      throw new DataError(
        `the consolidated metadata disagree with ${key}: zarr.consolidate_metadata(store) writes them anew`,
      );
    all.set(key, value);
  };
  for (const [key, document] of documents) {
    const base = key.slice(0, key.lastIndexOf("/") + 1);
    if (key.endsWith(".zmetadata"))
      for (const [member, value] of Object.entries(objectOf(document.metadata))) put(base + member, objectOf(value));
    else {
      put(key, document);
      for (const [path, value] of Object.entries(objectOf(objectOf(document.consolidated_metadata).metadata)))
        put(`${base}${path}/zarr.json`, objectOf(value));
    }
  }
  return all;
}

/** Whether two documents of one key describe the same values; those of groups in Zarr 3 may list different members. */
function isSameArray(one: Json, other: Json): boolean {
  const described = (document: Json) =>
    document.node_type === undefined ? document : THIRD_MEMBERS.map((member) => document[member] ?? null);
  if (one.node_type === "group" && other.node_type === "group") return true;
  return isDeepStrictEqual(described(one), described(other));
}

/**
 * Groups and arrays by their paths.
 *
 * @throws DataError for an array whose metadata are not complete, and for metadata of both formats that differ
 */
export function entriesOf(documents: Documents): StoreTree["entries"] {
  checkFormats(documents);
  const entries: Record<string, StoredGroup | StoredArray> = {};
  for (const [key, document] of documents) {
    const at = key.lastIndexOf("/");
    const [folder, name] = [key.slice(0, Math.max(at, 0)), key.slice(at + 1)];
    const path = folder === "" ? "/" : `/${folder}`;
    const attributes = objectOf(documents.get(folder === "" ? ".zattrs" : `${folder}/.zattrs`));
    if (name === "zarr.json" && document.node_type === "array") entries[path] = thirdArray(path, document);
    else if (name === "zarr.json") entries[path] = { kind: "group", attributes: objectOf(document.attributes) };
    else if (name === ".zarray") entries[path] = secondArray(path, document, attributes);
    else if (name === ".zgroup") entries[path] = { kind: "group", attributes };
  }
  return entries;
}

/** @throws DataError where a folder has metadata of Zarr 2 and of Zarr 3 that do not say the same */
function checkFormats(documents: Documents): void {
  for (const [key, third] of documents) {
    if (!/(^|\/)zarr\.json$/.test(key)) continue;
    const folder = key.slice(0, -"zarr.json".length);
    const of = (name: string): Json | undefined => documents.get(folder + name);
    const second = of(".zarray") ?? of(".zgroup");
    const isArray = of(".zarray") !== undefined;
    if (second === undefined) continue;
    const isSame =
      isArray === (third.node_type === "array") &&
      isDeepStrictEqual(withoutLabels(objectOf(of(".zattrs"))), withoutLabels(objectOf(third.attributes))) &&
      (!isArray || isSameInBoth(second, objectOf(of(".zattrs")), third));
    if (!isSame)
      throw new DataError(
        `${key} and ${folder}${isArray ? ".zarray" : ".zgroup"} do not say the same: remove the one that does not hold`,
      );
  }
}

/** The labels of Zarr 2 stand among the attributes, those of Zarr 3 beside them. */
function withoutLabels({ _ARRAY_DIMENSIONS: _labels, ...others }: Json): Json {
  return others;
}

/** Whether metadata of Zarr 2 and 3 find the same numbers in the same objects of an array. */
function isSameInBoth(second: Json, attributes: Json, third: Json): boolean {
  const keys = objectOf(third.chunk_key_encoding);
  const codecs = codecsOf(third.codecs);
  const type = String(second.dtype);
  const endian = codecs.find(({ name }) => name === "bytes")?.configuration.endian ?? "little";
  const compressor = second.compressor == null ? [] : [String(objectOf(second.compressor).id)];
  const told = (names: unknown) => (Array.isArray(names) ? names : null);
  // The fill value of floats may stand for `_FillValue` in Zarr 2 alone.
  if (third.fill_value !== 0 && /^float/.test(String(third.data_type))) return false;
  return isDeepStrictEqual(
    [
      ...[second.shape, second.chunks, TYPES.get(type.slice(1)), second.fill_value ?? 0, "v2"],
      ...[second.dimension_separator ?? ".", type.startsWith(">") ? "big" : "little", ["bytes", ...compressor]],
      ...[told(attributes._ARRAY_DIMENSIONS), second.order ?? "C", second.filters ?? null],
    ],
    [
      ...[third.shape, objectOf(objectOf(third.chunk_grid).configuration).chunk_shape, third.data_type],
      ...[third.fill_value, keys.name, objectOf(keys.configuration).separator ?? "."],
      ...[endian, codecs.map(({ name }) => name.replace("numcodecs.", "")), told(third.dimension_names), "C", null],
    ],
  );
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
  const odd = oddities(document, outer);
  return {
    kind: "array",
    attributes: objectOf(document.attributes),
    shape,
    chunks: chunkEdges(path, "chunk_shape", chunks, shape),
    dataType: typeof document.data_type === "string" ? document.data_type : JSON.stringify(document.data_type),
    fill: document.fill_value,
    dimensions: shape.map((_, index) => textOrNull((document.dimension_names as unknown[] | undefined)?.[index])),
    codecs: [...names, ...(shard === undefined ? [] : ["sharding"]), ...odd],
    unknownCodecs: [...known.filter((name) => !registry.has(name)), ...odd],
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
  const dataType = TYPES.get(type.slice(1)) ?? type;
  return {
    kind: "array",
    attributes: withFill(attributes, dataType, document.fill_value),
    shape,
    chunks: chunkEdges(path, "chunks", document.chunks, shape),
    dataType,
    fill: document.fill_value,
    dimensions: shape.map((_, index) => textOrNull(Array.isArray(labels) ? labels[index] : null)),
    codecs,
    unknownCodecs: codecs.filter((name) => !registry.has(`numcodecs.${name}`) && !registry.has(name)),
  };
}

/**
 * The attributes of an array of Zarr 2 with the `_FillValue` of CF: xarray keeps that of floats in the fill value of
 * the array. The fill value 0 is that of arrays whose writer chose none.
 */
function withFill(attributes: Json, dataType: string, fill: unknown): Json {
  const isStated = dataType.startsWith("float") && typeof fill === "number" && fill !== 0;
  return isStated && attributes._FillValue === undefined ? { ...attributes, _FillValue: fill } : attributes;
}

/**
 * What an array of Zarr 3 says that the library passes over, although its values depend on it, in words that stand for
 * an unknown codec.
 */
function oddities(document: Json, outer: ReturnType<typeof codecsOf>): string[] {
  const grid = objectOf(document.chunk_grid);
  const whole = objectOf(grid.configuration).chunk_shape as readonly number[] | undefined;
  const shard = outer.find(({ name }) => name === "sharding_indexed")?.configuration;
  const inner = shard?.chunk_shape as readonly number[] | undefined;
  const transformers = document.storage_transformers;
  const isInteger = /^u?int/.test(String(document.data_type));
  const facts: readonly (readonly [isOdd: boolean, words: string])[] = [
    [grid.name !== "regular", `chunk_grid ${grid.name}`],
    [!KEY_ENCODINGS.includes(objectOf(document.chunk_key_encoding).name), "chunk_key_encoding"],
    [Array.isArray(transformers) && transformers.length > 0, "storage_transformers"],
    [isInteger && typeof document.fill_value !== "number", "fill_value"],
    [shard !== undefined && outer.length > 1, "codecs around shards"],
    [[outer, codecsOf(shard?.codecs)].some((list) => transposesIn(list) > 1), "several transpositions"],
    [shard !== undefined && (shard.index_location ?? "end") !== "end", "index_location"],
    [codecsOf(shard?.codecs).some(({ name }) => name === "sharding_indexed"), "shards in shards"],
    [inner?.some((edge, axis) => (whole?.[axis] ?? 0) % edge !== 0) ?? false, "chunk_shape"],
    ...Object.entries(document)
      .filter(([name, value]) => !KNOWN_MEMBERS.has(name) && objectOf(value).must_understand !== false)
      .map(([name]) => [true, name] as const),
  ];
  return facts.filter(([isOdd]) => isOdd).map(([, words]) => words);
}

/** The library applies one of them only. */
function transposesIn(codecs: readonly { name: string }[]): number {
  return codecs.filter(({ name }) => name === "transpose").length;
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

function chunkEdges(path: string, member: string, value: unknown, shape: readonly number[]): number[] {
  const edges = lengths(path, member, value);
  if (edges.length !== shape.length || edges.includes(0))
    throw new DataError(`${path}: ${member} does not cut an array of ${shape.length} dimensions into chunks`);
  return edges;
}

function objectOf(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

/**
 * The value that stands for elements which were never written, `key` being that of the metadata of an array: NaN among
 * floats, for the fill value of an array says what its writer would compute with, and not what was measured there;
 * among integers the `_FillValue` of CF, else the fill value. Undefined where nothing stands for them.
 */
export function unwrittenValue(documents: Documents, key: string): unknown {
  const document = documents.get(key) ?? {};
  if (/^float|^[<>]f/.test(String(document.data_type ?? document.dtype))) return "NaN";
  const beside = documents.get(key.replace(/\.zarray$/, ".zattrs"));
  const { _FillValue: stated } = objectOf(document.attributes ?? beside?.attributes ?? beside);
  if (typeof stated === "number") return stated;
  return document.fill_value ?? undefined;
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}
