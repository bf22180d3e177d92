/** Filters of one chunk in any order: each undoes what a naive implementation of its definition has done. */
import { deflateSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { decode, type EncodedChunk, ForeignFilter } from "../../../../src/storage/hdf5-bytes/filters.js";
import { fc } from "../../../support/property.js";

const ELEMENT = 4;

/** The checksum of Fletcher by its definition, over big-endian words of 16 bits, in little-endian order behind them. */
function withFletcher(bytes: Uint8Array): Uint8Array {
  let [low, high] = [0, 0];
  for (let i = 0; i < bytes.length; i += 2) {
    low = (low + 256 * (bytes[i] as number) + (bytes[i + 1] ?? 0)) % 65_535;
    high = (high + low) % 65_535;
  }
  const sum = Buffer.alloc(4);
  sum.writeUInt16LE(low, 0);
  sum.writeUInt16LE(high, 2);
  return Buffer.concat([bytes, sum]);
}

function shuffle(bytes: Uint8Array): Uint8Array {
  const elements = Math.floor(bytes.length / ELEMENT);
  const out = Uint8Array.from(bytes);
  for (let i = 0; i < elements; i++)
    for (let k = 0; k < ELEMENT; k++) out[k * elements + i] = bytes[i * ELEMENT + k] as number;
  return out;
}

const APPLY: Readonly<Record<string, (bytes: Uint8Array) => Uint8Array>> = {
  shuffle,
  gzip: (bytes) => deflateSync(bytes),
  fletcher32: withFletcher,
};

/** Registered numbers of filters, and of one that is not read. */
const NUMBERS: Readonly<Record<string, number>> = { gzip: 1, shuffle: 2, fletcher32: 3, sz: 32017 };

const encode = (filters: readonly string[], bytes: Uint8Array, mask = 0): EncodedChunk => ({
  filters: filters.map((name) => ({ id: NUMBERS[name] as number, parameters: [] })),
  mask,
  bytes: filters.reduce((now, name, i) => ((mask >>> i) & 1 ? now : (APPLY[name]?.(now) ?? now)), bytes),
  elementBytes: ELEMENT,
  chunkBytes: bytes.length,
  undo: () => {
    throw new Error("no plugin is needed");
  },
});

/** Bytes whose checksum has no word of zero, for which 0 and 65535 are the same. */
const bytesOf = (length: number) => Uint8Array.from({ length }, (_, i) => 1 + ((i * 37) % 250));

describe("decode", () => {
  it.each([
    [[]],
    [["shuffle"]],
    [["gzip"]],
    [["fletcher32"]],
    [["shuffle", "gzip", "fletcher32"]],
    [["fletcher32", "gzip"]],
    [["fletcher32", "shuffle", "gzip", "fletcher32"]],
  ])("undoes %j", (filters) => {
    for (const length of [4, 400, 30_000]) {
      const chunk = bytesOf(length);
      expect(Buffer.from(decode(encode(filters, chunk))).equals(Buffer.from(chunk))).toBe(true);
    }
  });

  it("finds any byte that is wrong, by its checksum", () => {
    const encoded = encode(["fletcher32"], bytesOf(64));
    fc.assert(
      fc.property(fc.nat(67), fc.integer({ min: 1, max: 254 }), (at, by) => {
        const bytes = Uint8Array.from(encoded.bytes);
        bytes[at] = ((bytes[at] as number) + by) % 256;
        expect(() => decode({ ...encoded, bytes })).toThrow();
      }),
    );
  });

  it("takes a compressor that is left out, and all filters left out, and nothing else", () => {
    const chunk = bytesOf(400);
    const three = ["shuffle", "gzip", "fletcher32"];
    for (const mask of [0b010, 0b111, 0xffff_ffff])
      expect(Buffer.from(decode(encode(three, chunk, mask))).equals(Buffer.from(chunk))).toBe(true);
    for (const mask of [0b001, 0b100, 0b1000])
      expect(() => decode(encode(three, chunk, mask))).toThrow("its mask leaves out");
  });

  it("refuses a filter that nobody undoes by its number, unless it is left out", () => {
    const chunk = bytesOf(40);
    expect(() => decode(encode(["sz"], chunk))).toThrow(ForeignFilter);
    expect(decode(encode(["sz"], chunk, 1))).toEqual(chunk);
  });

  it("refuses more and fewer bytes than a chunk has", () => {
    const encoded = encode(["gzip"], bytesOf(400));
    expect(() => decode({ ...encoded, chunkBytes: 399 })).toThrow("gzip cannot be undone");
    expect(() => decode({ ...encoded, chunkBytes: 401 })).toThrow("it has 400 bytes, not 401");
  });
});
