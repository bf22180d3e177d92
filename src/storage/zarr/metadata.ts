/** Reads the metadata documents of Zarr 2 and 3 into a tree of groups and arrays. */
import { isDeepStrictEqual } from "node:util";
import { registry } from "zarrita";
import { DataError } from "../../shared/errors.js";
import { STORE_BOUNDS } from "../../shared/store-settings.js";
import { type Documents, type Json, objectOf, statedObject } from "../dataset/documents.js";
import { chainRefusals, fillRefusals, indexRefusals, separatorRefusals } from "./codec-chain.js";
import { ELEMENT_TYPES, sizeOf } from "./element-size.js";
import { codecRefusals } from "./filters.js";
import type { StoredArray, StoredGroup, StoreTree } from "./store-tree.js";

export const DOCUMENT_NAMES = ["zarr.json", ".zarray", ".zgroup", ".zattrs", ".zmetadata"] as const;
/** Codecs of Zarr 3 that only lay out the bytes of elements. */
const PLAIN = new Set(["bytes", "transpose"]);
/** Members of an array in Zarr 3 on which its values depend. */
const THIRD_MEMBERS =
  "node_type shape data_type chunk_grid chunk_key_encoding codecs fill_value attributes dimension_names storage_transformers".split(
    " ",
  );
/** Bytes that the index of a shard and encoding may add per chunk. */
const SHARD_ENTRY_BYTES = 16 + 64;
const KNOWN_MEMBERS: ReadonlySet<string> = new Set(["zarr_format", ...THIRD_MEMBERS]);
const INDEX_LOCATIONS: readonly unknown[] = [undefined, "end", "start"];
const KEY_ENCODINGS: readonly unknown[] = [undefined, "default", "v2"];

/**
 * Copies the members of consolidated documents to the keys of their originals, but for those of a group that a copy of
 * the store has left behind. `present`: by path, the chunks in a store that lists its objects.
 * @throws DataError if an array has a different document of its own; for references in Parquet form
 */
export function expandConsolidated(location: string, documents: Documents, present?: StoreTree["present"]): Documents {
  const all = new Map<string, Json>();
  const isHere = (group: string): boolean => present === undefined || Object.hasOwn(present, group);
  const put = (key: string, value: Json): void => {
    const own = all.get(key);
    if (own !== undefined && !isSameArray(own, value))
      throw new DataError(
        `${location}: the consolidated metadata disagree with ${key}: zarr.consolidate_metadata(store) rewrites them`,
      );
    all.set(key, value);
  };
  for (const [key, document] of documents) {
    const base = key.slice(0, key.lastIndexOf("/") + 1);
    if (key.endsWith(".zmetadata") && document.record_size !== undefined)
      throw new DataError(
        `${location}: a list of references in Parquet form, which is not read: write it as JSON (VirtualiZarr: to_kerchunk(PATH, format="json"))`,
      );
    const isSecond = key.endsWith(".zmetadata");
    if (!isSecond) put(key, document);
    const members = isSecond ? document.metadata : objectOf(document.consolidated_metadata).metadata;
    for (const [path, value] of Object.entries(objectOf(members))) {
      const member = isSecond ? path : `${path}/zarr.json`;
      const [group = "", ...below] = member.split("/");
      if (below.length < 2 || isHere(`/${base}${group}`)) put(base + member, objectOf(value));
    }
  }
  return all;
}

/** Whether two documents of one key describe the same values; groups of Zarr 3 may list different members. */
function isSameArray(one: Json, other: Json): boolean {
  const described = (document: Json) =>
    document.node_type === undefined ? document : THIRD_MEMBERS.map((member) => document[member] ?? null);
  if (one.node_type === "group" && other.node_type === "group") return true;
  return isDeepStrictEqual(described(one), described(other));
}

const NODE_DOCUMENTS = ["zarr.json", ".zarray", ".zgroup"];

/**
 * Groups and arrays by their paths.
 * @param chunkBytes most bytes of a decoded chunk
 * @throws DataError for incomplete metadata, and for documents of two formats that differ
 */
export function entriesOf(documents: Documents, chunkBytes: number): StoreTree["entries"] {
  checkFormats(documents);
  const entries: Record<string, StoredGroup | StoredArray> = {};
  let nodes = 0;
  for (const [key, document] of documents) {
    if (key.length > STORE_BOUNDS.pathLength)
      throw new DataError(`${key.slice(0, 40)}... is longer than ${STORE_BOUNDS.pathLength} characters`);
    const at = key.lastIndexOf("/");
    const [folder, name] = [key.slice(0, Math.max(at, 0)), key.slice(at + 1)];
    if (!NODE_DOCUMENTS.includes(name)) continue;
    const path = folder === "" ? "/" : `/${folder}`;
    if (!(path in entries) && ++nodes > STORE_BOUNDS.nodes)
      throw new DataError(`the store has more than ${STORE_BOUNDS.nodes} groups and arrays`);
    const attributes = objectOf(documents.get(folder === "" ? ".zattrs" : `${folder}/.zattrs`));
    const inDocument = statedObject(`${path}: the member attributes`, document.attributes);
    for (const stated of [attributes, inDocument])
      if (Object.keys(stated).length > STORE_BOUNDS.attributes)
        throw new DataError(`${path} has more than ${STORE_BOUNDS.attributes} attributes`);
    if (name === "zarr.json" && document.node_type === "array")
      entries[path] = bounded(thirdArray(path, document), chunkBytes);
    else if (name === "zarr.json") entries[path] = { kind: "group", attributes: inDocument };
    else if (name === ".zarray") entries[path] = bounded(secondArray(path, document, attributes), chunkBytes);
    else entries[path] = { kind: "group", attributes };
  }
  return entries;
}

function bounded(array: StoredArray, chunkBytes: number): StoredArray {
  const bytes = array.chunks.reduce((product, edge) => product * edge, sizeOf(array.dataType));
  if (bytes <= chunkBytes) return array;
  const words = `chunks of ${bytes} bytes, more than ${chunkBytes} (FIELDPROBE_STORE_CHUNK_BYTES)`;
  return { ...array, unknownCodecs: [...array.unknownCodecs, words] };
}

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

const withoutLabels = ({ _ARRAY_DIMENSIONS: _labels, ...others }: Json): Json => others;

function isSameInBoth(second: Json, attributes: Json, third: Json): boolean {
  const keys = objectOf(third.chunk_key_encoding);
  const codecs = codecsOf(third.codecs);
  const type = String(second.dtype);
  const endian = codecs.find(({ name }) => name === "bytes")?.configuration.endian ?? "little";
  const compressor = second.compressor == null ? [] : [String(objectOf(second.compressor).id)];
  const listOf = (names: unknown) => (Array.isArray(names) ? names : null);
  // In Zarr 2 alone, the fill value of floats may mean `_FillValue`; this matters unless it is 0 or missing anyway.
  const fills = third.fill_value === 0 || (third.fill_value === "NaN" && second.fill_value === "NaN");
  if (!fills && /^float/.test(String(third.data_type))) return false;
  return isDeepStrictEqual(
    [
      ...[second.shape, second.chunks, ELEMENT_TYPES.get(type.slice(1)), second.fill_value ?? 0, "v2"],
      ...[second.dimension_separator ?? ".", type.startsWith(">") ? "big" : "little", ["bytes", ...compressor]],
      ...[listOf(attributes._ARRAY_DIMENSIONS), second.order ?? "C", second.filters ?? null],
    ],
    [
      ...[third.shape, objectOf(objectOf(third.chunk_grid).configuration).chunk_shape, third.data_type],
      ...[third.fill_value, keys.name, objectOf(keys.configuration).separator ?? "."],
      ...[endian, codecs.map(({ name }) => name.replace("numcodecs.", "")), listOf(third.dimension_names), "C", null],
    ],
  );
}

function thirdArray(path: string, document: Json): StoredArray {
  checkMembers(path, document, 3, ["shape", "data_type", "chunk_grid", "codecs"]);
  const outer = codecsOf(document.codecs);
  const shard = outer.find(isSharding)?.configuration;
  const codecs = shard === undefined ? outer : codecsOf(shard.codecs);
  const names = codecs.map(({ name }) => name).filter((name) => !PLAIN.has(name));
  const known = [...names, ...outer.map(({ name }) => name)].filter((name) => name !== "sharding_indexed");
  const shape = lengths(path, "shape", document.shape);
  const whole = objectOf(objectOf(document.chunk_grid).configuration).chunk_shape;
  const edges = [whole, shard?.chunk_shape ?? whole].map((value) => chunkEdges(path, "chunk_shape", value, shape));
  const odd = oddities(document, outer);
  return {
    kind: "array",
    attributes: objectOf(document.attributes),
    shape,
    chunks: edges[1] as number[],
    dataType: typeof document.data_type === "string" ? document.data_type : JSON.stringify(document.data_type),
    fill: document.fill_value,
    dimensions: labelsOf(path, "dimension_names", document.dimension_names, shape),
    codecs: [...names, ...(shard === undefined ? [] : ["sharding"]), ...odd],
    unknownCodecs: [
      ...known.filter((name) => !registry.has(name)),
      ...codecRefusals(
        codecs.filter(({ name }) => !PLAIN.has(name)),
        String(document.data_type),
      ),
      ...codecRefusals(shard === undefined ? [] : outer.slice(outer.findIndex(isSharding) + 1), "uint8"),
      ...chainRefusals(outer, shape.length, String(document.data_type)),
      ...(shard === undefined ? [] : chainRefusals(codecs, shape.length, String(document.data_type))),
      ...(shard === undefined ? [] : indexRefusals(codecsOf(shard.index_codecs))),
      ...fillRefusals(document.fill_value, String(document.data_type)),
      ...separatorRefusals(document.chunk_key_encoding),
      ...odd,
    ],
    objects: chunksIn(shape, edges[0]),
  };
}

/** An array in Zarr 2. Source: Zarr storage specification 2; `_ARRAY_DIMENSIONS` is xarray's. */
function secondArray(path: string, document: Json, attributes: Json): StoredArray {
  checkMembers(path, document, 2, ["shape", "chunks", "dtype"]);
  const type = String(document.dtype);
  const codecs = [document.filters ?? [], document.compressor ?? []].flat().map((codec) => {
    const { id, ...configuration } = objectOf(codec);
    return { name: String(id), configuration };
  });
  const shape = lengths(path, "shape", document.shape);
  const dataType = ELEMENT_TYPES.get(type.slice(1)) ?? type;
  const chunks = chunkEdges(path, "chunks", document.chunks, shape);
  return {
    kind: "array",
    attributes: withFill(attributes, dataType, document.fill_value),
    shape,
    chunks,
    dataType,
    fill: document.fill_value,
    dimensions: labelsOf(path, "_ARRAY_DIMENSIONS", attributes._ARRAY_DIMENSIONS, shape),
    codecs: codecs.map(({ name }) => name),
    unknownCodecs: [
      ...codecs.map(({ name }) => name).filter((name) => !registry.has(`numcodecs.${ownName(name)}`)),
      ...codecRefusals(codecs, type),
      ...fillRefusals(document.fill_value, dataType),
      ...([undefined, "C", "F"].includes(document.order as string) ? [] : [`order ${JSON.stringify(document.order)}`]),
      ...separatorRefusals({ configuration: { separator: document.dimension_separator ?? undefined } }),
    ],
    objects: chunksIn(shape, chunks),
  };
}

/** The registered name of a filter of Zarr 2: the library would read `fixedscaleoffset` differently. */
const ownName = (id: string): string => (id === "fixedscaleoffset" ? "fixed_scale_offset" : id);

/** The document of an array for the library, which has no type for half-precision elements: they stay bits. */
export function readableDocument(document: Json): Json {
  const filters = Array.isArray(document.filters)
    ? { filters: document.filters.map((filter) => ({ ...filter, id: ownName(String(filter?.id)) })) }
    : {};
  const [, order = ""] = /^([<>])f2$/.exec(String(document.dtype)) ?? [];
  const bits =
    order === "" && document.data_type !== "float16"
      ? {}
      : {
          ...(order === "" ? { data_type: "uint16" } : { dtype: `${order}u2` }),
          fill_value: halfBits(document.fill_value),
        };
  return { ...document, ...filters, ...bits };
}

/** The bits of a half-precision fill value. Source: IEEE 754-2019, section 3.4. */
function halfBits(fill: unknown): number | null {
  if (typeof fill === "string" && fill.startsWith("0x")) return Number(fill);
  if (fill === null || fill === undefined) return null;
  const value = Number(String(fill));
  if (Number.isNaN(value)) return 0x7e00;
  const sign = Object.is(Math.sign(value), -0) || value < 0 ? 0x8000 : 0;
  const size = Math.abs(value);
  if (size >= 65520) return sign | 0x7c00;
  const exponent = Math.max(-14, Math.floor(Math.log2(size === 0 ? 1 : size)));
  const steps = Math.round(size / 2 ** (exponent - 10));
  // Steps of a normal number count from 1024; rounding up to 2048 carries into the exponent.
  return sign | (steps < 1024 ? steps : ((exponent + 14) << 10) + steps);
}

/**
 * The attributes of an array in Zarr 2; its fill value is CF's `_FillValue`, as in xarray. 0 is the default of writers;
 * for packed integers it may be xarray's, so that a person is asked.
 */
function withFill(attributes: Json, dataType: string, fill: unknown): Json {
  const { _FillValue: stated, scale_factor: factor, add_offset: offset } = attributes;
  if (typeof fill !== "number" || stated !== undefined || !/^(?:float|u?int)/.test(dataType)) return attributes;
  if (fill !== 0) return { ...attributes, _FillValue: fill };
  const isPacked = !dataType.startsWith("float") && (factor !== undefined || offset !== undefined);
  return isPacked ? { ...attributes, fill_value: 0 } : attributes;
}

/** Members of an array in Zarr 3 that the library ignores and values depend on; each counts as an unknown codec. */
function oddities(document: Json, outer: ReturnType<typeof codecsOf>): string[] {
  const grid = objectOf(document.chunk_grid);
  const whole = objectOf(grid.configuration).chunk_shape as readonly number[] | undefined;
  const shard = outer.find(isSharding)?.configuration;
  const inner = shard?.chunk_shape as readonly number[] | undefined;
  const transformers = document.storage_transformers;
  const isInteger = /^u?int/.test(String(document.data_type));
  const facts: readonly (readonly [isOdd: boolean, words: string])[] = [
    [grid.name !== "regular", `chunk_grid ${grid.name}`],
    [!KEY_ENCODINGS.includes(objectOf(document.chunk_key_encoding).name), "chunk_key_encoding"],
    [Array.isArray(transformers) && transformers.length > 0, "storage_transformers"],
    [isInteger && typeof document.fill_value !== "number", "fill_value"],
    [isWithinArrays(outer), "codecs of elements around shards"],
    [[outer, codecsOf(shard?.codecs)].some((list) => transposesIn(list) > 1), "several transpositions"],
    [shard !== undefined && !INDEX_LOCATIONS.includes(shard.index_location), "index_location"],
    [codecsOf(shard?.codecs).some(isSharding), "shards in shards"],
    [inner?.some((edge, axis) => (whole?.[axis] ?? 0) % edge !== 0) ?? false, "chunk_shape"],
    [chunksIn(whole, inner) > STORE_BOUNDS.shardChunks, `shards of more than ${STORE_BOUNDS.shardChunks} chunks`],
    ...Object.entries(document)
      .filter(([name, value]) => !KNOWN_MEMBERS.has(name) && objectOf(value).must_understand !== false)
      .map(([name]) => [true, name] as const),
  ];
  return facts.filter(([isOdd]) => isOdd).map(([, words]) => words);
}

const isWithinArrays = (outer: ReturnType<typeof codecsOf>): boolean => outer.findIndex(isSharding) > 0;

const isSharding = ({ name }: { readonly name: string }): boolean => name === "sharding_indexed";

/** Facts about the shards of an array in Zarr 3 that the library does not know. */
export interface ShardFacts {
  readonly isIndexFirst: boolean;
  readonly around: ReturnType<typeof codecsOf>;
  readonly mostBytes: number;
}

/** The facts about shards; null without shards, and if the library knows all about them. */
export function shardFactsOf(document: Json): ShardFacts | null {
  const outer = codecsOf(document.codecs);
  const at = outer.findIndex(isSharding);
  const shard = outer[at]?.configuration;
  const isIndexFirst = shard?.index_location === "start";
  const around = outer.slice(at + 1);
  if (shard === undefined || (!isIndexFirst && around.length === 0)) return null;
  const whole = objectOf(objectOf(document.chunk_grid).configuration).chunk_shape as readonly number[];
  const values = whole.reduce((product, edge) => product * edge, sizeOf(String(document.data_type)));
  const entries = chunksIn(whole, shard.chunk_shape as readonly number[]) * SHARD_ENTRY_BYTES;
  return { isIndexFirst, around, mostBytes: Math.ceil(1.125 * values) + entries };
}

function chunksIn(whole: readonly number[] | undefined, inner: readonly number[] | undefined): number {
  return inner?.reduce((product, edge, axis) => product * Math.ceil((whole?.[axis] ?? 1) / edge), 1) ?? 1;
}

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
  if (Array.isArray(value) && value.length > STORE_BOUNDS.dimensions)
    throw new DataError(`${path}: ${member} has more than ${STORE_BOUNDS.dimensions} dimensions`);
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

function labelsOf(path: string, member: string, value: unknown, shape: readonly number[]): (string | null)[] {
  if (value === undefined || value === null) return shape.map(() => null);
  const isOne = (name: unknown) => name === null || typeof name === "string";
  if (!Array.isArray(value) || value.length !== shape.length || !value.every(isOne))
    throw new DataError(`${path}: ${member} does not name ${shape.length} dimensions`);
  return value.map((name) => name || null);
}

/** @throws DataError for another format, or a missing member */
function checkMembers(path: string, document: Json, format: 2 | 3, members: readonly string[]): void {
  if (document.zarr_format !== format)
    throw new DataError(`${path}: its document has zarr_format ${JSON.stringify(document.zarr_format)}, not ${format}`);
  const missing = members.find((member) => document[member] === undefined || document[member] === null);
  if (missing !== undefined) throw new DataError(`${path}: its document has no ${missing}`);
}
