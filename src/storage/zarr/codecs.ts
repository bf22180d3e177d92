/** Replaces the codecs of the Zarr library that would let damage pass, or that decode on the thread that asks. */
import { promisify } from "node:util";
import { gunzip, unzip } from "node:zlib";
import { registry } from "zarrita";
import { crc32c } from "./crc32c.js";

const gunzipAside = promisify(gunzip);
const unzipAside = promisify(unzip);

/** Bytes of a Blosc header, and where it keeps the length of what follows it. Source: c-blosc, README_CHUNK_FORMAT. */
const BLOSC_HEADER = 16;
const BLOSC_LENGTH = 12;

type CodecClass = Awaited<ReturnType<NonNullable<ReturnType<typeof registry.get>>>>;
type Decode = (bytes: Uint8Array) => Uint8Array | Promise<Uint8Array>;

/** Registers the codecs for all arrays of this thread. */
export function registerCodecs(): void {
  const blosc = registry.get("blosc");
  for (const name of ["blosc", "numcodecs.blosc"])
    registry.set(name, async () => withLength((await blosc?.()) as CodecClass));
  registry.set("crc32c", async () => decoder(checked(), (decoded) => decoded + 4));
  for (const name of ["gzip", "numcodecs.gzip"]) registry.set(name, async () => decoder(gunzipAside));
  for (const name of ["zlib", "numcodecs.zlib"]) registry.set(name, async () => decoder(unzipAside));
}

/** A codec that only decodes. */
function decoder(decode: Decode, computeEncodedSize?: (decoded: number) => number): CodecClass {
  const encode = () => {
    throw new Error("stores are only read");
  };
  return {
    fromConfig: () => ({ kind: "bytes_to_bytes", encode, decode, computeEncodedSize }),
  } as unknown as CodecClass;
}

/** The Blosc codec with a check of the length: its decoder reads on behind a chunk that is cut short. */
function withLength(blosc: CodecClass): CodecClass {
  return {
    ...blosc,
    fromConfig: (configuration, metadata) => {
      const codec = blosc.fromConfig(configuration, metadata);
      const decode: Decode = (bytes) => {
        const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
        if (bytes.length < BLOSC_HEADER || view.getUint32(BLOSC_LENGTH, true) !== bytes.length)
          throw new Error(`a Blosc chunk has ${bytes.length} bytes and not those of its header`);
        return codec.decode(bytes) as ReturnType<Decode>;
      };
      return { kind: "bytes_to_bytes", encode: codec.encode.bind(codec), decode } as unknown as typeof codec;
    },
  };
}

function checked(): Decode {
  const sumOf = crc32c();
  return (bytes) => withoutSum(bytes, sumOf);
}

/** The bytes before a checksum that matches them. @throws Error where it does not */
export function withoutSum(bytes: Uint8Array, sumOf: (bytes: Uint8Array) => number): Uint8Array {
  const end = bytes.length - 4;
  if (end < 0) throw new Error("there is no checksum");
  const stated = new DataView(bytes.buffer, bytes.byteOffset + end, 4).getUint32(0, true);
  if (sumOf(bytes.subarray(0, end)) !== stated) throw new Error("the checksum does not match");
  return bytes.subarray(0, end);
}
