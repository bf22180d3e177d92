/**
 * Zarr stores in folders: every version, order, type and codec reads as the same nodes, and what is not known is
 * refused.
 */
import { cpSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { deflateSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { openDataset } from "../../../src/storage/bricks/brick-reader.js";
import { scanFolders } from "../../../src/storage/catalog/scan-folders.js";
import type { Dataset } from "../../../src/storage/dataset/dataset.js";
import { type Dimension, nodeValue } from "../../support/cubes.js";
import { onlyDataset } from "../../support/only-dataset.js";
import { confirmFile } from "../../support/open-confirmed.js";
import { readNodes } from "../../support/read-nodes.js";
import { scratchFolder } from "../../support/scratch.js";
import { type ArraySpec, type StoreSpec, writeKnownZarr } from "../../support/zarr.js";
import { array, CHUNKS, expectNodes, failureOf, firstBrick, SNAPSHOT, TABLES } from "../zarr/numbered-cube.js";

const SCRATCH = scratchFolder();
const OPTIONS = { chunkBytes: 64 * 1024 * 1024 };
let stores = 0;
function write(spec: StoreSpec): string {
  return writeKnownZarr(join(SCRATCH, `folder${++stores}`, `store${stores}.zarr`), spec);
}

function scan(store: string): { datasets: readonly Dataset[]; problems: readonly string[] } {
  const { datasets, problems } = scanFolders([dirname(store)], OPTIONS);
  return { datasets, problems: problems.map(({ message }) => message) };
}

const only = (store: string): Dataset => onlyDataset(dirname(store));

const KINDS: [string, 2 | 3, Partial<ArraySpec>, boolean][] = [
  ["Zarr 2, uncompressed", 2, {}, false],
  ["Zarr 2, consolidated, zlib, big-endian", 2, { codec: "zlib", bigEndian: true }, true],
  ["Zarr 2, float64 in Fortran order, gzip", 2, { type: "float64", fortran: true, codec: "gzip" }, false],
  ["Zarr 3, uncompressed, big-endian", 3, { bigEndian: true }, false],
  ["Zarr 3, consolidated, gzip", 3, { codec: "gzip" }, true],
  ["Zarr 3, transposed float64", 3, { type: "float64", fortran: true, codec: "gzip" }, false],
];

describe.each(KINDS)("%s", (_, version, members, consolidated) => {
  it("reads separate components and a pressure", () => {
    const order: Dimension[] = ["t", "z", "y", "x"];
    const arrays = {
      u: array(order, members, 0),
      v: array(order, members, 1),
      w: array(order, members, 2),
      p: array(order, members, 0),
      ...TABLES,
    };
    const dataset = only(write({ version, arrays, consolidated }));
    expect(dataset.name).toBe(`store${stores}`);
    expectNodes(dataset, "velocity", 3);
    expectNodes(dataset, "pressure", 1);
  });

  it("takes the order of the axes from the names of the dimensions", () => {
    const arrays = { velocity: array(["x", "y", "t", "z", "c"], members), ...TABLES };
    expectNodes(only(write({ version, arrays, consolidated })), "velocity", 3);
  });
});

describe("shards", () => {
  it("reads inner chunks, also of a shard that reaches beyond the array", () => {
    const arrays = { velocity: array(["t", "z", "y", "x", "c"], { shard: [1, 2, 1, 2, 1], codec: "gzip" }), ...TABLES };
    const dataset = only(write({ version: 3, arrays }));
    expect(dataset.warnings.join()).not.toContain("not there");
    expectNodes(dataset, "velocity", 3);
  });

  it("refuses a shard whose index fails its checksum", () => {
    const arrays = { velocity: array(["t", "z", "y", "x", "c"], { shard: [1, 3, 1, 3, 1] }), ...TABLES };
    const store = write({ version: 3, arrays });
    const dataset = only(store);
    const shard = join(store, "velocity", "c/0/0/0/0/0");
    const bytes = readFileSync(shard);
    // The lowest byte of the offset of the last chunk: one element further.
    bytes[bytes.length - 20] = (bytes.at(-20) as number) + 4;
    keepingTime(shard, () => writeFileSync(shard, bytes));
    expect(() => firstBrick(dataset, "velocity")).toThrow(/velocity of frame 0 cannot be read/);
  });
});

/** Changes a file in such a way that its time stays. */
function keepingTime(path: string, change: () => void): void {
  change();
  utimesSync(path, 1, 1);
}

describe("a store of xarray with blosc, zstd and lz4", () => {
  const objects = JSON.parse(readFileSync(new URL("../zarr/fixtures/codecs.json", import.meta.url), "utf8"));

  function unpack(name: string): string {
    const store = join(SCRATCH, `${name}-folder`, `${name}.zarr`);
    for (const [key, text] of Object.entries(objects as Record<string, string>)) {
      const path = join(store, key);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, Buffer.from(text, "base64"));
    }
    confirmFile(store);
    return store;
  }

  it("reads as its nodes", () => {
    const dataset = only(unpack("codecs"));
    expectNodes(dataset, "velocity", 3);
    expectNodes(dataset, "pressure", 1);
  });

  it.each(["u", "v", "w", "p"])("refuses a chunk of %s that is cut short", (name) => {
    const store = unpack(`cut-${name}`);
    const dataset = only(store);
    const chunk = join(store, name, "0.0.0");
    keepingTime(chunk, () => writeFileSync(chunk, readFileSync(chunk).subarray(0, 60)));
    expect(() => firstBrick(dataset, name === "p" ? "pressure" : "velocity")).toThrow(/of frame 0 cannot be read/);
  });
});

describe("damage", () => {
  const codecs = ["none", "gzip", "zlib"] as const;
  const CASES = codecs.flatMap((codec) => [
    { codec, what: "cut short", change: (bytes: Buffer) => bytes.subarray(0, bytes.length - 8) },
    { codec, what: "empty", change: () => Buffer.alloc(0) },
  ]);
  const short = { gzip: gzipSync(Buffer.alloc(64)), zlib: deflateSync(Buffer.alloc(64)) };
  const CRAFTED = (["gzip", "zlib"] as const).map((codec) => ({
    codec,
    what: "whole, but of fewer elements",
    change: () => short[codec],
  }));

  it.each([...CASES, ...CRAFTED])("refuses a chunk with codec $codec that is $what", ({ codec, change }) => {
    const store = write({ version: 2, arrays: { p: array(["z", "y", "x"], { codec }), ...SNAPSHOT } });
    const dataset = only(store);
    const chunk = join(store, "p", "0.0.0");
    keepingTime(chunk, () => writeFileSync(chunk, change(readFileSync(chunk))));
    expect(() => firstBrick(dataset, "pressure")).toThrow(/pressure of frame 0 cannot be read/);
  });
});

describe("what is not there", () => {
  const order: Dimension[] = ["z", "y", "x"];

  it.each([2, 3] as const)("is the fill value of a float array of Zarr %i that says so, and counted", (version) => {
    const skip = (chunk: readonly number[]) => chunk.every((index) => index === 0);
    const attributes = { missing: "fill" };
    const dataset = only(write({ version, arrays: { p: array(order, { skip, fill: 0, attributes }), ...SNAPSHOT } }));
    const count = Math.ceil(11 / CHUNKS.z) * Math.ceil(10 / CHUNKS.y) * Math.ceil(12 / CHUNKS.x);
    expect(dataset.warnings).toContainEqual(expect.stringMatching(`: /p: 1 of ${count} chunks are not there\\.$`));
    const open = openDataset(dataset);
    const values = readNodes(dataset, open, "pressure", 0);
    open.close();
    for (const [index, value] of values.entries()) {
      const [z, y, x] = [Math.floor(index / 120), Math.floor(index / 12) % 10, index % 12];
      const missing = z < CHUNKS.z && y < CHUNKS.y && x < CHUNKS.x;
      expect(value).toBe(missing ? 0 : nodeValue({ t: 0, z, y, x, c: 0 }));
    }
  });

  it("is an error in any other array, with the way out", () => {
    const skip = (chunk: readonly number[]) => chunk.every((index) => index === 0);
    const dataset = only(write({ version: 3, arrays: { p: array(order, { skip, fill: "NaN" }), ...SNAPSHOT } }));
    const error = failureOf(() => firstBrick(dataset)) as Error;
    expect(error.message).toMatch(/pressure of frame 0 cannot be read/);
    expect(String(error.cause)).toMatch(/chunk 0\.0\.0 of \/p is not there; .*"missing": "fill"/);
  });

  it("is NaN in packed integers", () => {
    const packed = array(order, {
      type: "int16",
      fill: -999,
      skip: (chunk) => chunk.every((index) => index === 0),
      attributes: { scale_factor: 0.5, add_offset: 10, missing: "fill" },
    });
    const dataset = only(write({ version: 2, arrays: { p: packed, ...SNAPSHOT } }));
    const open = openDataset(dataset);
    const values = readNodes(dataset, open, "pressure", 0);
    open.close();
    expect(values[0]).toBeNaN();
    expect(values[11]).toBe(Math.fround(nodeValue({ t: 0, z: 0, y: 0, x: 11, c: 0 }) * 0.5 + 10));
  });

  it.each(["scale_factor", "add_offset", "unitSI"])("is no reading of %s that is true", (name) => {
    const dataset = { p: array(order, { attributes: { [name]: true } }), ...SNAPSHOT };
    expect(scan(write({ version: 3, arrays: dataset })).problems.join("\n")).toContain(`${name} is not a number`);
  });

  it("is a refusal where a coordinate is missing", () => {
    const { x: _, ...tables } = SNAPSHOT;
    const { problems } = scan(write({ version: 3, arrays: { p: array(order), ...tables } }));
    expect(problems.join("\n")).toMatch(/needs a look/);
  });
});

describe("changes", () => {
  const arrays = { p: array(["z", "y", "x"]), ...SNAPSHOT };

  it("refuses a chunk that was written after the catalogue was read, and serves it after the next scan", () => {
    const store = write({ version: 3, arrays });
    const dataset = only(store);
    const chunk = join(store, "p", "c/0/0/0");
    const bytes = readFileSync(chunk);
    bytes.writeFloatLE(42, 0);
    writeFileSync(chunk, bytes);
    utimesSync(chunk, Date.now() / 1000 + 10, Date.now() / 1000 + 10);
    expect(() => firstBrick(dataset, "pressure")).toThrow(/pressure of frame 0 cannot be read/);
    const again = only(store);
    expect(again.digest).not.toBe(dataset.digest);
    expect(firstBrick(again, "pressure")[0]).toBe(42);
  });

  it("refuses a chunk that was replaced in place with its time restored, and serves it after the next scan", async () => {
    const store = write({ version: 3, arrays });
    const dataset = only(store);
    // Times of changes are those of the kernel's last tick, up to 10 ms ago: the store was written in an earlier one.
    await setTimeout(20);
    const chunk = join(store, "p", "c/0/0/0");
    const [{ atime, mtime }, bytes] = [statSync(chunk), readFileSync(chunk)];
    bytes.writeFloatLE(43, 0);
    writeFileSync(chunk, bytes);
    utimesSync(chunk, atime, mtime);
    expect(() => firstBrick(dataset, "pressure")).toThrow(/pressure of frame 0 cannot be read/);
    const again = only(store);
    expect(again.files).not.toEqual(dataset.files);
    expect(firstBrick(again, "pressure")[0]).toBe(43);
  });

  it("keeps the dataset where nothing has changed", () => {
    const store = write({ version: 3, arrays });
    expect(only(store)).toEqual(only(store));
  });

  it("refuses a copy that replaces the folder", () => {
    const store = write({ version: 3, arrays });
    const dataset = only(store);
    cpSync(store, `${store}.copy`, { recursive: true });
    rmSync(store, { recursive: true });
    cpSync(`${store}.copy`, store, { recursive: true });
    expect(() => firstBrick(dataset, "pressure")).toThrow(/pressure of frame 0 cannot be read|is not the/);
  });
});

describe("refusals", () => {
  it.each(["sz3", "lzma", "pcodec"])("names the codec %s, which is not known", (unknown) => {
    const { problems } = scan(
      write({ version: 3, arrays: { p: array(["z", "y", "x"], { codec: { unknown } }), ...SNAPSHOT } }),
    );
    expect(problems.join("\n")).toContain(unknown);
  });

  it("names a codec whose configuration is not read, before any query", () => {
    const store = write({ version: 2, arrays: { p: array(["z", "y", "x"]), ...SNAPSHOT } });
    const path = join(store, "p", ".zarray");
    const document = JSON.parse(readFileSync(path, "utf8")) as object;
    writeFileSync(path, JSON.stringify({ ...document, filters: [{ id: "delta", dtype: "<i4" }] }));
    rmSync(join(store, ".zmetadata"), { force: true });
    const { datasets, problems } = scan(store);
    expect(datasets).toEqual([]);
    expect(problems.join("\n")).toMatch(/stored with delta of <i4 as <i4, which is not read/);
  });

  it("refuses links inside a store", () => {
    const store = write({ version: 3, arrays: { p: array(["z", "y", "x"]), ...SNAPSHOT } });
    symlinkSync("/etc/hostname", join(store, "p", "c/0/0/9"));
    expect(scan(store).problems.join("\n")).toMatch(/9 is a link, which is refused/);
  });

  it("refuses metadata that are no JSON, in one line, and serves its neighbours", () => {
    const store = write({ version: 3, arrays: { p: array(["z", "y", "x"]), ...SNAPSHOT } });
    const other = writeKnownZarr(join(dirname(store), "good.zarr"), {
      version: 2,
      arrays: { p: array(["z", "y", "x"]), ...SNAPSHOT },
    });
    writeFileSync(join(store, "p", "zarr.json"), "{");
    const { datasets, problems } = scan(other);
    expect(datasets.map(({ name }) => name)).toEqual(["good"]);
    expect(problems).toEqual([expect.stringMatching(/^[^\n]*p\/zarr.json is not readable as JSON$/)]);
  });
});
