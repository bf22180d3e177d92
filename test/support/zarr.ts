/** Zarr 2 and 3 stores for tests, written object by object from the specifications. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { deflateSync, gzipSync } from "node:zlib";
import { DESCRIPTOR_ATTRIBUTE } from "../../src/storage/recognise/converted-store.js";
import { embeddedDescriptor } from "./cubes.js";

export type ZarrType = "float32" | "float64" | "int16" | "int64";

export interface ArraySpec {
  readonly dimensions: readonly string[];
  readonly shape: readonly number[];
  readonly chunks: readonly number[];
  readonly values: Float64Array;
  readonly type?: ZarrType;
  readonly bigEndian?: boolean;
  /** Order of elements in a chunk: C, or Fortran (a transpose codec in Zarr 3). */
  readonly fortran?: boolean;
  readonly codec?: "gzip" | "zlib" | "none" | { readonly unknown: string };
  /** Chunks along each dimension that are packed into one object (Zarr 3). */
  readonly shard?: readonly number[];
  /** Whether a CRC-32C stands behind each chunk (Zarr 3). */
  readonly sums?: boolean;
  /** Chunks that are left out. */
  readonly skip?: (chunk: readonly number[]) => boolean;
  readonly fill?: number | string | null;
  readonly attributes?: Readonly<Record<string, unknown>>;
}

export interface StoreSpec {
  readonly version: 2 | 3;
  readonly arrays: Readonly<Record<string, ArraySpec>>;
  readonly attributes?: Readonly<Record<string, unknown>>;
  readonly consolidated?: boolean;
}

const BYTES = { float32: 4, float64: 8, int16: 2, int64: 8 } as const;
const SECOND_TYPES = { float32: "f4", float64: "f8", int16: "i2", int64: "i8" } as const;

export function zarrObjects({ version, arrays, attributes = {}, consolidated }: StoreSpec): Map<string, Uint8Array> {
  const documents: Record<string, unknown> = {};
  const objects = new Map<string, Uint8Array>();
  const root = version === 3 ? { zarr_format: 3, node_type: "group", attributes } : null;
  if (version === 2) Object.assign(documents, { ".zgroup": { zarr_format: 2 }, ".zattrs": attributes });
  for (const [path, spec] of Object.entries(arrays)) {
    if (version === 2) {
      documents[`${path}/.zarray`] = secondMetadata(spec);
      documents[`${path}/.zattrs`] = { _ARRAY_DIMENSIONS: spec.dimensions, ...spec.attributes };
    } else documents[`${path}/zarr.json`] = thirdMetadata(spec);
    for (const [key, bytes] of pieces(version, spec)) objects.set(`${path}/${key}`, bytes);
  }
  if (consolidated === true && version === 2)
    documents[".zmetadata"] = { zarr_consolidated_format: 1, metadata: { ...documents } };
  if (root !== null) {
    const members = Object.entries(documents).map(([key, value]) => [key.replace(/\/zarr\.json$/, ""), value]);
    const inline = { kind: "inline", must_understand: false, metadata: Object.fromEntries(members) };
    documents["zarr.json"] = consolidated === true ? { ...root, consolidated_metadata: inline } : root;
  }
  for (const [key, value] of Object.entries(documents)) objects.set(key, Buffer.from(JSON.stringify(value)));
  return objects;
}

/** The objects of a store with its descriptor in it, as if a person had confirmed it: it is known wherever it is. */
export function knownObjects(spec: StoreSpec): Map<string, Uint8Array> {
  const folder = mkdtempSync(join(tmpdir(), "fieldprobe-store-"));
  try {
    const text = embeddedDescriptor(writeZarr(join(folder, "store.zarr"), spec));
    const attributes = { ...spec.attributes, ...(text === null ? {} : { [DESCRIPTOR_ATTRIBUTE]: text }) };
    return zarrObjects({ ...spec, attributes });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export function writeKnownZarr(folder: string, spec: StoreSpec): string {
  return writeObjects(folder, knownObjects(spec));
}

export function writeZarr(folder: string, spec: StoreSpec): string {
  return writeObjects(folder, zarrObjects(spec));
}

function writeObjects(folder: string, objects: ReadonlyMap<string, Uint8Array>): string {
  for (const [key, bytes] of objects) {
    const path = join(folder, key);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, bytes);
  }
  return folder;
}

function secondMetadata({
  shape,
  chunks,
  type = "float32",
  bigEndian,
  fortran,
  codec = "none",
  fill = null,
}: ArraySpec) {
  return {
    zarr_format: 2,
    shape,
    chunks,
    dtype: `${bigEndian === true ? ">" : "<"}${SECOND_TYPES[type]}`,
    compressor: codec === "none" ? null : typeof codec === "object" ? { id: codec.unknown } : { id: codec, level: 5 },
    filters: null,
    fill_value: fill,
    order: fortran === true ? "F" : "C",
  };
}

function thirdMetadata(spec: ArraySpec) {
  const { dimensions, shape, chunks, type = "float32", shard, fill = 0, attributes = {} } = spec;
  const inner = thirdCodecs(spec);
  const index = [{ name: "bytes", configuration: { endian: "little" } }, { name: "crc32c" }];
  const configuration = { chunk_shape: chunks, codecs: inner, index_codecs: index, index_location: "end" };
  const outer = shard === undefined ? chunks : chunks.map((length, axis) => length * (shard[axis] as number));
  return {
    zarr_format: 3,
    node_type: "array",
    shape,
    data_type: type,
    chunk_grid: { name: "regular", configuration: { chunk_shape: outer } },
    chunk_key_encoding: { name: "default", configuration: { separator: "/" } },
    codecs: shard === undefined ? inner : [{ name: "sharding_indexed", configuration }],
    fill_value: fill,
    dimension_names: dimensions,
    attributes,
  };
}

function thirdCodecs({ shape, bigEndian, fortran, codec = "none", sums = false }: ArraySpec) {
  const order = shape.map((_, axis) => shape.length - 1 - axis);
  return [
    ...(fortran === true ? [{ name: "transpose", configuration: { order } }] : []),
    { name: "bytes", configuration: { endian: bigEndian === true ? "big" : "little" } },
    ...(codec === "none"
      ? []
      : [{ name: typeof codec === "object" ? codec.unknown : codec, configuration: { level: 5 } }]),
    ...(sums ? [{ name: "crc32c" }] : []),
  ];
}

/** Objects of an array: chunks, or shards of chunks with an index behind them. */
function pieces(version: 2 | 3, spec: ArraySpec): Map<string, Uint8Array> {
  const { shape, chunks, shard, skip = () => false } = spec;
  const grid = shape.map((length, axis) => Math.ceil(length / (chunks[axis] as number)));
  const nameOf = (at: readonly number[]) => (version === 2 ? at.join(".") : ["c", ...at].join("/"));
  const found = new Map<string, Uint8Array>();
  const encoded = indices(grid)
    .filter((at) => !skip(at))
    .map((at) => [at, encode(spec, at)] as const);
  if (shard === undefined) {
    for (const [at, bytes] of encoded) found.set(nameOf(at), bytes);
    return found;
  }
  for (const place of indices(grid.map((count, axis) => Math.ceil(count / (shard[axis] as number))))) {
    const first = place.map((index, axis) => index * (shard[axis] as number));
    const parts: Uint8Array[] = [];
    const index = new BigUint64Array(2 * shard.reduce((a, b) => a * b, 1)).fill(2n ** 64n - 1n);
    let offset = 0;
    for (const [number, inside] of indices(shard).entries()) {
      const name = first.map((start, axis) => start + (inside[axis] as number)).join();
      const bytes = encoded.find(([at]) => at.join() === name)?.[1];
      if (bytes === undefined) continue;
      index.set([BigInt(offset), BigInt(bytes.length)], 2 * number);
      parts.push(bytes);
      offset += bytes.length;
    }
    const table = new Uint8Array(index.buffer);
    const check = Buffer.alloc(4);
    check.writeUInt32LE(crc32c(table));
    found.set(nameOf(place), Buffer.concat([...parts, table, check]));
  }
  return found;
}

/** Indices of an array of that shape in C order. */
export function indices(shape: readonly number[]): number[][] {
  return shape.reduce<number[][]>(
    (found, length) => found.flatMap((at) => Array.from({ length }, (_, index) => [...at, index])),
    [[]],
  );
}

/** One chunk; what lies beyond the array is the number 7, so that reading it shows. */
function encode(spec: ArraySpec, chunk: readonly number[]): Uint8Array {
  const { shape, chunks, values, type = "float32", bigEndian = false, fortran = false, codec = "none" } = spec;
  const size = BYTES[type];
  const bytes = Buffer.alloc(chunks.reduce((a, b) => a * b, size));
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const put = {
    float32: (at: number, value: number) => view.setFloat32(at, value, !bigEndian),
    float64: (at: number, value: number) => view.setFloat64(at, value, !bigEndian),
    int16: (at: number, value: number) => view.setInt16(at, value, !bigEndian),
    int64: (at: number, value: number) => view.setBigInt64(at, BigInt(value), !bigEndian),
  }[type];
  for (const inside of indices(chunks)) {
    const at = inside.map((index, axis) => index + (chunk[axis] as number) * (chunks[axis] as number));
    const isThere = at.every((index, axis) => index < (shape[axis] as number));
    const value = isThere ? (values[rank(at, shape)] as number) : 7;
    const place = fortran ? rank([...inside].reverse(), [...chunks].reverse()) : rank(inside, chunks);
    put(place * size, value);
  }
  const coded = codec === "gzip" ? gzipSync(bytes) : codec === "zlib" ? deflateSync(bytes) : bytes;
  if (spec.sums !== true) return coded;
  const sum = Buffer.alloc(4);
  sum.writeUInt32LE(crc32c(coded));
  return Buffer.concat([coded, sum]);
}

/** Place of an element in an array of that shape, the last dimension fastest. */
function rank(at: readonly number[], shape: readonly number[]): number {
  return at.reduce((sum, index, axis) => sum * (shape[axis] as number) + index, 0);
}

/** CRC-32C (Castagnoli). Source: RFC 3720, section 12.1. */
export function crc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}
