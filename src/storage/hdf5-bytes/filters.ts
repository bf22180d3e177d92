/** Undoes the filters of a chunk and checks the length of the result; for filters of plugins, beforehand. */
import { inflateSync } from "node:zlib";
import { DataError } from "../../shared/errors.js";
import { checkFletcher, expandLzf, FLETCHER_BYTES } from "../dataset/byte-filters.js";

/** Supported filters, by number. Source: the list of registered filters of The HDF Group. */
export const FILTER_NAMES: ReadonlyMap<number, string> = new Map([
  [1, "gzip"],
  [2, "shuffle"],
  [3, "fletcher32"],
  [4, "szip"],
  [32000, "lzf"],
  [32001, "blosc"],
  [32004, "lz4"],
  [32008, "bitshuffle"],
  [32013, "zfp"],
  [32015, "zstd"],
  [32026, "blosc2"],
]);

/** Thrown when this thread has not loaded the HDF5 library that a filter needs; the read can then be repeated. */
export class LibraryNeeded extends Error {
  constructor() {
    super("the HDF5 library has not been loaded");
  }
}

export interface StoredFilter {
  readonly id: number;
  readonly parameters: readonly number[];
}

/** A command of the HDF5 tools that replaces a filter which the tools can undo. */
const REPACK = "h5repack -f SHUF -f GZIP=4 IN.h5 OUT.h5 replaces it";
const PLUGIN = "h5repack -f GZIP=4 with its plugin (docs/datasets.md) writes a copy that is read";

/** Known filters that are not supported, and what replaces them. Source: as above. */
const FOREIGN_FILTERS: ReadonlyMap<string, readonly [name: string, remedy: string]> = new Map([
  ["#5", ["n-bit", REPACK]],
  ["#6", ["scale-offset", REPACK]],
  ["#305", ["lzo", "write it again with gzip"]],
  ["#307", ["bzip2", PLUGIN]],
  ["#32002", ["mafisc", "write it again with gzip"]],
  ["#32003", ["snappy", "write it again with gzip"]],
  ["#32009", ["spdp", "write it again with gzip"]],
  ["#32013", ["zfp of float64", PLUGIN]],
  ["#32014", ["fpzip", "write it again with gzip"]],
  ["#32017", ["sz", PLUGIN]],
  ["#32024", ["sz3", PLUGIN]],
]);

/** The name of a supported filter; else its number. The plugin of zfp does not handle doubles. */
export function filterName({ id, parameters }: StoredFilter): string {
  const name = FILTER_NAMES.get(id);
  return name === undefined || (name === "zfp" && isZfpOfDoubles(parameters)) ? `#${id}` : name;
}

/** Thrown for a chunk with an unknown filter: it is not damaged. */
export class ForeignFilter extends DataError {}

/** The reason why a list of filters is not supported, with a remedy; null if all are. */
export function whyNotUndone(filters: readonly string[]): string | null {
  const foreign = filters.find((filter) => filter.startsWith("#"));
  if (foreign === undefined) return null;
  // A store of Zarr names its codecs.
  if (!/^#\d+$/.test(foreign))
    return `is stored with ${foreign.slice(1)}, which is not read; a copy without it is (docs/sources.md, Supported Zarr features)`;
  const [name, remedy] = FOREIGN_FILTERS.get(foreign) ?? [null, "write it again with gzip"];
  return `is stored through filter ${name === null ? foreign : `${foreign} (${name})`}, which cannot be read; ${remedy}`;
}

type FilterSetting = Readonly<Record<"elementBytes" | "most", number>>;

type Undo = (bytes: Uint8Array, setting: FilterSetting) => Uint8Array;

/** Filters undone here; the library or its plugins undo all others. */
const UNDO: ReadonlyMap<string, Undo> = new Map<string, Undo>([
  ["gzip", inflate],
  ["shuffle", unshuffle],
  ["fletcher32", checkFletcher],
  ["lzf", (bytes, { most }) => expandLzf(bytes, most)],
]);
/** Writers leave these out of a chunk only with all others; they leave out a compressor if it made no chunk smaller. */
const SKIPPED_WITH_ALL = ["shuffle", "fletcher32"];
/** The mask of chunks that went through no filter, whichever there are. */
const ALL_LEFT_OUT = 0xffff_ffff;

/**
 * Undoes a filter that is not undone here.
 * @param length bytes that come out, as the chunk says
 * @returns memory that is valid until the next call
 * @throws DataError, LibraryNeeded
 */
export type UndoFilter = (filter: StoredFilter, bytes: Uint8Array, length: number) => Uint8Array;

export interface EncodedChunk {
  readonly bytes: Uint8Array;
  readonly filters: readonly StoredFilter[];
  /** Bit i is set if filter i was not applied. */
  readonly mask: number;
  readonly elementBytes: number;
  readonly chunkBytes: number;
  readonly undo: UndoFilter;
}

/** @throws DataError for a mask that omits filters which no writer omits */
function checkMask(filters: readonly string[], mask: number): void {
  if (mask === ALL_LEFT_OUT || (filters.length > 0 && mask === 2 ** filters.length - 1)) return;
  const bad = Array.from({ length: 32 }, (_, i) => i).find(
    (i) => (mask >>> i) & 1 && (i >= filters.length || SKIPPED_WITH_ALL.includes(filters[i])),
  );
  if (bad !== undefined)
    throw new DataError(`its mask leaves out ${filters[bad] ?? `filter ${bad}, which it does not have`}`);
}

/**
 * The values of a chunk, in stored byte order.
 * @throws ForeignFilter, DataError unless exactly the bytes of a chunk come out
 */
export function decode(encoded: EncodedChunk): Uint8Array {
  const { mask, elementBytes, chunkBytes } = encoded;
  const filters = encoded.filters.map(filterName);
  const why = whyNotUndone(filters.filter((_, i) => ((mask >>> i) & 1) === 0));
  if (why !== null) throw new ForeignFilter(why);
  checkMask(filters, mask);
  // An outer compressor could hide a request for any amount of memory.
  if (filters.some((name) => DECLARED.has(name)) && filters.filter((name) => COMPRESSORS.has(name)).length > 1)
    throw new DataError(`it went through several compressors (${filters.join(", ")}), which is not read`);
  let { bytes } = encoded;
  for (let i = filters.length - 1; i >= 0; i--) {
    if ((mask >>> i) & 1) continue;
    const checks = filters.slice(0, i).filter((name) => name === "fletcher32").length;
    const most = chunkBytes + FLETCHER_BYTES * checks;
    const undo = UNDO.get(filters[i]);
    if (undo !== undefined) bytes = undo(bytes, { elementBytes, most });
    else {
      const stored = encoded.filters[i];
      checkDeclared(filters[i], bytes, most, stored.parameters);
      bytes = encoded.undo(stored, bytes, most);
    }
  }
  if (bytes.length !== chunkBytes) throw new DataError(`it has ${bytes.length} bytes, not ${chunkBytes}`);
  return bytes;
}

function inflate(bytes: Uint8Array, { most }: FilterSetting): Uint8Array {
  try {
    return inflateSync(bytes, { maxOutputLength: most, chunkSize: Math.max(most, 64) });
  } catch (error) {
    throw new DataError(`gzip cannot be undone (${(error as Error).message})`, error);
  }
}

/** First bytes of all elements, then second ones, and so on; bytes that fill no element are last. */
export function unshuffle(bytes: Uint8Array, { elementBytes }: Pick<FilterSetting, "elementBytes">): Uint8Array {
  if (elementBytes < 2) return bytes;
  const elements = Math.floor(bytes.length / elementBytes);
  const out = new Uint8Array(bytes.length);
  if (elementBytes === 4) {
    // The usual case, a word at a time.
    const words = new Uint32Array(out.buffer, 0, elements);
    for (let i = 0, b = elements, c = 2 * elements, d = 3 * elements; i < elements; i++, b++, c++, d++)
      words[i] = bytes[i] | (bytes[b] << 8) | (bytes[c] << 16) | (bytes[d] << 24);
  } else
    for (let k = 0; k < elementBytes; k++)
      for (let i = 0, to = k; i < elements; i++, to += elementBytes) out[to] = bytes[k * elements + i];
  out.set(bytes.subarray(elements * elementBytes), elements * elementBytes);
  return out;
}

/** Compressors inside Blosc, by number, that the plugin has: blosclz, lz4 and zstd; snappy and zlib end it. */
export const BLOSC_CODECS = [0, 1, 4];
const BLOSC2_FRAME = "b2frame\0";

type Declared = (head: DataView, parameters: readonly number[]) => number | null;

/** Uncompressed bytes of a chunk, by its header or the parameters; null if they do not state them. */
const DECLARED: ReadonlyMap<string, Declared> = new Map<string, Declared>([
  // Source: HDF5, H5Zszip.c.
  ["szip", (head) => head.getUint32(0, true)],
  ["blosc", (head) => bloscBytes(head, 0)],
  ["zfp", (_, parameters) => zfpBytes(parameters)],
  ["blosc2", blosc2Bytes],
  ["lz4", (head) => Number(head.getBigUint64(0))],
  ["bitshuffle", (head) => Number(head.getBigUint64(0))],
  ["zstd", zstdBytes],
]);

const COMPRESSORS: ReadonlySet<string> = new Set(["gzip", "lzf", ...DECLARED.keys()]);

/** Checks the input of a plugin: plugins do not check the length of their output. Throws DataError. */
function checkDeclared(
  filter: string,
  { buffer, byteOffset, length }: Uint8Array,
  wanted: number,
  parameters: readonly number[],
): void {
  if (filter === "bitshuffle" && length === wanted) return;
  let declared: number | null | undefined;
  try {
    declared = DECLARED.get(filter)?.(new DataView(buffer, byteOffset, length), parameters);
  } catch (error) {
    if (error instanceof RangeError) throw new DataError(`it is too short for ${filter}`, error);
    throw error;
  }
  if (declared !== wanted) throw new DataError(`it has ${declared} bytes, not ${wanted}`);
}

function bloscBytes(head: DataView, at: number): number {
  const codec = head.getUint8(at + 2) >> 5;
  if (!BLOSC_CODECS.includes(codec))
    throw new DataError(`it was compressed by codec ${codec} of Blosc, which is not read`);
  return head.getUint32(at + 4, true);
}

/** Source: c-blosc2, README_CFRAME_FORMAT. */
function blosc2Bytes(head: DataView): number | null {
  for (const [i, letter] of [...BLOSC2_FRAME].entries())
    if (head.getUint8(2 + i) !== letter.charCodeAt(0)) throw new DataError("it is not a Blosc2 frame");
  const whole = Number(head.getBigInt64(30));
  const inner = head.getUint32(head.getUint32(11) + 4, true);
  if (inner !== whole) throw new DataError(`it has ${inner} of ${whole} bytes`);
  return whole;
}

/** The letters `zfp` and the version of the codec, as a number of four little-endian bytes. */
const ZFP_MAGIC = 0x0570667a;
/** Bytes of the elements that zfp knows: int32, int64, float, double. */
const ZFP_ELEMENTS = [4, 8, 4, 8];
const ZFP_DOUBLE = 3;

const isZfpOfDoubles = ([, , meta = 0]: readonly number[]) => (meta & 3) === ZFP_DOUBLE;

/**
 * The bytes of the array that the parameters describe, after the version of the filter.
 *
 * Source: zfp 1.0, zfp_field_metadata: two bits for the type, two for the dimensions, 48 for their lengths less one.
 */
export function zfpBytes([, magic, low = 0, high = 0]: readonly number[]): number {
  if (magic !== ZFP_MAGIC) throw new DataError("its parameters do not begin with a zfp header");
  const meta = BigInt(low) | (BigInt(high & 0xfffff) << 32n);
  const dimensions = Number((meta >> 2n) & 3n) + 1;
  const bits = 48n / BigInt(dimensions);
  let bytes = ZFP_ELEMENTS[Number(meta & 3n)];
  for (let d = 0; d < dimensions; d++) bytes *= Number((meta >> (4n + BigInt(d) * bits)) & ((1n << bits) - 1n)) + 1;
  return bytes;
}

/** The size of the content in the header of a frame. Source: RFC 8878, section 3.1.1.1. */
function zstdBytes(head: DataView): number | null {
  if (head.getUint32(0, true) !== 0xfd2fb528) throw new DataError("it is not a Zstandard frame");
  const descriptor = head.getUint8(4);
  const isSingle = (descriptor & 0x20) !== 0;
  const at = 5 + (isSingle ? 0 : 1) + [0, 1, 2, 4][descriptor & 3];
  const flag = descriptor >> 6;
  if (flag === 0) return isSingle ? head.getUint8(at) : null;
  if (flag === 1) return head.getUint16(at, true) + 256;
  return flag === 2 ? head.getUint32(at, true) : Number(head.getBigUint64(at, true));
}
