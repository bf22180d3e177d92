/** References of HDF5 files: the places that h5py states, and stores that read as the file. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import type { Dataset as H5Dataset } from "h5wasm/node";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { STORE_DEFAULTS } from "../../../src/shared/store-settings.js";
import { openDataset } from "../../../src/storage/bricks/brick-reader.js";
import { scanFolders } from "../../../src/storage/catalog/scan-folders.js";
import { openSource } from "../../../src/storage/catalog/source.js";
import type { Dataset } from "../../../src/storage/file/dataset.js";
import { ReadBuffer } from "../../../src/storage/file/read-buffer.js";
import { openHdf5 } from "../../../src/storage/hdf5/file.js";
import { loadHdf5 } from "../../../src/storage/hdf5/library.js";
import { Hdf5File } from "../../../src/storage/hdf5-bytes/hdf5-file.js";
import { Stores } from "../../../src/storage/thread/stores.js";
import { type ReferenceList, referencesOf } from "../../../src/storage/tools/references.js";
import { registerCodecs } from "../../../src/storage/zarr/codecs.js";
import { nodeValue, type StoredSpec, stateGrid, writeField, writeHdf5 } from "../../support/cubes.js";
import { readNodes } from "../../support/read-nodes.js";
import { scratchFolder } from "../../support/scratch.js";
import { expectNodes } from "../zarr/numbered-cube.js";

const SCRATCH = scratchFolder();
const FIXTURES = fileURLToPath(new URL("../zarr/fixtures", import.meta.url));

registerCodecs();
beforeAll(() => loadHdf5());

function listOf(path: string, target: string): { list: ReferenceList; left: string[] } {
  const file = openHdf5(path);
  try {
    return referencesOf(file, target);
  } finally {
    file.close();
  }
}

describe("references of an HDF5 file", () => {
  it("name the chunks where h5py finds them", () => {
    const { refs } = JSON.parse(
      readFileSync(join(FIXTURES, "numbered.refs.json"), "utf8").replaceAll("{{file}}", "a.h5"),
    );
    const { list, left } = listOf(join(FIXTURES, "numbered.h5"), "a.h5");
    const chunks = (all: object) => Object.fromEntries(Object.entries(all).filter(([, value]) => Array.isArray(value)));
    expect(chunks(list.refs)).toEqual(chunks(refs));
    for (const name of ["p", "x", "time"]) {
      const said = (all: Record<string, unknown>) => JSON.parse(String(all[`${name}/.zarray`]));
      expect(said(list.refs)).toEqual({ ...said(refs), fill_value: null });
    }
    expect(left).toEqual([]);
  });

  const STORAGES: [string, Partial<StoredSpec>][] = [
    ["contiguous", {}],
    ["chunked without a filter", { chunks: [1, 4, 10, 5] }],
    ["compressed", { chunks: [2, 11, 5, 5], filter: "gzip" }],
    ["with checksums", { chunks: [2, 11, 5, 5], filter: "fletcher32" }],
  ];
  it.each(STORAGES)("make a store that reads as the file: %s", async (name, spec) => {
    const folder = join(SCRATCH, name);
    mkdirSync(join(folder, ".hidden"), { recursive: true });
    const path = await writeHdf5(join(folder, ".hidden", "flow.h5"), (file) => {
      stateGrid(file);
      writeField(file, "p", { dimensions: ["t", "z", "y", "x"], ...spec });
      file.create_dataset({ name: "time", data: Float64Array.of(0, 1, 2) });
    });
    const { list } = listOf(path, ".hidden/flow.h5");
    writeFileSync(join(folder, "flow.refs.json"), JSON.stringify(list));
    const { datasets, problems } = scanFolders([folder], { chunkBytes: 1 << 26 });
    expect(problems).toEqual([]);
    expectNodes(datasets[0] as Dataset, "pressure", 1);
  });

  it.each([
    ["ends with the grid", 3 * 10 * 5 * 4],
    ["lacks a byte", 4 * 10 * 5 * 4 - 1],
    ["has a value more", 4 * 10 * 5 * 4 + 4],
  ])("are refused for a chunk at the edge of the grid that %s: stores keep whole chunks", async (name, bytes) => {
    const folder = join(SCRATCH, name);
    mkdirSync(join(folder, ".hidden"), { recursive: true });
    const path = await writeHdf5(join(folder, ".hidden", "flow.h5"), (file) => {
      stateGrid(file);
      writeField(file, "p", { dimensions: ["t", "z", "y", "x"], chunks: [1, 4, 10, 5] });
      file.create_dataset({ name: "time", data: Float64Array.of(0, 1, 2) });
    });
    const { refs } = listOf(path, ".hidden/flow.h5").list;
    const [target, offset, length] = refs["p/0.2.0.0"] as readonly [string, number, number];
    expect(length).toBe(4 * 10 * 5 * 4);
    const list = { version: 1, refs: { ...refs, "p/0.2.0.0": [target, offset, bytes] } };
    writeFileSync(join(folder, "flow.refs.json"), JSON.stringify(list));
    const [dataset] = scanFolders([folder], { chunkBytes: 1 << 26 }).datasets as [Dataset];
    const open = openDataset(dataset);
    const nodeAt = (z: number): number => {
      const out = new Float32Array(1);
      open.readNodes("pressure", 0, { first: [0, 0, z], count: [1, 1, 1] }, out);
      return out[0] as number;
    };
    expect(nodeAt(7)).toBe(Math.fround(nodeValue({ t: 0, z: 7, y: 0, x: 0, c: 0 })));
    for (const z of [8, 9, 10]) expect(() => nodeAt(z)).toThrow(/pressure of frame 0 cannot be read/);
    open.close();
  });

  it("leave out an array with a chunk that did not go through its filters: a store would undo them", async () => {
    const path = await writeHdf5(join(SCRATCH, "unfiltered.h5"), (file) => {
      writeField(file, "p", { dimensions: ["z", "y", "x"], chunks: [4, 10, 5], filter: "gzip" });
    });
    expect(listOf(path, "a.h5").left).toEqual([]);
    const file = openHdf5(path);
    const { address } = file.placement("/p").chunk([4, 0, 5]) as { address: number };
    file.close();
    const content = readFileSync(path);
    const place = Buffer.alloc(8);
    place.writeBigUInt64LE(BigInt(address));
    // Its key stands before its address: bytes, mask, and one offset a dimension and for the element.
    content.writeUInt32LE(1, content.indexOf(place) - 8 * 4 - 4);
    writeFileSync(path, content);
    const { list, left } = listOf(path, "a.h5");
    expect(Object.keys(list.refs)).toEqual([".zgroup", ".zattrs"]);
    expect(left).toEqual([
      "/p is left out: its chunk at 4, 0, 5 did not go through all of its filters, which a store of Zarr cannot say",
    ]);
  });

  it("are read by ourselves if the file marks nothing with a list of one NaN, as xarray writes it", async () => {
    const path = await writeHdf5(join(SCRATCH, "xarray.h5"), (file) => {
      writeField(file, "p", { dimensions: ["z", "y", "x"], chunks: [4, 10, 5] });
      const p = file.get("p") as H5Dataset;
      p.create_attribute("_FillValue", [Number.NaN], [1], "<f");
      p.create_attribute("valid_range", [-1e9, 1e9], [2], "<d");
    });
    const list = join(SCRATCH, "xarray.refs.json");
    writeFileSync(list, JSON.stringify(listOf(path, "xarray.h5").list));
    const answers = { dims: ["z", "y", "x"], spacing: [1, 1, 1], origin: [0, 0, 0], periodic: [], times: [0] };
    const dataset = openSource(list, 2 ** 26, answers);
    const open = openDataset(dataset);
    expect(readNodes(dataset, open, "pressure", 0)[1]).toBe(nodeValue({ t: 0, z: 0, y: 0, x: 1, c: 0 }));
    open.close();
  });

  it.each([
    [
      "nothing marks them: the file and the list refuse them in the same words",
      null,
      /\/p was never written at 4, 0, 0/,
    ],
    ["the file marks nothing by this value", 0, null],
  ] as const)("read chunks that were never written as their file does if %s", async (name, marked, refusal) => {
    const folder = join(SCRATCH, `gap ${name.slice(0, 12)} ${marked}`);
    mkdirSync(join(folder, ".hidden"), { recursive: true });
    const path = await writeHdf5(join(folder, ".hidden", "flow.h5"), (file) => {
      const data = new Float32Array(200).fill(1);
      file.create_dataset({ name: "p", data, shape: [4, 10, 5], maxshape: [11, 10, 5], chunks: [4, 10, 5] });
      const p = file.get("p") as H5Dataset;
      p.resize([11, 10, 5]);
      if (marked === 0) p.create_attribute("_FillValue", 0, [], "<f");
    });
    const list = join(folder, "flow.refs.json");
    writeFileSync(list, JSON.stringify(listOf(path, ".hidden/flow.h5").list));
    const answers = { dims: ["z", "y", "x"], spacing: [1, 1, 1], origin: [0, 0, 0], periodic: [], times: [0] };
    const found = [path, list].map((place) => {
      const dataset = openSource(place, 2 ** 26, answers);
      const open = openDataset(dataset);
      const out = new Float32Array(11);
      try {
        open.readNodes("pressure", 0, { first: [0, 0, 0], count: [1, 1, 11] }, out);
        return [...out].join();
      } catch (error) {
        return (
          /\/p was never written at [\d, ]*\d/.exec(`${(error as Error).cause}`)?.[0] ?? `${(error as Error).cause}`
        );
      } finally {
        open.close();
      }
    });
    expect(found[1]).toBe(found[0]);
    if (refusal === null) expect(found[0]).toBe("1,1,1,1,NaN,NaN,NaN,NaN,NaN,NaN,NaN");
    else expect(found[0]).toMatch(refusal);
  });

  const PACKED = new URL("../hdf5-bytes/filters/fixtures/", import.meta.url);
  it.each([
    "lzf-shuffle-fletcher32-big-endian",
    "gzip-shuffle-fletcher32-float64",
    "lzf",
    "zstd",
    "blosc-lz4-shuffle",
    "blosc-zstd-big-endian",
  ])("read as the file: %s", async (name) => {
    const folder = join(SCRATCH, `packed-${name}`);
    mkdirSync(folder);
    const path = join(folder, "u.h5");
    writeFileSync(path, gunzipSync(readFileSync(new URL(`${name}.h5.gz`, PACKED))));
    const { list, left } = listOf(path, "u.h5");
    expect(left).toEqual([]);
    const store = join(folder, "u.refs.json");
    writeFileSync(store, JSON.stringify(list));
    const stores = new Stores({ settings: STORE_DEFAULTS, disk: null });
    const { newestMs, entries } = await stores.open({ store });
    expect(entries["/u"]).toMatchObject({ unknownCodecs: [] });
    const file = openHdf5(path);
    const box = { offset: [0, 0, 0, 0], count: file.describe("/u").shape };
    const values = Array.from(file.readHyperslab("/u", file.describe("/u"), box, new ReadBuffer()));
    file.close();
    expect(Array.from((await stores.read({ store, newestMs, path: "/u", ...box })) as Float32Array)).toEqual(values);
  });

  it("leave out what a store cannot name, and say so", async () => {
    const path = await writeHdf5(join(SCRATCH, "checked.h5"), (file) => {
      file.create_dataset({ name: "title", data: "a flow" });
    });
    const { list, left } = listOf(path, "checked.h5");
    expect(Object.keys(list.refs)).toEqual([".zgroup", ".zattrs"]);
    expect(left).toEqual(["/title is left out: it holds no numbers"]);
  });

  it("leave out an array of more chunks than a list may name, however few bytes the file has", async () => {
    const path = await writeHdf5(join(SCRATCH, "declared.h5"), (file) => {
      writeField(file, "p", { dimensions: ["z", "y", "x"] });
    });
    const own = openHdf5(path);
    const known = own.describe("/p");
    own.close();
    const stored = vi.spyOn(Hdf5File.prototype, "describe");
    stored.mockReturnValue({ ...known, shape: [2 ** 33, 2 ** 28, 1] });
    const { left } = listOf(path, "a.h5");
    stored.mockRestore();
    expect(left).toEqual([
      expect.stringMatching(/^\/p is left out: it has \d+ chunks, and a list names at most 1000000$/),
    ]);
  });
});
