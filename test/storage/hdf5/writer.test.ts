/** The HDF5 writer: what is written reads back, misfit slabs are refused, and nothing unfinished looks finished. */
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Dataset, File, ready } from "h5wasm/node";
import { describe, expect, it, vi } from "vitest";
import { isFullDisk } from "../../../src/shared/system.js";
import { completeFolder, digestFile } from "../../../src/storage/catalog/manifest.js";
import { type DatasetShape, FILTERS, Hdf5Writer } from "../../../src/storage/hdf5/writer.js";
import { eachScratchFolder } from "../../support/scratch.js";

let folder: string;
eachScratchFolder((path) => {
  folder = path;
});

const ramp = (length: number, first = 0) => Float32Array.from({ length }, (_, i) => first + i / 7);

/** A (5, 6) dataset in chunks of (2, 4), written as four slabs. */
const SMALL: DatasetShape = { path: "/deep/u", type: "float32", shape: [5, 6], chunks: [2, 4], filter: "none" };
async function writeSmall(path: string, filter: DatasetShape["filter"]): Promise<void> {
  const writer = await Hdf5Writer.create(path);
  const write = writer.dataset({ ...SMALL, filter });
  write([0, 0], [4, 4], ramp(16));
  write([0, 4], [4, 2], ramp(8, 100));
  write([4, 0], [1, 4], ramp(4, 200));
  write([4, 4], [1, 2], ramp(2, 300));
  writer.whole("/deep/mode", "int32", [2, 3], Int32Array.of(1, -2, 3, -4, 5, -6));
  writer.whole("/time", "float64", [2], Float64Array.of(0.1, Math.PI));
  writer.attribute("viscosity", 0.03);
  writer.attribute("seed", 7);
  writer.attribute("origin", "made by a test");
  writer.close();
}

describe("Hdf5Writer", () => {
  it.each(FILTERS)("stores slabs, small arrays and attributes with filter %s", async (filter) => {
    const path = join(folder, "a.h5");
    await writeSmall(path, filter);
    await ready;
    const file = new File(path, "r");
    try {
      const u = file.get("/deep/u") as Dataset;
      expect(u.shape).toEqual([5, 6]);
      expect(u.metadata.chunks).toEqual([2, 4]);
      expect(u.dtype).toBe("<f");
      expect(u.filters.map((used) => used.name)).toEqual(filter === "none" ? [] : [filter.replace("gzip", "deflate")]);
      const expected = new Float32Array(30);
      for (let i = 0; i < 5; i++) {
        for (let j = 0; j < 6; j++) {
          const [first, index] =
            i < 4 ? (j < 4 ? [0, 4 * i + j] : [100, 2 * i + j - 4]) : j < 4 ? [200, j] : [300, j - 4];
          expected[6 * i + j] = first + index / 7;
        }
      }
      expect(u.value).toEqual(expected);
      expect((file.get("/deep/mode") as Dataset).value).toEqual(Int32Array.of(1, -2, 3, -4, 5, -6));
      expect((file.get("/time") as Dataset).value).toEqual(Float64Array.of(0.1, Math.PI));
      expect(file.get_attribute("viscosity", true)).toBe(0.03);
      expect(file.get_attribute("seed", true)).toBe(7);
      expect(file.get_attribute("origin", true)).toBe("made by a test");
    } finally {
      file.close();
    }
  });

  it("writes equal bytes at different times", async () => {
    const now = vi.spyOn(Date, "now");
    await writeSmall(join(folder, "a.h5"), "gzip");
    now.mockReturnValue(Date.UTC(2031, 4, 6));
    await writeSmall(join(folder, "b.h5"), "gzip");
    now.mockRestore();
    expect(await digestFile(join(folder, "a.h5"))).toEqual(await digestFile(join(folder, "b.h5")));
  });

  it.each([
    ["past the end", [4, 0], [2, 6], 12],
    ["before the start", [-1, 0], [2, 6], 12],
    ["of the wrong rank", [0], [5], 5],
    ["with too few values", [0, 0], [2, 6], 11],
    ["of no elements", [0, 0], [0, 6], 0],
    ["away from the origin first", [2, 0], [2, 6], 12],
  ])("refuses a slab %s", async (_, start, count, length) => {
    const writer = await Hdf5Writer.create(join(folder, "a.h5"));
    const write = writer.dataset(SMALL);
    expect(() => write(start, count, ramp(length))).toThrow(RangeError);
    writer.discard();
    expect(readdirSync(folder)).toEqual([]);
  });

  it("refuses a contiguous dataset in parts", async () => {
    const writer = await Hdf5Writer.create(join(folder, "a.h5"));
    const write = writer.dataset({ ...SMALL, chunks: null });
    expect(() => write([0, 0], [2, 6], ramp(12))).toThrow(/first slab/);
    writer.discard();
  });

  it("shows the file only when it is complete", async () => {
    const path = join(folder, "a.h5");
    const writer = await Hdf5Writer.create(path);
    writer.dataset(SMALL)([0, 0], [4, 6], ramp(24));
    expect(existsSync(path)).toBe(false);
    expect(() => writer.close()).toThrow("/deep/u: 6 elements were not written");
    expect(readdirSync(folder)).toEqual([]);
  });

  it("says in one line why a file cannot be written, and leaves nothing of it", async () => {
    const homeless = join(folder, "nowhere", "a.h5");
    await expect(writeSmall(homeless, "none")).rejects.toThrow(`${homeless} cannot be written: No such file or`);
    const path = join(folder, "a.h5");
    symlinkSync("/dev/full", `${path}.partial`);
    const full = await writeSmall(path, "none").catch((error: unknown) => error);
    expect(String(full)).toContain(`${path} cannot be written: No space left on device`);
    expect(isFullDisk(full)).toBe(true);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("keeps the file that was there until its successor is complete", async () => {
    const path = join(folder, "a.h5");
    await writeSmall(path, "none");
    const before = await digestFile(path);
    const writer = await Hdf5Writer.create(path);
    writer.dataset(SMALL)([0, 0], [4, 6], ramp(24));
    writer.discard();
    expect(await digestFile(path)).toEqual(before);
  });
});

describe("completeFolder", () => {
  it("lists sizes and digests in the order of the names and writes the descriptor", async () => {
    writeFileSync(join(folder, "b.h5"), "abc");
    writeFileSync(join(folder, "a.h5"), "");
    const manifest = await completeFolder(folder, { schemaVersion: 1 }, ["b.h5", "a.h5"]);
    // SHA-256 of "" and "abc": FIPS 180-2, appendix B.
    expect(Object.entries(manifest.files)).toEqual([
      ["a.h5", { bytes: 0, sha256: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" }],
      ["b.h5", { bytes: 3, sha256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" }],
    ]);
    expect(JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8"))).toEqual(manifest);
    expect(JSON.parse(readFileSync(join(folder, "dataset.json"), "utf8"))).toEqual({ schemaVersion: 1 });
  });

  it("leaves no descriptor when a file is missing", async () => {
    await expect(completeFolder(folder, { schemaVersion: 1 }, ["a.h5"])).rejects.toThrow(/ENOENT/);
    expect(readdirSync(folder)).toEqual([]);
  });
});
