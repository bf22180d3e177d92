/** Replaces codecs of the Zarr library that decode without a bound, miss damage, or block the calling thread. */
import { promisify } from "node:util";
import { gunzip, inflateSync, unzip, crc32 as zipSum } from "node:zlib";
import { registry } from "zarrita";
import { checkFletcher, expandLzf } from "../dataset/byte-filters.js";
import type { Json } from "../dataset/documents.js";
import { BLOSC_CODECS, type UndoFilter, zfpBytes } from "../hdf5-bytes/filters.js";
import { crc32c } from "./crc32c.js";
import { sizeOf } from "./element-size.js";
import { arrayFilter, unshuffle } from "./filters.js";

/** Layout of Blosc: bytes of its header, offsets of both lengths, HDF5 filter. Source: c-blosc, README_CHUNK_FORMAT. */
const BLOSC = { header: 16, decoded: 4, encoded: 12, filter: 32001 } as const;
/** Header of LZ4 as written by numcodecs: the decoded length. */
const LZ4_HEADER = 4;
/** Bytes that a codec may add to its input, in addition to an eighth. */
const SLACK_BYTES = 64 * 1024;
/** Most decoded bytes of a block of Zstandard. Source: RFC 8878, section 3.1.1.2.4. */
const ZSTD_BLOCK = 128 * 1024;

/** The number of zfp among the filters of HDF5, bytes of its header, and versions of zfp and its filter. */
const ZFP = 32013;
const ZFP_HEADER = 12;
const ZFP_VERSION = 0x1000_5110;

type CodecClass = Awaited<ReturnType<NonNullable<ReturnType<typeof registry.get>>>>;
type Bytes = Uint8Array;
type Decode = (bytes: Bytes) => Bytes | Promise<Bytes>;

export interface Encoded {
  readonly dataType: string;
  readonly shape: readonly number[];
}

const inflate = { gzip: promisify(gunzip), zlib: promisify(unzip) };

export function registerCodecs(): void {
  const set = (names: readonly string[], made: () => Promise<CodecClass> | CodecClass) => {
    for (const name of names) registry.set(name, async () => made());
  };
  for (const name of ["blosc", "zstd", "lz4"] as const) {
    const library = registry.get(name);
    set([name, `numcodecs.${name}`], async () =>
      guarded((await library?.()) as CodecClass, GUARDS[name], name === "blosc" ? await undoerOfBlosc() : undefined),
    );
  }
  for (const name of ["gzip", "zlib"] as const) {
    const decode = (bytes: Bytes, most: number) =>
      inflate[name](bytes, { maxOutputLength: most, chunkSize: Math.max(most - SLACK_BYTES, 1024) });
    set([name, `numcodecs.${name}`], () => decoder((_, encoded) => (bytes) => decode(bytes, mostBytes(encoded))));
  }
  const sumOf = crc32c();
  set(["crc32c", "numcodecs.crc32c"], () =>
    decoder(
      () => (bytes) => withoutSum(bytes, sumOf),
      (decoded) => decoded + 4,
    ),
  );
  set(["numcodecs.crc32"], () => decoder(() => (bytes) => withoutFirstSum(bytes, zipSum)));
  set(["numcodecs.adler32"], () => decoder(() => (bytes) => withoutFirstSum(bytes, adler32)));
  set(["numcodecs.fletcher32"], () => decoder(() => checkFletcher));
  set(["numcodecs.imagecodecs_lzf"], () => decoder((_, encoded) => (bytes) => expandLzf(bytes, mostBytes(encoded))));
  set(["bz2", "numcodecs.bz2"], async () => {
    const { default: Bzip2 } = await import("@foxglove/wasm-bz2");
    const library = await Bzip2.init();
    return decoder((_, encoded) => (bytes) => library.decompress(bytes, mostBytes(encoded)));
  });
  set(["zfpy", "numcodecs.zfpy"], async () => {
    const { loadHdf5, undoByPlugin } = await import("../hdf5/library.js");
    await loadHdf5();
    return decoder((_, encoded) => (bytes) => expandZfp(bytes, mostBytes(encoded), undoByPlugin));
  });
  set(["numcodecs.packbits"], () => decoder((_, encoded) => (bytes) => unpackBits(bytes, mostBytes(encoded))));
  set(["numcodecs.shuffle"], () => decoder((configuration) => (bytes) => unshuffle(bytes, configuration)));
  for (const name of ["delta", "quantize", "fixed_scale_offset"])
    set([`numcodecs.${name}`], () => arrayFilter(name) as unknown as CodecClass);
}

/** Undoes codecs around a whole shard. `most`: largest size of the shard before them. */
export async function undoAround(
  codecs: readonly { readonly name: string; readonly configuration: Json }[],
  shard: Bytes,
  most: number,
): Promise<Bytes> {
  let bytes = shard;
  for (const { name, configuration } of codecs.toReversed()) {
    const made = (await registry.get(name)?.()) as CodecClass;
    const codec = made.fromConfig(configuration, { dataType: "uint8", shape: [most] } as never);
    bytes = (await codec.decode(bytes as never)) as unknown as Bytes;
  }
  return bytes;
}

function mostBytes({ dataType, shape }: Encoded): number {
  const bytes = shape.reduce((product, edge) => product * edge, sizeOf(dataType));
  return Math.ceil(bytes * 1.125) + SLACK_BYTES;
}

function decoder(
  made: (configuration: Json, encoded: Encoded) => Decode,
  computeEncodedSize?: (decoded: number) => number,
): CodecClass {
  const encode = () => {
    throw new Error("stores are only read");
  };
  return {
    fromConfig: (configuration: Json, encoded: Encoded) => ({
      kind: "bytes_to_bytes",
      encode,
      decode: made(configuration ?? {}, encoded),
      computeEncodedSize,
    }),
  } as unknown as CodecClass;
}

/** A codec of the library that runs only once the decoded size is bounded by a look at the encoded bytes. */
function guarded(
  library: CodecClass,
  check: (bytes: Bytes, most: number) => void,
  undo?: (bytes: Bytes) => Bytes | undefined,
): CodecClass {
  return {
    ...library,
    fromConfig: (configuration, metadata) => {
      const codec = library.fromConfig(configuration, metadata);
      const most = metadata === undefined ? Number.POSITIVE_INFINITY : mostBytes(metadata as unknown as Encoded);
      const decode: Decode = (bytes) => {
        check(bytes, most);
        return undo?.(bytes) ?? (codec.decode(bytes) as ReturnType<Decode>);
      };
      return { kind: "bytes_to_bytes", encode: codec.encode.bind(codec), decode } as unknown as typeof codec;
    },
  };
}

/**
 * Undoes Blosc by the plugin of HDF5, because the library's decoder misses damage. zlib, which the plugin lacks, is
 * left to the library once each stream has been inflated here.
 */
async function undoerOfBlosc(): Promise<(bytes: Bytes) => Bytes | undefined> {
  const { loadHdf5, undoByPlugin } = await import("../hdf5/library.js");
  await loadHdf5();
  return (bytes) => {
    const view = new DataView(bytes.buffer, bytes.byteOffset, BLOSC.header);
    if (!BLOSC_CODECS.includes(view.getUint8(2) >> 5)) return inflateBlosc(bytes);
    const length = view.getUint32(BLOSC.decoded, true);
    const parameters = [2, 2, view.getUint8(3), length];
    return undoByPlugin({ id: BLOSC.filter, parameters }, bytes, length).slice();
  };
}

/** Inflates the streams of a Blosc chunk with zlib. Source: c-blosc, README_CHUNK_FORMAT. @throws Error if one is damaged */
function inflateBlosc(bytes: Bytes): undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [flags, width] = [view.getUint8(2), view.getUint8(3)];
  if (flags >> 5 !== 3) throw new Error(`codec ${flags >> 5} inside Blosc is not read`);
  const [length, block] = [view.getUint32(BLOSC.decoded, true), view.getUint32(8, true)];
  // Bit 1: the chunk is copied uncompressed.
  for (let from = 0; from < length && (flags & 2) === 0; from += block) {
    if (block === 0) throw new Error("a Blosc chunk has blocks of no bytes");
    const size = Math.min(block, length - from);
    // Bit 4: the bytes of the elements are not split.
    const isSplit = (flags & 16) === 0 && width <= 16 && size === block && block / width >= 128;
    const part = size / (isSplit ? width : 1);
    let at = view.getInt32(BLOSC.header + 4 * (from / block), true);
    for (let done = 0; done < size; done += part) {
      const encoded = view.getInt32(at, true);
      at += 4;
      const stream = bytes.subarray(at, at + encoded);
      if (encoded !== part && inflateSync(stream, { maxOutputLength: part }).length !== part)
        throw new Error("a stream of a Blosc chunk is too short");
      at += encoded;
    }
  }
}

const GUARDS = {
  /** The decoder of Blosc reads beyond a truncated chunk. */
  blosc: (bytes: Bytes, most: number) => {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (bytes.length < BLOSC.header || view.getUint32(BLOSC.encoded, true) !== bytes.length)
      throw new Error(`a Blosc chunk has ${bytes.length} bytes and not those of its header`);
    checkDecoded(view.getUint32(BLOSC.decoded, true), most);
  },
  lz4: (bytes: Bytes, most: number) => {
    if (bytes.length < LZ4_HEADER) throw new Error("an LZ4 chunk has no header");
    checkDecoded(new DataView(bytes.buffer, bytes.byteOffset, LZ4_HEADER).getUint32(0, true), most);
  },
  zstd: (bytes: Bytes, most: number) => checkDecoded(zstdLength(bytes), most + ZSTD_BLOCK),
} as const;

function checkDecoded(bytes: number, most: number): void {
  if (bytes > most) throw new Error(`it says that it decodes to ${bytes} bytes, more than the chunk has`);
}

/** Most bytes of a decoded frame of Zstandard. Source: RFC 8878, sections 3.1.1.1 and 3.1.1.2. */
function zstdLength(bytes: Bytes): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 6 || view.getUint32(0, true) !== 0xfd2fb528) throw new Error("it is not a Zstandard frame");
  const descriptor = view.getUint8(4);
  const isSingle = (descriptor & 0x20) !== 0;
  const window = 5;
  const content = window + (isSingle ? 0 : 1) + [0, 1, 2, 4][descriptor & 3];
  const sizeBytes = [isSingle ? 1 : 0, 2, 4, 8][descriptor >> 6];
  if (content + sizeBytes > bytes.length) throw new Error("a Zstandard frame ends in its header");
  if (sizeBytes === 8) return Number(view.getBigUint64(content, true));
  if (sizeBytes === 4) return view.getUint32(content, true);
  if (sizeBytes === 2) return view.getUint16(content, true) + 256;
  if (sizeBytes === 1) return view.getUint8(content);
  let total = 0;
  for (let at = content; at + 3 <= bytes.length; ) {
    const header = view.getUint16(at, true) | (view.getUint8(at + 2) << 16);
    const [isLast, kind, size] = [(header & 1) === 1, (header >> 1) & 3, header >> 3];
    total += kind === 2 ? ZSTD_BLOCK : size;
    at += 3 + (kind === 1 ? 1 : size);
    if (isLast) break;
  }
  return total;
}

/**
 * Undoes zfp by the plugin of HDF5, which takes the header of the array as parameters. Source: zfp 1.0,
 * zfp_write_header: 32 bits of magic, 52 of the array, 12 of the mode, or 76 if all of these are set.
 */
function expandZfp(bytes: Bytes, most: number, undo: UndoFilter): Bytes {
  if (bytes.length < ZFP_HEADER) throw new Error("it has no zfp header");
  const head = new DataView(bytes.buffer, bytes.byteOffset, ZFP_HEADER);
  const parameters = [ZFP_VERSION, ...[0, 4, 8].map((at) => head.getUint32(at, true))];
  if ((parameters[3] as number) >>> 20 === 0xfff) throw new Error("its mode of zfp is not read");
  const length = zfpBytes(parameters);
  checkDecoded(length, most);
  return undo({ id: ZFP, parameters }, bytes.subarray(ZFP_HEADER), length).slice();
}

export function withoutSum(bytes: Bytes, sumOf: (bytes: Bytes) => number): Bytes {
  const end = bytes.length - 4;
  if (end < 0) throw new Error("there is no checksum");
  compareSum(bytes, end, sumOf(bytes.subarray(0, end)));
  return bytes.subarray(0, end);
}

/** The bytes after a matching checksum; numcodecs writes CRC-32 and Adler-32 first. Throws Error otherwise. */
function withoutFirstSum(bytes: Bytes, sumOf: (bytes: Bytes) => number): Bytes {
  if (bytes.length < 4) throw new Error("there is no checksum");
  compareSum(bytes, 0, sumOf(bytes.subarray(4)));
  return bytes.slice(4);
}

/**
 * Bits as bytes, the highest first; the first byte counts the unused bits at the end.
 *
 * Source: numcodecs 0.15, packbits.py.
 */
function unpackBits(bytes: Bytes, most: number): Bytes {
  const length = 8 * (bytes.length - 1) - (bytes[0] ?? 8);
  if (length < 0 || (bytes[0] as number) > 7) throw new Error("its first byte does not count the bits of a byte");
  checkDecoded(length, most);
  return Uint8Array.from({ length }, (_, i) => ((bytes[1 + (i >> 3)] as number) >> (7 - (i & 7))) & 1);
}

function compareSum(bytes: Bytes, at: number, sum: number): void {
  if (new DataView(bytes.buffer, bytes.byteOffset + at, 4).getUint32(0, true) !== sum >>> 0)
    throw new Error("the checksum does not match");
}

/** Source: RFC 1950, section 9. */
function adler32(bytes: Bytes): number {
  let [a, b] = [1, 0];
  for (const byte of bytes) {
    a = (a + byte) % 65521;
    b = (b + a) % 65521;
  }
  return ((b << 16) | a) >>> 0;
}
