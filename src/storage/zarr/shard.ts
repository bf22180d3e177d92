/** Encodes chunks and shards of Zarr 3 with checksums, and checks written ones. */
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { registry } from "zarrita";
import { withoutSum } from "./codecs.js";
import { crc32c } from "./crc32c.js";

export const COMPRESSIONS = ["none", "gzip", "zstd"] as const;
export type Compression = (typeof COMPRESSIONS)[number];

const gzipAside = promisify(gzip);
const LEVELS = { none: 0, gzip: 5, zstd: 3 } as const;
/** Offset and length of a missing chunk, and the bytes of both. */
const ABSENT = 2n ** 64n - 1n;
const ENTRY_BYTES = 16;
const SUM_BYTES = 4;

export interface ShardForm {
  readonly compression: Compression;
  /** Chunks of a shard; null if each chunk is a separate object. */
  readonly chunksPerShard: number | null;
}

type Encode = (values: Float32Array) => Promise<Uint8Array>;

export class ShardCodec {
  readonly #form: ShardForm;
  readonly #sumOf = crc32c();
  readonly #compress: (bytes: Uint8Array) => Promise<Uint8Array>;

  private constructor(form: ShardForm, compress: (bytes: Uint8Array) => Promise<Uint8Array>) {
    this.#form = form;
    this.#compress = compress;
  }

  static async open(form: ShardForm): Promise<ShardCodec> {
    if (form.compression === "none") return new ShardCodec(form, async (bytes) => bytes);
    if (form.compression === "gzip")
      return new ShardCodec(form, (bytes) => gzipAside(bytes, { level: LEVELS.gzip }) as Promise<Uint8Array>);
    const Zstd = (await registry.get("zstd")?.()) as { fromConfig(setting: object, metadata: object): never };
    const decoded = { dataType: "float32", shape: [] };
    const codec = Zstd.fromConfig({ level: LEVELS.zstd }, decoded) as {
      encode(bytes: Uint8Array): Promise<Uint8Array>;
    };
    return new ShardCodec(form, async (bytes) => codec.encode(bytes));
  }

  static codecsOf(compression: Compression): object[] {
    const plain = { name: "bytes", configuration: { endian: "little" } };
    if (compression === "none") return [plain, { name: "crc32c" }];
    const level = LEVELS[compression];
    const configuration = compression === "zstd" ? { level, checksum: false } : { level };
    return [plain, { name: compression, configuration }, { name: "crc32c" }];
  }

  readonly chunk: Encode = async (values) => {
    const bytes = await this.#compress(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
    return this.#withSum(bytes);
  };

  #withSum(bytes: Uint8Array): Uint8Array {
    const out = new Uint8Array(bytes.length + SUM_BYTES);
    out.set(bytes);
    new DataView(out.buffer).setUint32(bytes.length, this.#sumOf(bytes), true);
    return out;
  }

  /**
   * Chunks, then their index. Source: Zarr sharding codec, version 1.0.
   * @param chunks in C order of the shard; null for those beyond the array
   */
  shard(chunks: readonly (Uint8Array | null)[]): Uint8Array {
    const index = new BigUint64Array(2 * chunks.length).fill(ABSENT);
    let length = 0;
    for (const [at, chunk] of chunks.entries()) {
      if (chunk === null) continue;
      index.set([BigInt(length), BigInt(chunk.length)], 2 * at);
      length += chunk.length;
    }
    return Buffer.concat([...chunks.flatMap((chunk) => chunk ?? []), this.#withSum(new Uint8Array(index.buffer))]);
  }

  /**
   * Adds the checksums and the index to chunks without compression that lie one after another, 4 bytes apart.
   * @param places the place of each chunk in the order of the shard, which has `of` of them
   */
  seal(bytes: Uint8Array, chunkBytes: number, places: readonly number[], of: number): void {
    const index = new BigUint64Array(2 * of).fill(ABSENT);
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    const own = chunkBytes + SUM_BYTES;
    for (const [slot, place] of places.entries()) {
      index.set([BigInt(slot * own), BigInt(own)], 2 * place);
      const sum = this.#sumOf(bytes.subarray(slot * own, slot * own + chunkBytes));
      view.setUint32(slot * own + chunkBytes, sum, true);
    }
    bytes.set(this.#withSum(new Uint8Array(index.buffer)), places.length * own);
  }

  /** Whether an object is complete: all checksums match, and all expected chunks are present. */
  isWhole(object: Uint8Array, expected: number): boolean {
    try {
      const { chunksPerShard } = this.#form;
      if (chunksPerShard === null) return withoutSum(object, this.#sumOf).length > 0 && expected === 1;
      const tail = object.subarray(object.length - chunksPerShard * ENTRY_BYTES - SUM_BYTES);
      const index = new BigUint64Array(new Uint8Array(withoutSum(tail, this.#sumOf)).buffer);
      let there = 0;
      for (let at = 0; at < chunksPerShard; at++) {
        const [offset, length] = [index[2 * at], index[2 * at + 1]];
        if (offset === ABSENT && length === ABSENT) continue;
        withoutSum(object.subarray(Number(offset), Number(offset) + Number(length)), this.#sumOf);
        there++;
      }
      return there === expected && index.length === 2 * chunksPerShard;
    } catch {
      return false;
    }
  }
}
