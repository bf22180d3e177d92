/** Codecs notice what cannot be decoded. */
import { beforeAll, expect, it } from "vitest";
import { registry } from "zarrita";
import { registerCodecs } from "../../../src/storage/zarr/codecs.js";

beforeAll(registerCodecs);

it.each(["blosclz", "lz4", "zstd", "zlib"])(
  "a chunk of Blosc with %s that cannot be decoded is an error",
  async (cname) => {
    const made = await registry.get("blosc")?.();
    const metadata = { dataType: "float32", shape: [4096] } as never;
    const codec = made?.fromConfig({ cname, clevel: 5, shuffle: 1, blocksize: 0 }, metadata);
    if (codec?.kind !== "bytes_to_bytes") throw new Error("Blosc encodes bytes");
    const values = Float32Array.from({ length: 4096 }, (_, i) => Math.sin(i / 9));
    const chunk = new Uint8Array(await codec.encode(new Uint8Array(values.buffer)));
    const decoded = new Uint8Array(await codec.decode(chunk));
    expect(new Float32Array(decoded.buffer)).toEqual(values);
    // The place of the first block.
    chunk[16] = (chunk[16] as number) ^ 4;
    await expect((async () => codec.decode(chunk))()).rejects.toThrow();
  },
);
