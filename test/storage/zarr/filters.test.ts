/** Filters with a type or an element size of their own decode as zarr-python reads them, or are refused by name. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { STORE_DEFAULTS } from "../../../src/shared/store-settings.js";
import { Stores } from "../../../src/storage/remote/stores.js";
import { registerCodecs } from "../../../src/storage/zarr/codecs.js";
import { codecRefusals } from "../../../src/storage/zarr/filters.js";
import { scratchFolder } from "../../support/scratch.js";

registerCodecs();
const stores = new Stores({ settings: STORE_DEFAULTS, disk: null });

interface Case {
  readonly zarray: { readonly shape: readonly [number] } & Readonly<Record<string, unknown>>;
  readonly chunk: string;
  readonly values: readonly number[];
}
const CASES = JSON.parse(readFileSync(new URL("fixtures/filters.json", import.meta.url), "utf8")) as Record<
  string,
  Case
>;

async function read({ zarray, chunk }: Pick<Case, "zarray" | "chunk">): Promise<number[]> {
  const store = join(scratchFolder(), "filters.zarr");
  mkdirSync(store);
  writeFileSync(join(store, ".zarray"), JSON.stringify(zarray));
  writeFileSync(join(store, "0"), Buffer.from(chunk, "base64"));
  const { newestMs, entries } = await stores.open({ store });
  expect(entries["/"]).toMatchObject({ unknownCodecs: [] });
  const values = await stores.read({ store, newestMs, path: "/", offset: [0], count: zarray.shape });
  return Array.from(values as ArrayLike<number>, Number);
}

it.each(Object.keys(CASES))("decodes as zarr-python does: %s", async (name) => {
  const one = CASES[name] as Case;
  expect(await read(one)).toEqual(one.values);
});

it.each(["crc32", "adler32"])("refuses a chunk with a wrong sum: %s", async (name) => {
  const one = CASES[name] as Case;
  const bytes = Buffer.from(one.chunk, "base64");
  bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1);
  await expect(read({ ...one, chunk: bytes.toString("base64") })).rejects.toThrow(/chunk 0 of \/ is damaged/);
});

it.each([
  ["shuffle of 0 bytes", "<f4", { name: "shuffle", configuration: { elementsize: 0 } }],
  ["shuffle of 257 bytes", "<f4", { name: "numcodecs.shuffle", configuration: { elementsize: 257 } }],
  ["delta of <f4 as <f4", "<f8", { name: "delta", configuration: { dtype: "<f4" } }],
  ["delta of >f8 as >f8", "<f8", { name: "delta", configuration: { dtype: ">f8" } }],
  ["delta of <i4 as <f4", "<i4", { name: "delta", configuration: { dtype: "<i4", astype: "<f4" } }],
  ["delta of <i8 as <i8", "<i8", { name: "delta", configuration: { dtype: "<i8" } }],
  ["delta of undefined as undefined", "<f4", { name: "delta", configuration: {} }],
  [
    "fixedscaleoffset without a scale and an offset",
    "<f4",
    { name: "fixedscaleoffset", configuration: { dtype: "<f4" } },
  ],
  ["crc32 at end", "<f4", { name: "crc32", configuration: { location: "end" } }],
  ["bitround of int32", "<i4", { name: "bitround", configuration: { keepbits: 3 } }],
])("refuses by name: %s", (words, type, codec) => {
  expect(codecRefusals([codec], type)).toEqual([words]);
});

it("refuses filters of elements behind filters of bytes, whose order the library does not keep", () => {
  const shuffle = { name: "shuffle", configuration: {} };
  const delta = { name: "delta", configuration: { dtype: "<f4" } };
  expect(codecRefusals([delta, shuffle], "<f4")).toEqual([]);
  expect(codecRefusals([shuffle, delta], "<f4")).toEqual(["delta behind a codec of bytes"]);
});

it("refuses packed bits whose first byte does not count bits, and more bits than the chunk has", async () => {
  const one = CASES.packbits as Case;
  const bytes = Buffer.from(one.chunk, "base64");
  const changed = (first: number, more = 0) => ({
    ...one,
    chunk: Buffer.concat([Buffer.of(first), bytes.subarray(1), Buffer.alloc(more)]).toString("base64"),
  });
  await expect(read(changed(8))).rejects.toThrow(/does not count the bits/);
  await expect(read(changed(0, 8))).rejects.toThrow(/decodes to 128 elements, not 61/);
  await expect(read(changed(0, 16_384))).rejects.toThrow(/more than the chunk has/);
});
