/**
 * Every filter that is read gives the numbers that were written; chunks of the wrong length and masks that no writer
 * sets are damage.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { deflateSync, gunzipSync } from "node:zlib";
import { File } from "h5wasm/node";
import { describe, expect, it } from "vitest";
import { DataError } from "../../../../src/shared/errors.js";
import { openDataset } from "../../../../src/storage/bricks/brick-reader.js";
import { scanFolders } from "../../../../src/storage/catalog/scan-folders.js";
import type { Dataset } from "../../../../src/storage/dataset/dataset.js";
import { openHdf5 } from "../../../../src/storage/hdf5/file.js";
import { decode, type StoredFilter } from "../../../../src/storage/hdf5-bytes/filters.js";
import "../../../support/hdf5-library.js";
import { fc } from "../../../support/property.js";
import { nodesOf } from "../../../support/read-nodes.js";
import { scratchFolder } from "../../../support/scratch.js";

const FIXTURES = fileURLToPath(new URL("fixtures/", import.meta.url));
const NAMES = readdirSync(FIXTURES).map((name) => name.replace(".h5.gz", ""));
const SCRATCH = scratchFolder();
const [NX, NY, NZ] = [12, 10, 11];
const CHUNK = [5, 4, 8, 3];

const value = (x: number, y: number, z: number, c: number) => (z - 2 * y + 3 * x) / 8 + c;

function expected(): number[] {
  const all: number[] = [];
  for (let z = 0; z < NZ; z++)
    for (let y = 0; y < NY; y++) for (let x = 0; x < NX; x++) for (let c = 0; c < 3; c++) all.push(value(x, y, z, c));
  return all;
}

let made = 0;
/** Puts a file into a folder of its own with a descriptor, and scans it. */
function scanned(content: Uint8Array): { dataset: Dataset | undefined; problems: string[]; path: string } {
  const folder = join(SCRATCH, String(made++));
  mkdirSync(folder);
  const path = join(folder, "u.h5");
  writeFileSync(path, content);
  const axis = (nodes: number) => ({ nodes, origin: 0, spacing: 1, periodic: true });
  const descriptor = {
    schemaVersion: 1,
    name: "u",
    axes: { x: axis(NX), y: axis(NY), z: axis(NZ) },
    time: { count: 1 },
    fields: { velocity: { file: "u.h5", path: "/u", dimensions: ["z", "y", "x", "c"] } },
  };
  writeFileSync(join(folder, "dataset.json"), JSON.stringify(descriptor));
  const { datasets, problems } = scanFolders([folder], { chunkBytes: 2 ** 26 });
  return { dataset: datasets[0], problems: problems.map(({ message }) => message), path };
}

function velocityOf(dataset: Dataset | undefined): number[] {
  if (dataset === undefined) throw new Error("refused");
  return [...nodesOf(dataset, "velocity")];
}

function reasonOf(dataset: Dataset | undefined): string {
  try {
    velocityOf(dataset);
  } catch (error) {
    if (error instanceof DataError) return (error.cause as Error).message.replace(/^.*u\.h5: /, "");
    throw error;
  }
  return "read";
}

describe("files of h5py and hdf5plugin", () => {
  it.each(NAMES.filter((name) => !name.startsWith("refused")))("%s is read to the bit", (name) => {
    const { dataset, problems } = scanned(gunzipSync(readFileSync(join(FIXTURES, `${name}.h5.gz`))));
    expect(problems).toEqual([]);
    expect(velocityOf(dataset)).toEqual(expected());
  });

  it("refuses zfp whose header, kept among the parameters of the filter, has another size", () => {
    const content = gunzipSync(readFileSync(join(FIXTURES, "zfp-reversible.h5.gz")));
    const at = content.indexOf("zfp\x05") + 4;
    // A dimension less one behind the two bits of the type and the two of the dimensions.
    content.writeUInt32LE(content.readUInt32LE(at) + (1 << 4), at);
    expect(reasonOf(scanned(content).dataset)).toContain("it has 2560 bytes, not 1920");
  });

  it("refuses filters that are not read by name, with what helps", () => {
    const bzip2 = scanned(gunzipSync(readFileSync(join(FIXTURES, "refused-bzip2.h5.gz"))));
    expect(bzip2.problems).toEqual([
      expect.stringMatching(/through filter #307 \(bzip2\), which cannot be read; h5repack/),
    ]);
    const double = scanned(gunzipSync(readFileSync(join(FIXTURES, "refused-zfp-float64.h5.gz"))));
    expect(double.problems).toEqual([
      expect.stringMatching(/through filter #32013 \(zfp of float64\), which cannot be read; h5repack/),
    ]);
    const zlib = scanned(gunzipSync(readFileSync(join(FIXTURES, "refused-blosc-zlib.h5.gz"))));
    expect(reasonOf(zlib.dataset)).toContain("compressed by codec 3 of Blosc, which is not read");
  });

  it("reads any box of a filtered file", () => {
    const { dataset } = scanned(gunzipSync(readFileSync(join(FIXTURES, "lzf.h5.gz"))));
    const open = openDataset(dataset as Dataset);
    const part = (most: number) =>
      fc
        .tuple(fc.nat(most - 1), fc.nat(most - 1))
        .map(([a, b]): [number, number] => [Math.min(a, b), Math.abs(a - b) + 1]);
    fc.assert(
      fc.property(part(NX), part(NY), part(NZ), ([x0, nx], [y0, ny], [z0, nz]) => {
        const out = new Float32Array(3 * nx * ny * nz);
        open.readNodes("velocity", 0, { first: [x0, y0, z0], count: [nx, ny, nz] }, out);
        let at = 0;
        for (let z = z0; z < z0 + nz; z++)
          for (let y = y0; y < y0 + ny; y++)
            for (let x = x0; x < x0 + nx; x++)
              for (let c = 0; c < 3; c++) if (out[at++] !== value(x, y, z, c)) return false;
        return true;
      }),
      { numRuns: 200 },
    );
    open.close();
  });
});

/** A file of ours through a filter that h5wasm writes, by number. */
function written(compression: number, options: number[], libver: "earliest" | "latest" = "earliest"): Buffer {
  const path = join(SCRATCH, `${made++}.h5`);
  const file = new File(path, "w", { libver: [libver, "latest"] });
  const shape = [NZ, NY, NX, 3];
  const data = Float32Array.from(expected());
  file.create_dataset({
    name: "u",
    data,
    shape,
    maxshape: shape,
    chunks: CHUNK,
    dtype: "<f",
    compression,
    compression_opts: options,
  });
  file.close();
  return readFileSync(path);
}

describe("filters of plugins", () => {
  it.each([
    ["blosc2", 32026, []],
    ["bitshuffle with lz4", 32008, [0, 2]],
    ["bitshuffle alone", 32008, []],
    ["zstd", 32015, [3]],
    ["lz4", 32004, [0]],
  ] as const)("%s is read to the bit", (_, number, options) => {
    const { dataset, problems } = scanned(written(number, [...options]));
    expect(problems).toEqual([]);
    expect(velocityOf(dataset)).toEqual(expected());
  });
});

function firstChunk(content: Buffer): { address: number; bytes: number; entry: number } {
  const { path } = scanned(content);
  const file = openHdf5(path);
  const chunk = file.chunkIndex("/u")?.chunk([0, 0, 0, 0]);
  file.close();
  const { address, bytes } = chunk as { address: number; bytes: number };
  const head = Buffer.alloc(8);
  head.writeBigUInt64LE(BigInt(address));
  // The key of the chunk stands before its address: bytes, mask, and one offset a dimension and for the element.
  return { address, bytes, entry: content.indexOf(head) - 8 - 8 * (CHUNK.length + 1) };
}

/** The file with other bytes for its first chunk, and another mask. */
function withChunk(content: Buffer, chunk: Uint8Array | null, mask = 0): Buffer {
  const { address, bytes, entry } = firstChunk(content);
  const changed = Buffer.from(content);
  if (chunk !== null) {
    if (chunk.length > bytes) throw new Error(`${chunk.length} bytes do not fit into ${bytes}`);
    changed.set(chunk, address);
    changed.writeUInt32LE(chunk.length, entry);
  }
  changed.writeUInt32LE(mask, entry + 4);
  return changed;
}

/** The file with other bytes for its first chunk behind all that it holds, and another mask. */
function withChunkAtEnd(content: Buffer, chunk: Uint8Array, mask: number): Buffer {
  const { entry } = firstChunk(content);
  const changed = Buffer.concat([content, chunk]);
  changed.writeUInt32LE(chunk.length, entry);
  changed.writeUInt32LE(mask, entry + 4);
  changed.writeBigUInt64LE(BigInt(content.length), entry + 8 + 8 * (CHUNK.length + 1));
  // The superblock, of version 0, states the end of the file.
  changed.writeBigUInt64LE(BigInt(changed.length), 40);
  return changed;
}

function firstValues(): Uint8Array {
  const [nz, ny, nx] = CHUNK as [number, number, number];
  const all: number[] = [];
  for (let z = 0; z < nz; z++)
    for (let y = 0; y < ny; y++) for (let x = 0; x < nx; x++) for (let c = 0; c < 3; c++) all.push(value(x, y, z, c));
  return new Uint8Array(Float32Array.from(all).buffer);
}

describe("crafted chunks", () => {
  const fixture = (name: string) => gunzipSync(readFileSync(join(FIXTURES, `${name}.h5.gz`)));
  const whole = 4 * CHUNK.reduce((product, edge) => product * edge, 1);

  it("that inflate to fewer bytes than a chunk has are damage", () => {
    for (const bytes of [0, 4, whole - 1]) {
      const short = withChunk(fixture("gzip-shuffle"), deflateSync(new Uint8Array(bytes)));
      expect(reasonOf(scanned(short).dataset)).toBe(
        `/u: the chunk at 0, 0, 0, 0 is damaged: it has ${bytes} bytes, not ${whole}.`,
      );
    }
  });

  it("that inflate to more bytes are damage too, found before they take memory", () => {
    const bomb = withChunk(fixture("gzip-shuffle"), deflateSync(new Uint8Array(150_000), { level: 9 }));
    expect(reasonOf(scanned(bomb).dataset)).toMatch(/^\/u: the chunk at 0, 0, 0, 0 is damaged: gzip cannot be undone/);
  });

  it("that LZF and a checksum make too short are damage", () => {
    const lzf = withChunk(fixture("lzf"), Uint8Array.of(3, 1, 2, 3, 4));
    expect(reasonOf(scanned(lzf).dataset)).toContain(`it has 4 bytes, not ${whole}`);
    const sum = withChunk(fixture("fletcher32"), Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0));
    expect(reasonOf(scanned(sum).dataset)).toContain(`it has 4 bytes, not ${whole}`);
  });

  it("without a filter that have fewer bytes are damage", () => {
    const path = join(SCRATCH, `${made++}.h5`);
    const file = new File(path, "w", { libver: ["earliest", "latest"] });
    const shape = [NZ, NY, NX, 3];
    file.create_dataset({
      name: "u",
      data: Float32Array.from(expected()),
      shape,
      maxshape: shape,
      chunks: CHUNK,
      dtype: "<f",
    });
    file.close();
    const short = withChunk(readFileSync(path), new Uint8Array(64));
    expect(reasonOf(scanned(short).dataset)).toContain(`it has 64 bytes, not ${whole}`);
  });

  it.each([
    ["blosc-lz4-shuffle", 4],
    ["lz4", 4],
    ["zstd", 6],
  ] as const)("of %s that declare fewer bytes are damage before they are decoded", (name, at) => {
    const content = fixture(name);
    const { address, bytes } = firstChunk(content);
    const chunk = Buffer.from(content.subarray(address, address + bytes));
    chunk[at] = (chunk[at] as number) ^ 0x40;
    expect(reasonOf(scanned(withChunk(content, chunk)).dataset)).toMatch(
      /is damaged: it has \d+ bytes, not 1920|is damaged/,
    );
  });

  it("with a mask that leaves out a filter are damage, unless the bytes are those of a chunk without its compressor", () => {
    const name = "gzip-shuffle";
    expect(reasonOf(scanned(withChunk(fixture(name), null, 1)).dataset)).toContain("its mask leaves out shuffle");
    expect(reasonOf(scanned(withChunk(fixture(name), null, 2)).dataset)).toContain(`bytes, not ${whole}`);
    expect(reasonOf(scanned(withChunk(fixture(name), null, 4)).dataset)).toContain("filter 2, which it does not have");
    expect(reasonOf(scanned(withChunk(fixture(name), null, 3)).dataset)).toContain(`bytes, not ${whole}`);
    const [checked, raw] = [fixture("fletcher32"), firstValues()];
    expect(reasonOf(scanned(withChunk(checked, null, 1)).dataset)).toContain(`it has ${whole + 4} bytes, not ${whole}`);
    expect(reasonOf(scanned(withChunk(checked, raw.subarray(4), 1)).dataset)).toContain(`${whole - 4} bytes, not`);
    expect(reasonOf(scanned(withChunk(fixture("blosc-lz4-shuffle"), null, 1)).dataset)).toContain(
      `bytes, not ${whole}`,
    );
  });

  it.each([
    ["gzip-shuffle", 3],
    ["gzip-shuffle", 0xffff_ffff],
    ["lzf", 1],
    ["fletcher32", 1],
    ["blosc-lz4-shuffle", 1],
  ] as const)("of %s that a program stored as they are, by the mask %i, are read", (name, mask) => {
    const { dataset, problems } = scanned(withChunkAtEnd(fixture(name), firstValues(), mask));
    expect(problems).toEqual([]);
    expect(velocityOf(dataset)).toEqual(expected());
  });

  it("never give another number than was written, whichever bit of a checked chunk is flipped", () => {
    const content = fixture("gzip-shuffle-fletcher32-float64");
    const { address, bytes, entry } = firstChunk(content);
    const right = expected();
    const places = fc.oneof(
      fc.integer({ min: address, max: address + bytes - 1 }),
      fc.integer({ min: entry, max: entry + 7 }),
    );
    fc.assert(
      fc.property(places, fc.nat(7), (place, bit) => {
        const flipped = Buffer.from(content);
        flipped[place] = (flipped[place] as number) ^ (1 << bit);
        const { dataset } = scanned(flipped);
        try {
          return velocityOf(dataset).every((number, i) => number === right[i]);
        } catch (error) {
          return error instanceof DataError;
        }
      }),
      { numRuns: 100 },
    );
  });
});

describe("filters that are not read", () => {
  /** A file whose field is stored through gzip, renamed to another filter. */
  function renamed(filter: number): Buffer {
    const bytes = gunzipSync(readFileSync(join(FIXTURES, "gzip-shuffle.h5.gz")));
    // The number of a filter stands 8 bytes before its name.
    bytes.writeUInt16LE(filter, bytes.indexOf("deflate\0") - 8);
    return bytes;
  }

  it.each([
    [5, /filter #5 \(n-bit\), which cannot be read; h5repack/],
    [6, /filter #6 \(scale-offset\), which cannot be read; h5repack/],
    [32024, /filter #32024 \(sz3\), which cannot be read; h5repack/],
    [299, /filter #299, which cannot be read/],
  ])("are named, not called damage: %i", (filter, message) => {
    const path = join(SCRATCH, `renamed${filter}.h5`);
    writeFileSync(path, renamed(filter));
    const file = openHdf5(path);
    expect(() => file.numbers("/u")).toThrow(message);
    expect(() => file.numbers("/u")).not.toThrow(/damaged/);
    file.close();
  });

  it("are named when the file is scanned", () => {
    expect(scanned(renamed(5)).problems).toEqual([expect.stringMatching(/\/u is stored through filter #5 \(n-bit\)/)]);
  });
});

describe("a chunk that becomes more than it may", () => {
  const undo = (_filter: StoredFilter, _bytes: Uint8Array, length: number) => new Uint8Array(length);
  const chunk = { mask: 0, elementBytes: 4, chunkBytes: 4096, undo };
  const filters = (...ids: number[]) => ids.map((id) => ({ id, parameters: [] }));

  it("stops at the bytes of a chunk, whichever filter is undone here", () => {
    const bomb = deflateSync(Buffer.alloc(64 * 2 ** 20));
    const before = process.memoryUsage().arrayBuffers;
    expect(() => decode({ bytes: bomb, filters: filters(1), ...chunk })).toThrow(DataError);
    expect(() => decode({ bytes: bomb, filters: filters(2, 1), ...chunk })).toThrow(DataError);
    // A literal byte, then copies of it, 264 bytes by three.
    const run = Buffer.concat([Buffer.of(0, 7), ...Array.from({ length: 1000 }, () => Buffer.of(0xe0, 255, 0))]);
    expect(() => decode({ bytes: run, filters: filters(32000), ...chunk })).toThrow(DataError);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2 ** 20);
  });

  it.each([
    ["lz4", 32004],
    ["zstd", 32015],
    ["blosc", 32001],
    ["bitshuffle", 32008],
    ["szip", 4],
  ])("is refused by its own words, for %s", (name, id) => {
    const head = Buffer.alloc(32);
    head.writeBigUInt64BE(2n ** 32n);
    if (name === "zstd") head.set([0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0, 0, 1]);
    if (name === "blosc") head.writeUInt32LE(2 ** 31, 4);
    expect(() => decode({ bytes: head, filters: filters(id), ...chunk })).toThrow(DataError);
  });

  it("is refused behind two compressors, of which the outer one says nothing of the inner", () => {
    const head = Buffer.alloc(32);
    head.set([0x28, 0xb5, 0x2f, 0xfd, 0x60, 0, 15]);
    expect(decode({ bytes: head, filters: filters(32015), ...chunk })).toHaveLength(4096);
    expect(() => decode({ bytes: head, filters: filters(32015, 32015), ...chunk })).toThrow(/several compressors/);
  });
});
