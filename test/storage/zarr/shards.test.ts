/** Forms of Zarr 3 that the library does not read: shards with their index first or inside of codecs, and float16. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { STORE_DEFAULTS } from "../../../src/shared/store-settings.js";
import { Stores } from "../../../src/storage/remote/stores.js";
import { registerCodecs } from "../../../src/storage/zarr/codecs.js";
import { ShardCodec } from "../../../src/storage/zarr/shard.js";
import { scratchFolder } from "../../support/scratch.js";

registerCodecs();
const stores = new Stores({ settings: STORE_DEFAULTS, disk: null });
const BYTES = { name: "bytes", configuration: { endian: "little" } };

interface Form {
  readonly location?: string;
  readonly around?: readonly object[];
  readonly before?: readonly object[];
  readonly wrap?: (shard: Buffer) => Buffer;
}

/** A store of 8 numbers, in one shard of two chunks of 4, the second written first. */
function shardStore({ location, around = [], before = [], wrap = (shard) => shard }: Form): string {
  const folder = join(scratchFolder(), "flow.zarr");
  mkdirSync(join(folder, "c"), { recursive: true });
  const configuration = {
    chunk_shape: [4],
    codecs: [BYTES],
    index_codecs: [BYTES],
    ...(location === undefined ? {} : { index_location: location }),
  };
  const document = {
    zarr_format: 3,
    node_type: "array",
    shape: [8],
    data_type: "float32",
    chunk_grid: { name: "regular", configuration: { chunk_shape: [8] } },
    chunk_key_encoding: { name: "default" },
    fill_value: 0,
    codecs: [...before, { name: "sharding_indexed", configuration }, ...around],
    attributes: {},
  };
  writeFileSync(join(folder, "zarr.json"), JSON.stringify(document));
  const values = Buffer.from(Float32Array.of(4, 5, 6, 7, 0, 1, 2, 3).buffer);
  const start = location === "start" ? 32 : 0;
  const index = Buffer.from(BigUint64Array.of(BigInt(start + 16), 16n, BigInt(start), 16n).buffer);
  const shard = Buffer.concat(location === "start" ? [index, values] : [values, index]);
  writeFileSync(join(folder, "c", "0"), wrap(shard));
  return folder;
}

describe("shards", () => {
  const gzip = { name: "gzip", configuration: { level: 1 } };
  it.each<[string, Form]>([
    ["with the index at the end", {}],
    ["with the index at the start", { location: "start" }],
    ["inside of gzip", { around: [gzip], wrap: (shard) => gzipSync(shard) }],
    [
      "inside of gzip twice, the index at the start",
      { location: "start", around: [gzip, gzip], wrap: (shard) => gzipSync(gzipSync(shard)) },
    ],
  ])("are read %s", async (_, form) => {
    const store = shardStore(form);
    const { newestMs, entries } = await stores.open({ store });
    expect(entries["/"]).toMatchObject({ unknownCodecs: [] });
    const values = await stores.read({ store, newestMs, path: "/", offset: [1], count: [6] });
    expect(Array.from(values as Float32Array)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it("are refused by name behind codecs of elements, with an index elsewhere, or inside of unknown codecs", async () => {
    const codecsOf = async (form: Form) => (await stores.open({ store: shardStore(form) })).entries["/"];
    const transpose = { name: "transpose", configuration: { order: [0] } };
    expect(await codecsOf({ before: [transpose] })).toMatchObject({
      unknownCodecs: ["codecs of elements around shards"],
    });
    expect(await codecsOf({ location: "middle" })).toMatchObject({ unknownCodecs: ["index_location"] });
    expect(await codecsOf({ around: [{ name: "numcodecs.pcodec" }] })).toMatchObject({
      unknownCodecs: ["numcodecs.pcodec"],
    });
  });

  it("fail if the codecs around them give more bytes than a shard has, or none", async () => {
    for (const wrap of [() => gzipSync(Buffer.alloc(1e6)), () => Buffer.from("no gzip")]) {
      const store = shardStore({ around: [gzip], wrap });
      const { newestMs } = await stores.open({ store });
      const reading = stores.read({ store, newestMs, path: "/", offset: [0], count: [8] });
      await expect(reading).rejects.toThrow(/chunk 0 of \/ is damaged/);
    }
  });
});

describe("numbers of two bytes", () => {
  it("are read in Zarr 3, and their fill value too", async () => {
    const folder = join(scratchFolder(), "half.zarr");
    mkdirSync(join(folder, "c"), { recursive: true });
    const document = {
      zarr_format: 3,
      node_type: "array",
      shape: [4, 3],
      data_type: "float16",
      chunk_grid: { name: "regular", configuration: { chunk_shape: [2, 3] } },
      chunk_key_encoding: { name: "default", configuration: { separator: "." } },
      fill_value: -1.5,
      codecs: [{ name: "transpose", configuration: { order: [1, 0] } }, BYTES],
      attributes: { missing: "fill" },
    };
    writeFileSync(join(folder, "zarr.json"), JSON.stringify(document));
    // 1, -2, the least and the largest, infinity, and what is no number.
    writeFileSync(join(folder, "c.0.0"), Buffer.from(Uint16Array.of(0x3c00, 0x7bff, 0xc000, 0x7c00, 1, 0x7e00).buffer));
    const { newestMs } = await stores.open({ store: folder });
    const values = await stores.read({ store: folder, newestMs, path: "/", offset: [0, 0], count: [4, 3] });
    const [one, two, least, most, infinity, none, ...filled] = values as Float32Array;
    expect([one, two, least, most, infinity, none]).toEqual([
      1,
      -2,
      2 ** -24,
      65504,
      Number.POSITIVE_INFINITY,
      Number.NaN,
    ]);
    expect(filled).toEqual(Array(6).fill(-1.5));
  });
});

it("compresses in a thread that reads stores too", async () => {
  const codec = await ShardCodec.open({ compression: "zstd", chunksPerShard: null });
  const chunk = await codec.chunk(new Float32Array(1000).fill(2));
  // The magic number of a Zstandard frame, RFC 8878.
  expect(Buffer.from(chunk).readUInt32LE(0)).toBe(0xfd2fb528);
  expect(codec.isWhole(chunk, 1)).toBe(true);
});
