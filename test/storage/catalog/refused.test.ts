/** The scan of real files refuses some of them with one clear line each, and serves everything else. */
import { appendFileSync, mkdirSync, readFileSync, renameSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { File, Group, Dataset as H5Dataset } from "h5wasm/node";
import { beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { scanFolders } from "../../../src/storage/catalog/scan-folders.js";
import { openHdf5 } from "../../../src/storage/hdf5/file.js";
import { OpenBytes } from "../../../src/storage/hdf5-bytes/open-bytes.js";
import {
  type Dimension,
  descriptor,
  FRAMES,
  NODES,
  parentOf,
  stateGrid,
  writeDescriptor,
  writeField,
  writeHdf5,
} from "../../support/cubes.js";
import { confirmFile, openConfirmed } from "../../support/open-confirmed.js";
import { makeVirtual, SPARE, takeValues, useExternalStorage, useForeignFilter } from "../../support/patched-files.js";
import { folderIn, scratchFolder } from "../../support/scratch.js";

const SCRATCH = scratchFolder();
const OPTIONS = { chunkBytes: 64 * 1024 * 1024 };
const ORDER: Dimension[] = ["t", "z", "y", "x"];
const OPEN = { nodes: NODES.z, origin: 0, spacing: 1 };
const PRESSURE = { file: "p.h5", path: "/p", dimensions: ORDER };
const SHAPE = [FRAMES, NODES.z, NODES.y, NODES.x];
const SIZE = SHAPE.reduce((product, length) => product * length, 1);

/** Scans one folder with a file `p.h5` and a descriptor, and returns the messages about it. */
async function refusals(
  name: string,
  write: (file: File) => void,
  members: Record<string, unknown> = {},
  options = OPTIONS,
): Promise<string[]> {
  const folder = folderIn(SCRATCH, name.replaceAll(" ", "-"));
  await writeHdf5(join(folder, "p.h5"), write);
  writeDescriptor(folder, descriptor("refused", { fields: { pressure: PRESSURE }, ...members }));
  const { datasets, problems } = scanFolders([folder], options);
  expect(datasets).toEqual([]);
  return problems.map(({ message }) => message);
}

const good = (file: File) => writeField(file, "/p", { dimensions: ORDER });

function typed(file: File, data: ArrayLike<number> & ArrayBufferView): void {
  file.create_dataset({ name: "p", data: data as Float32Array, shape: SHAPE });
}

/** A name for what is wrong, how to write it, other members of the descriptor, and what must be said. */
const CASES: [string, (file: File) => void, Record<string, unknown>, RegExp][] = [
  ["integers", (file) => typed(file, new Int32Array(SIZE)), {}, /holds integer elements of 4 bytes, .*scale_factor/],
  [
    "packed integers of 8 bytes",
    (file) => {
      file.create_dataset({ name: "p", data: new BigInt64Array(SIZE) as never, shape: SHAPE, dtype: "<q" });
      (file.get("p") as H5Dataset).create_attribute("scale_factor", 0.5);
    },
    {},
    /holds integer elements of 8 bytes, not float32 or float64$/,
  ],
  [
    "strings",
    (file) =>
      file.create_dataset({ name: "p", data: Array.from({ length: SIZE }, () => "a"), shape: SHAPE, dtype: "S4" }),
    {},
    /holds string elements/,
  ],
  [
    "compound",
    (file) => {
      const column = () => new Float32Array(SIZE);
      file.create_dataset({
        name: "p",
        data: new Map([
          ["re", column()],
          ["im", column()],
        ]) as never,
        shape: SHAPE,
        dtype: [
          ["re", "<f"],
          ["im", "<f"],
        ] as never,
      });
    },
    {},
    /holds other elements of 8 bytes, .*complex and compound values are not fields/,
  ],
  ["an external link", (file) => file.create_external_link("other.h5", "/p", "p"), {}, /external link to other\.h5/],
  [
    "a soft link through an external one",
    (file) => {
      file.create_external_link("other.h5", "/", "elsewhere");
      file.create_soft_link("/elsewhere/p", "p");
    },
    {},
    /external link to other\.h5/,
  ],
  ["a dangling link", (file) => file.create_soft_link("/nothing", "p"), {}, /\/p does not exist/],
  [
    "links in a circle",
    (file) => {
      file.create_soft_link("/q", "p");
      file.create_soft_link("/p", "q");
    },
    {},
    /chain of too many links/,
  ],
  ["a group", (file) => file.create_group("p"), {}, /\/p is not a dataset/],
  ["no member", (file) => writeField(file, "/q", { dimensions: ORDER }), {}, /\/p does not exist/],
  [
    "too few nodes",
    (file) => writeField(file, "/p", { dimensions: ORDER, lengths: { y: NODES.y - 1 } }),
    {},
    /has shape 3 x 11 x 9 x 12: dimension y must have 10/,
  ],
  [
    "too few frames",
    (file) => writeField(file, "/p", { dimensions: ORDER, lengths: { t: 2 } }),
    {},
    /dimension t must have 3/,
  ],
  [
    "a wrong rank",
    good,
    { fields: { pressure: { ...PRESSURE, dimensions: [...ORDER, "c"] } } },
    /names 5 \(t z y x c\)/,
  ],
  [
    "a shape that is not that of the values",
    good,
    { fields: { pressure: { ...PRESSURE, shape: [FRAMES, NODES.z, NODES.y, 1] } } },
    /do not fill/,
  ],
  ["descending times", good, { time: { values: [0, 2, 1] } }, /^\$\.time\.values\[2\]/],
  ["a wrong name", good, { name: "../escape" }, /^\$\.name/],
  ["a missing file", good, { fields: { pressure: { ...PRESSURE, file: "q.h5" } } }, /q\.h5: there is no such file/],
  [
    "a path that leaves the folder",
    good,
    { fields: { pressure: { ...PRESSURE, file: "../outside/p.h5" } } },
    /leaves the folder/,
  ],
  ["an absolute path", good, { fields: { pressure: { ...PRESSURE, file: "/etc/hostname" } } }, /no such file|leaves/],
  [
    "coordinates that do not ascend",
    (file) => {
      good(file);
      file.create_dataset({ name: "y", data: Float64Array.from({ length: NODES.y }, (_, i) => (i === 4 ? 3 : i)) });
    },
    { axes: { ...(descriptor("", {}).axes as object), y: { coordinates: { file: "p.h5", path: "/y" } } } },
    /axes\.y: coordinates do not ascend or descend strictly at node 4/,
  ],
  [
    "a periodic axis that is not uniform",
    good,
    {
      axes: {
        ...(descriptor("", {}).axes as object),
        y: { coordinates: Array.from({ length: NODES.y }, (_, i) => i * i), periodic: true },
      },
    },
    /axes\.y: a periodic axis must be uniform/,
  ],
  [
    "edges of too few cells",
    good,
    { axes: { ...(descriptor("", {}).axes as object), z: { ...OPEN, edges: [0, 1, 2] } } },
    new RegExp(`axes\\.z: edges: expected ${NODES.z + 1} numbers or 2, not 3`),
  ],
  [
    "a node that lies outside its cell",
    good,
    { axes: { ...(descriptor("", {}).axes as object), z: { ...OPEN, edges: [0.25, NODES.z] } } },
    /axes\.z: edges: node 0 at 0 is not between 0\.25 and 0\.5/,
  ],
  [
    "an axis too long",
    good,
    { axes: { ...(descriptor("", {}).axes as object), z: { nodes: 65_537, origin: 0, spacing: 1 } } },
    /axes\.z: an axis of 65537 nodes is too long, 65536 are served/,
  ],
  [
    "coordinates of another length",
    good,
    { axes: { ...(descriptor("", {}).axes as object), x: { coordinates: [0, 1, 2] } } },
    /dimension x must have 3/,
  ],
];

describe("R116: refused", () => {
  beforeAll(async () => {
    mkdirSync(join(SCRATCH, "outside"));
    await writeHdf5(join(SCRATCH, "outside", "p.h5"), good);
  });

  it.each(CASES)("%s", async (name, write, members, message) => {
    const messages = await refusals(name, write, members);
    expect(messages).toEqual([expect.stringMatching(message)]);
    expect(messages[0]).not.toMatch(/\n/);
  });

  it("chunks above engine.chunkBytes, and none below", async () => {
    const write = (file: File) => writeField(file, "/p", { dimensions: ORDER, chunks: SHAPE });
    const bytes = 4 * SIZE;
    expect(await refusals("large chunks", write, {}, { chunkBytes: bytes - 1 })).toEqual([
      expect.stringMatching(/chunks of 15840 bytes, more than engine\.chunkBytes.*fieldprobe convert/),
    ]);
    const folder = join(SCRATCH, "large-chunks");
    expect(scanFolders([folder], { chunkBytes: bytes }).problems).toEqual([]);
  });

  it("a symbolic link out of the folder", async () => {
    const folder = folderIn(SCRATCH, "symlink");
    symlinkSync(join(SCRATCH, "outside", "p.h5"), join(folder, "p.h5"));
    writeDescriptor(folder, descriptor("symlink", { fields: { pressure: PRESSURE } }));
    expect(scanFolders([folder], OPTIONS).problems.map(({ message }) => message)).toEqual([
      expect.stringMatching(/p\.h5: leaves the folder/),
    ]);
  });

  it("a filter that the reader lacks", async () => {
    const folder = folderIn(SCRATCH, "filter");
    const chunked = (file: File) => writeField(file, "/p", { dimensions: ORDER, chunks: SHAPE, filter: "gzip" });
    useForeignFilter(await writeHdf5(join(folder, "p.h5"), chunked, true));
    writeDescriptor(folder, descriptor("filter", { fields: { pressure: PRESSURE } }));
    expect(scanFolders([folder], OPTIONS).problems.map(({ message }) => message)).toEqual([
      expect.stringMatching(
        /through filter #307 \(bzip2\), which cannot be read; h5repack -f GZIP=4 with its plugin \(docs\/datasets\.md\)/,
      ),
    ]);
  });

  it("external raw storage, which the HDF5 library describes as if it were its own", async () => {
    const folder = folderIn(SCRATCH, "external");
    const spared = (file: File) => {
      good(file);
      (file.get("p") as H5Dataset).create_attribute(SPARE.name, "-".repeat(SPARE.bytes), [], `S${SPARE.bytes}`);
    };
    const path = await writeHdf5(join(folder, "p.h5"), spared, true);
    writeDescriptor(folder, descriptor("external", { fields: { pressure: PRESSURE } }));
    expect(scanFolders([folder], OPTIONS).problems).toEqual([]);
    useExternalStorage(path, "p", 4 * SIZE);
    const file = openHdf5(path);
    expect(file.describe("/p")).toMatchObject({ shape: SHAPE, chunks: null, virtual: false });
    file.close();
    expect(scanFolders([folder], OPTIONS).problems.map(({ message }) => message)).toEqual([
      expect.stringMatching(/external raw file/),
    ]);
  });

  it("archives, repositories of Icechunk and references in Parquet, each with what would help", () => {
    const folder = join(SCRATCH, "forms");
    for (const name of ["ice/manifests", "ice/snapshots", "ice/transactions", "ice/chunks", "refs.parq"])
      mkdirSync(join(folder, name), { recursive: true });
    const group = { ".zgroup": { zarr_format: 2 } };
    writeFileSync(join(folder, "refs.parq", ".zmetadata"), JSON.stringify({ metadata: group, record_size: 1000 }));
    writeFileSync(join(folder, "flow.zarr.zip"), "PK\x03\x04");
    expect(scanFolders([folder], OPTIONS).problems).toEqual([
      { location: join(folder, "ice"), message: expect.stringMatching(/^an Icechunk repository.*ds\.to_zarr/) },
      { location: join(folder, "flow.zarr.zip"), message: expect.stringMatching(/it is a ZIP archive.*unpacked/) },
      {
        location: join(folder, "refs.parq"),
        message: expect.stringMatching(/^a list .* in Parquet form.*to_kerchunk/),
      },
    ]);
  });

  it("virtual datasets whose sources are not readable", async () => {
    const folder = folderIn(SCRATCH, "virtual");
    makeVirtual(await writeHdf5(join(folder, "p.h5"), good, true), 4 * SIZE);
    writeDescriptor(folder, descriptor("virtual", { fields: { pressure: PRESSURE } }));
    expect(scanFolders([folder], OPTIONS).problems.map(({ message }) => message)).toEqual([
      expect.stringMatching(/the sources of .* are not readable/),
    ]);
  });

  it("files that are not HDF5 or end early, while the rest is served", async () => {
    const folder = folderIn(SCRATCH, "mixed");
    const dimensions: Dimension[] = ["z", "y", "x", "c"];
    const velocity = (file: File) => {
      stateGrid(file);
      writeField(file, "/velocity", { dimensions });
    };
    confirmFile(await writeHdf5(join(folder, "good.h5"), velocity));
    truncateSync(await writeHdf5(join(folder, "short.h5"), velocity), 3000);
    writeFileSync(join(folder, "text.h5"), "not a cube");
    writeFileSync(join(folder, "notes.txt"), "ignored");
    writeFileSync(join(folder, "other.h5.partial"), readFileSync(join(folder, "good.h5")));
    renameSync(await writeHdf5(join(folder, "odd"), (file) => void file.create_group("a")), join(folder, "odd.dat"));
    const { datasets, problems } = scanFolders([folder], OPTIONS);
    expect(datasets.map(({ name }) => name)).toEqual(["good"]);
    expect(problems).toEqual([
      { location: join(folder, "odd.dat"), message: expect.stringMatching(/not recognised; fieldprobe inspect/) },
      { location: join(folder, "short.h5"), message: expect.stringMatching(/does not open as an HDF5 file/) },
      { location: join(folder, "text.h5"), message: expect.stringMatching(/does not open as an HDF5 file/) },
    ]);
  });
});

describe("values that were never written", () => {
  /** Writes a file and takes the values of one of its datasets from it. */
  async function unwritten(path: string, taken: string, write: (file: File) => void): Promise<void> {
    await writeHdf5(path, write, true);
    const file = openHdf5(path);
    const stored = file.describe(taken);
    const { contiguous } = file.placement(taken);
    file.close();
    takeValues(
      path,
      contiguous as number,
      stored.shape.reduce((bytes, length) => bytes * length, stored.size),
    );
  }

  function problemsIn(folder: string): string[] {
    return scanFolders([folder], OPTIONS).problems.map(({ message }) => message);
  }

  it("refuse a dataset, with one line", async () => {
    const folder = folderIn(SCRATCH, "unwritten");
    await unwritten(join(folder, "p.h5"), "/p", good);
    writeDescriptor(folder, descriptor("unwritten", { fields: { pressure: PRESSURE } }));
    expect(problemsIn(folder)).toEqual([
      expect.stringMatching(/^fields\.pressure: .*p\.h5: \/p has no values: none was/),
    ]);
  });

  it("are served where the file says that what it reads as means nothing", async () => {
    const folder = folderIn(SCRATCH, "unwritten-fill");
    await unwritten(join(folder, "p.h5"), "/p", (file) => {
      good(file);
      (file.get("p") as H5Dataset).create_attribute("_FillValue", 0, [], "<f");
    });
    writeDescriptor(folder, descriptor("unwritten", { fields: { pressure: PRESSURE } }));
    expect(problemsIn(folder)).toEqual([]);
  });

  it.each([
    ["the first frame", ["p_0.h5"], 0],
    ["the last frames", ["p_1.h5", "p_2.h5"], 0],
    ["all frames", ["p_0.h5", "p_1.h5", "p_2.h5"], 1],
  ])("of %s of a series", async (name, empty, problems) => {
    const folder = folderIn(SCRATCH, name.replaceAll(" ", "-"));
    const write = (file: File) => writeField(file, "/p", { dimensions: ["z", "y", "x"] });
    for (const frame of [0, 1, 2]) {
      const path = join(folder, `p_${frame}.h5`);
      if (empty.includes(`p_${frame}.h5`)) await unwritten(path, "/p", write);
      else await writeHdf5(path, write, true);
    }
    const pressure = { file: "p_{step:01d}.h5", path: "/p", dimensions: ["z", "y", "x"] };
    writeDescriptor(folder, descriptor("series", { fields: { pressure } }));
    const found = problemsIn(folder);
    expect(found).toHaveLength(problems);
    for (const message of found) expect(message).toMatch(/\/p, in every frame, has no values/);
  });

  it("of a table state nothing: they would read as zeros", async () => {
    const folder = folderIn(SCRATCH, "unwritten-time");
    const path = join(folder, "u.h5");
    await unwritten(path, "/dx", (file) => {
      writeField(file, "/velocity", { dimensions: ["z", "y", "x", "c"] });
      file.create_attribute("axes", "zyxc");
      file.create_attribute("origin", [0, 0, 0], [3], "<d");
      file.create_dataset({ name: "dx", data: Float64Array.of(0.5) });
      for (const name of ["dy", "dz"]) file.create_dataset({ name, data: Float64Array.of(0.5) });
    });
    expect(() => openConfirmed(path, 2 ** 26)).toThrow(/spacing of x/);
  });
});

describe("mode tables", () => {
  /** Writes a table of `modes` modes over `frames` frames. */
  function writeTable(file: File, frames: number, wavenumbers: number[][]): void {
    good(file);
    const { group } = parentOf(file, "/forcing/none");
    group.create_dataset({
      name: "wavenumber",
      data: Int32Array.from(wavenumbers.flat()),
      shape: [wavenumbers.length, 3],
    });
    const values = Float64Array.from({ length: frames * wavenumbers.length * 6 }, (_, i) => i / 8);
    group.create_dataset({ name: "coefficient", data: values, shape: [frames, wavenumbers.length, 3, 2] });
  }
  const forcing = { kind: "modes", file: "p.h5", path: "/forcing" };
  const two = [
    [0, 1, 0],
    [1, 0, -1],
  ];

  it.each([1, FRAMES])("are loaded with %i frames", async (frames) => {
    const folder = folderIn(SCRATCH, `modes-${frames}`);
    await writeHdf5(join(folder, "p.h5"), (file) => writeTable(file, frames, two));
    writeDescriptor(folder, descriptor("modes", { fields: { pressure: PRESSURE }, forcing }));
    const [dataset] = scanFolders([folder], OPTIONS).datasets;
    expect(dataset?.forcing).toEqual({
      kind: "modes",
      frames,
      wavenumber: Int32Array.from(two.flat()),
      coefficient: Float64Array.from({ length: frames * 12 }, (_, i) => i / 8),
    });
    expect(structuredClone(dataset)).toEqual(dataset);
  });

  it("are refused with another number of frames, or kx below 0", async () => {
    expect(await refusals("modes of 2", (file) => writeTable(file, 2, two), { forcing })).toEqual([
      expect.stringMatching(/has 2 frames, the fields 3/),
    ]);
    expect(await refusals("negative modes", (file) => writeTable(file, 1, [[-1, 0, 0]]), { forcing })).toEqual([
      expect.stringMatching(/mode 0 has kx < 0/),
    ]);
  });
});

describe("the catalogue", () => {
  const velocity = (file: File) => {
    stateGrid(file);
    writeField(file, "/velocity", { dimensions: ["z", "y", "x", "c"] });
  };

  async function described(folder: string, name: string, aliases: string[] = []): Promise<void> {
    mkdirSync(folder, { recursive: true });
    await writeHdf5(join(folder, "p.h5"), good);
    writeDescriptor(folder, descriptor(name, { aliases, fields: { pressure: PRESSURE } }));
  }

  it("serves none of several datasets that claim one name or alias, in any letter case", async () => {
    const folder = join(SCRATCH, "clash");
    await described(join(folder, "a"), "one", ["shared"]);
    await described(join(folder, "b"), "two", ["SHARED"]);
    await described(join(folder, "c"), "three");
    const { datasets, problems } = scanFolders([folder], OPTIONS);
    expect(datasets.map(({ name }) => name)).toEqual(["three"]);
    expect(problems.map(({ location }) => location)).toEqual([
      join(folder, "a", "dataset.json"),
      join(folder, "b", "dataset.json"),
    ]);
    for (const { message } of problems) expect(message).toMatch(/"shared" is also claimed/);
  });

  it("looks three folders deep, and leaves what a descriptor claims alone", async () => {
    const folder = join(SCRATCH, "deep");
    await described(join(folder, "claimed"), "claimed");
    mkdirSync(join(folder, "claimed", "below"));
    await writeHdf5(join(folder, "claimed", "below", "hidden.h5"), velocity);
    for (const path of ["1", "1/2", "1/2/3", "1/2/3/4"]) {
      mkdirSync(join(folder, path));
      confirmFile(await writeHdf5(join(folder, path, `level${path.length}.h5`), velocity));
    }
    const { datasets, problems } = scanFolders([folder], OPTIONS);
    expect(problems).toEqual([]);
    expect(datasets.map(({ name }) => name)).toEqual(["claimed", "level1", "level3", "level5"]);
  });

  it("says when a folder is missing, and when a manifest disagrees", async () => {
    const folder = join(SCRATCH, "manifest");
    await described(folder, "manifested");
    writeFileSync(join(folder, "manifest.json"), JSON.stringify({ files: { "p.h5": { bytes: 1, sha256: "" } } }));
    const { problems } = scanFolders([join(SCRATCH, "absent"), folder], OPTIONS);
    expect(problems.map(({ message }) => message)).toEqual([
      "the folder is not readable: no such file or folder",
      expect.stringMatching(/p\.h5 has \d+ bytes, manifest\.json says 1/),
    ]);
  });

  it.each([
    ["is not JSON", "{", /manifest\.json is not JSON/],
    ["lists nothing", "{}", /not a manifest .*files/],
    ["lists no sizes", '{ "files": { "p.h5": null } }', /not a manifest .*files\.p\.h5/],
    ["leaves its folder", '{ "files": { "../p.h5": { "bytes": 1, "sha256": "" } } }', /not a manifest .*files/],
  ])("refuses a manifest that %s", async (name, text, message) => {
    const folder = join(SCRATCH, `manifest ${name}`);
    await described(folder, "manifested");
    writeFileSync(join(folder, "manifest.json"), text);
    const { datasets, problems } = scanFolders([folder], OPTIONS);
    expect(datasets).toEqual([]);
    expect(problems.map((problem) => problem.message)).toEqual([expect.stringMatching(message)]);
  });

  it("opens again only what has changed", async () => {
    const folder = join(SCRATCH, "rescan");
    await described(join(folder, "a"), "a");
    await described(join(folder, "b"), "b");
    await writeHdf5(join(folder, "bad.h5"), (file) => void file.create_group("nothing"));
    const first = scanFolders([folder], OPTIONS);
    const spy = vi.spyOn(OpenBytes.prototype, "close");
    const opened = (): string[] => [...new Set(spy.mock.contexts.map((file) => (file as OpenBytes).path))];
    onTestFinished(() => spy.mockRestore());
    const second = scanFolders([folder], { ...OPTIONS, previous: structuredClone(first) });
    expect(opened()).toEqual([]);
    expect(second).toEqual(first);
    appendFileSync(join(folder, "b", "dataset.json"), "\n");
    const third = scanFolders([folder], { ...OPTIONS, previous: second });
    expect(opened()).toEqual([join(folder, "b", "p.h5")]);
    expect(third.datasets[0]).toBe(second.datasets[0]);
    expect(third.datasets[1]?.digest).not.toBe(second.datasets[1]?.digest);
  });

  it("counts what links reach on several ways once, and passes links in a circle", async () => {
    const folder = join(SCRATCH, "ways");
    await described(join(folder, "a"), "once");
    symlinkSync(folder, join(folder, "back"));
    symlinkSync(join(folder, "a"), join(folder, "b"));
    symlinkSync(join(folder, "circle.h5"), join(folder, "circle.h5"));
    const { datasets, problems } = scanFolders([folder, folder], OPTIONS);
    expect(problems).toEqual([]);
    expect(datasets.map(({ name }) => name)).toEqual(["once"]);
  });

  it("makes a descriptor that cannot be read a problem of its own", async () => {
    const folder = join(SCRATCH, "unreadable");
    mkdirSync(join(folder, "broken", "dataset.json"), { recursive: true });
    await described(join(folder, "whole"), "whole");
    const { datasets, problems } = scanFolders([folder], OPTIONS);
    expect(datasets.map(({ name }) => name)).toEqual(["whole"]);
    expect(problems.map(({ message }) => message)).toEqual(["not readable: it is a folder"]);
  });

  it("follows soft links inside a file", async () => {
    const folder = folderIn(SCRATCH, "links");
    await writeHdf5(join(folder, "p.h5"), (file) => {
      writeField(file, "/deep/values", { dimensions: ORDER });
      (file.get("deep") as Group).create_soft_link("values", "near");
      file.create_soft_link("/deep/near", "p");
      expect((file.get("p") as H5Dataset).shape).toEqual(SHAPE);
    });
    writeDescriptor(folder, descriptor("links", { fields: { pressure: PRESSURE } }));
    expect(scanFolders([folder], OPTIONS).problems).toEqual([]);
  });
});
