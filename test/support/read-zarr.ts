/**
 * A reader of Zarr 3 that is written from the specification alone and shares no code with the program, for what it
 * writes: regular grids, shards with their index at the end, little-endian numbers, gzip, Zstandard where Node has it,
 * and CRC-32C.
 * Source: Zarr core specification 3.1; codecs `sharding_indexed`, `bytes`, `gzip`, `crc32c` 1.0.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as zlib from "node:zlib";
import { crc32c, indices } from "./zarr.js";

/** An array as the store says it is, with its values in C order. */
export interface ReadArray {
  readonly shape: readonly number[];
  readonly dimensions: readonly (string | null)[];
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly values: Float64Array;
}

interface Codec {
  readonly name: string;
  readonly configuration?: {
    readonly endian?: string;
    readonly chunk_shape?: readonly number[];
    readonly codecs?: readonly Codec[];
    readonly index_codecs?: readonly Codec[];
    readonly index_location?: string;
  };
}

const READERS = {
  float32: { size: 4, read: (view: DataView, at: number) => view.getFloat32(at, true) },
  float64: { size: 8, read: (view: DataView, at: number) => view.getFloat64(at, true) },
  int32: { size: 4, read: (view: DataView, at: number) => view.getInt32(at, true) },
} as const;
type Kind = keyof typeof READERS;

/** Whether this Node can decode what is compressed in this way. */
export function decodes(compression: string): boolean {
  return compression !== "zstd" || "zstdDecompressSync" in zlib;
}

export function readDocument(folder: string, path: string): Record<string, unknown> {
  return JSON.parse(readFileSync(join(folder, path, "zarr.json"), "utf8"));
}

/**
 * Reads a whole array.
 * @throws Error for anything that the specification does not allow, and a checksum that does not match
 */
export function readArray(folder: string, path: string): ReadArray {
  const document = readDocument(folder, path) as never as {
    zarr_format: number;
    node_type: string;
    shape: number[];
    data_type: Kind;
    fill_value: number | "NaN";
    chunk_grid: { name: string; configuration: { chunk_shape: number[] } };
    chunk_key_encoding: { name: string; configuration: { separator: string } };
    codecs: Codec[];
    dimension_names: (string | null)[];
    attributes: Record<string, unknown>;
  };
  const { shape, data_type: kind, codecs, dimension_names: dimensions, attributes } = document;
  expectThat(document.zarr_format === 3 && document.node_type === "array", `${path} is no array of Zarr 3`);
  expectThat(document.chunk_grid.name === "regular", "the grid is not regular");
  const { name, configuration } = document.chunk_key_encoding;
  expectThat(name === "default" && configuration.separator === "/", "the keys are not those of the default");
  const { chunk_shape: chunk } = document.chunk_grid.configuration;
  const values = new Float64Array(product(shape)).fill(Number(document.fill_value));
  for (const at of indices(shape.map((length, axis) => Math.ceil(length / (chunk[axis] as number))))) {
    const file = join(folder, path, "c", ...at.map(String));
    if (!existsSync(file)) continue;
    const corner = at.map((index, axis) => index * (chunk[axis] as number));
    place(
      decodeChunk(readFileSync(file), chunk, codecs, kind, Number(document.fill_value)),
      chunk,
      corner,
      shape,
      values,
    );
  }
  return { shape, dimensions, attributes, values };
}

/** The elements of a chunk, or of a shard of chunks, in C order. */
function decodeChunk(bytes: Buffer, shape: readonly number[], codecs: readonly Codec[], kind: Kind, fill: number) {
  const [first, ...rest] = codecs as [Codec, ...Codec[]];
  const plain = rest.toReversed().reduce(decodeBytes, bytes);
  if (first.name === "sharding_indexed") return decodeShard(plain, shape, first, kind, fill);
  expectThat(first.name === "bytes" && first.configuration?.endian === "little", `${first.name} is not read here`);
  const { size, read } = READERS[kind];
  expectThat(plain.length === size * product(shape), `a chunk has ${plain.length} bytes`);
  const view = new DataView(plain.buffer, plain.byteOffset, plain.length);
  return Float64Array.from({ length: product(shape) }, (_, index) => read(view, size * index));
}

function decodeBytes(bytes: Buffer, { name }: Codec): Buffer {
  if (name === "gzip") return zlib.gunzipSync(bytes);
  if (name === "zstd")
    return (zlib as never as { zstdDecompressSync(bytes: Buffer): Buffer }).zstdDecompressSync(bytes);
  expectThat(name === "crc32c", `${name} is not read here`);
  const inside = bytes.subarray(0, -4);
  expectThat(crc32c(inside) === bytes.readUInt32LE(bytes.length - 4), "a checksum does not match");
  return inside;
}

function decodeShard(bytes: Buffer, shape: readonly number[], codec: Codec, kind: Kind, fill: number): Float64Array {
  const { chunk_shape: inner = [], codecs = [], index_codecs, index_location } = codec.configuration ?? {};
  expectThat(index_codecs?.map(({ name }) => name).join() === "bytes,crc32c", "the index is encoded in another way");
  expectThat(index_location === "end", "the index is not at the end");
  const counts = shape.map((length, axis) => length / (inner[axis] as number));
  expectThat(counts.every(Number.isInteger), "a shard is no whole number of chunks");
  const index = decodeBytes(bytes.subarray(-16 * product(counts) - 4), { name: "crc32c" });
  const out = new Float64Array(product(shape)).fill(fill);
  for (const [number, at] of indices(counts).entries()) {
    const [offset, length] = [index.readBigUInt64LE(16 * number), index.readBigUInt64LE(16 * number + 8)];
    if (offset === 2n ** 64n - 1n && length === 2n ** 64n - 1n) continue;
    const chunk = bytes.subarray(Number(offset), Number(offset + length));
    const corner = at.map((place, axis) => place * (inner[axis] as number));
    place(decodeChunk(chunk, inner, codecs, kind, fill), inner, corner, shape, out);
  }
  return out;
}

/** Puts a box of elements into an array; what lies beyond the array is dropped. */
function place(
  box: Float64Array,
  shape: readonly number[],
  corner: readonly number[],
  whole: readonly number[],
  out: Float64Array,
): void {
  for (const [number, inside] of indices(shape).entries()) {
    const at = inside.map((index, axis) => index + (corner[axis] as number));
    if (at.some((index, axis) => index >= (whole[axis] as number))) continue;
    out[at.reduce((rank, index, axis) => rank * (whole[axis] as number) + index, 0)] = box[number] as number;
  }
}

const product = (lengths: readonly number[]): number => lengths.reduce((total, length) => total * length, 1);

function expectThat(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new Error(otherwise);
}
