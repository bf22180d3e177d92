/**
 * Folders behind HTTP and in buckets: the datasets and problems of the same folder on this machine, and few looks at
 * what does not change.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { completeFolder } from "../../../src/storage/catalog/manifest.js";
import { scanChanges, scanFolders } from "../../../src/storage/catalog/scan-folders.js";
import type { Dataset } from "../../../src/storage/dataset/dataset.js";
import { type FolderScan, statesOf } from "../../../src/storage/dataset/scan.js";
import "../../support/hdf5-library.js";
import {
  descriptor,
  FRAMES,
  nodeValue,
  stateGrid,
  writeDescriptor,
  writeField,
  writeHdf5,
} from "../../support/cubes.js";
import { useObjectServer } from "../../support/object-server.js";
import { openConfirmed } from "../../support/open-confirmed.js";
import { useS3Bucket } from "../../support/s3-server.js";
import { scratchFolder } from "../../support/scratch.js";
import { writeKnownZarr } from "../../support/zarr.js";
import { array, expectNodes, SNAPSHOT, TABLES } from "../zarr/numbered-cube.js";

const SCRATCH = scratchFolder();
const OPTIONS = { chunkBytes: 1 << 26 };
const server = useObjectServer();
const bucket = useS3Bucket(join(SCRATCH, "s3"));
const LOCAL = join(SCRATCH, "runs");

/** A file of the numbered cube, which states its grid unless `isVague`. */
async function writeCube(path: string, isVague = false): Promise<void> {
  mkdirSync(dirname(path), { recursive: true });
  await writeHdf5(path, (file) => {
    if (!isVague) stateGrid(file);
    writeField(file, "p", { dimensions: ["t", "z", "y", "x"], chunks: [1, 4, 10, 5] });
    file.create_dataset({ name: "time", data: Float64Array.of(0, 1, 2) });
  });
}

async function writeSeries(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const files = Array.from({ length: FRAMES }, (_, t) => `p_${t}.h5`);
  for (const [t, name] of files.entries())
    await writeHdf5(join(folder, name), (file) =>
      writeField(file, "p", { dimensions: ["z", "y", "x"], value: (at) => nodeValue({ ...at, t }) }),
    );
  const pressure = { file: "p_{step:01d}.h5", path: "/p", dimensions: ["z", "y", "x"] };
  await completeFolder(folder, descriptor("series", { fields: { pressure } }), files);
}

beforeAll(async () => {
  for (const name of ["a.h5", "b.h5", "sub folder/c.h5", "1/2/3/deep.h5", "1/2/3/4/deeper.h5", ".hidden/d.h5"])
    await writeCube(join(LOCAL, name));
  await writeCube(join(LOCAL, "vague.h5"), true);
  await writeSeries(join(LOCAL, "series"));
  for (const name of ["", "1", "1/2", "1/2/3"]) writeFileSync(join(LOCAL, name, "notes.txt"), "a text");
  const velocity = array(["t", "z", "y", "x", "c"], { shard: [1, 2, 1, 2, 1], codec: "gzip" });
  writeKnownZarr(join(LOCAL, "third.zarr"), { version: 3, arrays: { velocity, ...TABLES }, consolidated: true });
  const p = array(["z", "y", "x"], { codec: "zlib" });
  writeKnownZarr(join(LOCAL, "1", "second.zarr"), { version: 2, arrays: { p, ...SNAPSHOT }, consolidated: true });
  mkdirSync(join(LOCAL, "half.zarr"));
  writeFileSync(join(LOCAL, "half.zarr", "conversion.json"), "{}");
  await bucket.put("runs", filesBelow(LOCAL));
  await server.put("runs", filesBelow(LOCAL));
});

function filesBelow(folder: string): Map<string, Uint8Array> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const files = names.filter((name) => statSync(join(folder, name)).isFile());
  return new Map(files.map((name) => [name, readFileSync(join(folder, name))]));
}

/** The findings of a scan, with the places relative to the folder. */
function told({ datasets, problems }: FolderScan, folder: string) {
  const relative = (text: string) => decodeURI(text.replaceAll(folder, ""));
  return {
    datasets: datasets.map(({ name, location, axes, time, assumed }) => [
      name,
      relative(location),
      axes,
      time,
      assumed,
    ]),
    problems: problems.map(({ location, message }) => [relative(location), relative(message)]).sort(),
  };
}

const named = ({ datasets }: FolderScan, name: string) => datasets.find((dataset) => dataset.name === name) as Dataset;
const examined = (address: string, previous: FolderScan) =>
  scanChanges([address], { ...OPTIONS, known: statesOf(previous) })
    .candidates.filter(({ outcome }) => outcome !== null)
    .map(({ location }) => location.slice(address.length + 1));

const HOSTS = [
  ["a list of links", () => `${server.url}/runs`, (objects: Map<string, Uint8Array>) => server.put("runs", objects)],
  ["a bucket", () => "s3://cubes/runs", (objects: Map<string, Uint8Array>) => bucket.put("runs", objects)],
] as const;

describe.each(HOSTS)("a folder in %s", (_, at, put) => {
  let first: FolderScan;
  beforeAll(async () => {
    await server.set({ lists: true });
    first = scanFolders([at()], OPTIONS);
  });

  it("holds the datasets and problems of the folder on this machine", () => {
    const local = told(scanFolders([LOCAL], OPTIONS), LOCAL);
    expect(local.datasets.map(([name]) => name)).toEqual(["a", "b", "c", "deep", "second", "series", "third"]);
    expect(local.problems.length).toBeGreaterThanOrEqual(2);
    expect(told(first, at())).toEqual(local);
  });

  it("reads as its nodes", () => {
    for (const name of ["a", "c", "series", "second"]) expectNodes(named(first, name), "pressure", 1);
    expectNodes(named(first, "third"), "velocity", 3);
  });

  it("is what it was while nothing changes, and opens nothing again", () => {
    const before = server.requests;
    expect(scanFolders([`${at()}`], { ...OPTIONS, previous: first })).toBe(first);
    // By HTTP: the pages of seven folders, what they hide, the versions of files, stores and the descriptor, and
    // whether the arrays of a store are described in the other format too.
    expect(server.requests - before).toBeLessThanOrEqual(42);
    expect(examined(at(), first)).toEqual([]);
  });

  it("has what changes, comes and goes, and nothing else, examined", async () => {
    await writeCube(join(SCRATCH, "other.h5"));
    const other = readFileSync(join(SCRATCH, "other.h5"));
    await put(
      new Map([
        ["b.h5", other],
        ["series/p_1.h5", readFileSync(join(LOCAL, "series/p_2.h5"))],
        ["new.h5", other],
      ]),
    );
    await (at().startsWith("s3") ? bucket.remove("runs/a.h5") : server.remove("/runs/a.h5"));
    // A list of links tells no versions: changes of what a descriptor names are found by whoever reads them.
    const series = at().startsWith("s3") ? ["series/dataset.json"] : [];
    expect(examined(at(), first)).toEqual(["b.h5", "new.h5", ...series]);
    const again = scanFolders([at()], { ...OPTIONS, previous: first });
    expect(again.datasets.map(({ name }) => name)).toEqual(["b", "c", "deep", "new", "second", "series", "third"]);
    expect(named(again, "c")).toBe(named(first, "c"));
    expectNodes(named(again, "b"), "pressure", 1);
    expect(named(again, "series") === named(first, "series")).toBe(series.length === 0);
  });
});

describe("a dataset folder at an address", () => {
  const folder = join(SCRATCH, "one");
  beforeAll(async () => {
    await server.set({ lists: false });
    await writeSeries(folder);
    await server.put("one", filesBelow(folder));
  });

  it("is served where the host lists nothing, and is opened by its address", () => {
    expectNodes(scanFolders([`${server.url}/one`], OPTIONS).datasets[0] as Dataset, "pressure", 1);
    expectNodes(openConfirmed(`${server.url}/one`, 1 << 26), "pressure", 1);
    expectNodes(openConfirmed(`${server.url}/one/dataset.json`, 1 << 26), "pressure", 1);
  });

  it("has the digest of its copy on this machine", () => {
    expect(openConfirmed(`${server.url}/one`, 1 << 26).digest).toBe(openConfirmed(folder, 1 << 26).digest);
  });

  it("is refused where a file has another size than its manifest says", async () => {
    await server.put("short", new Map([...filesBelow(folder), ["p_1.h5", new Uint8Array(100)]]));
    const { problems } = scanFolders([`${server.url}/short`], OPTIONS);
    expect(problems[0]?.message).toMatch(/p_1\.h5 has 100 bytes, manifest\.json says/);
  });

  it.each(["../one/p_0.h5", "http://169.254.169.254/p_0.h5", "s3://other/p_0.h5", "a/../../one/p_0.h5", "p_0.h5?x"])(
    "names nothing outside of itself: %s",
    async (file) => {
      mkdirSync(join(SCRATCH, "out"), { recursive: true });
      const pressure = { file, path: "/p", dimensions: ["z", "y", "x"] };
      writeDescriptor(join(SCRATCH, "out"), descriptor("out", { fields: { pressure }, time: { step: 1, count: 1 } }));
      await server.put("out", filesBelow(join(SCRATCH, "out")));
      const { datasets, problems } = scanFolders([`${server.url}/out`], OPTIONS);
      expect(datasets).toEqual([]);
      expect(problems[0]?.message).toMatch(/leaves the folder of its descriptor/);
      rmSync(join(SCRATCH, "out"), { recursive: true });
    },
  );
});

describe("files that a descriptor of this machine names", () => {
  it("are no datasets of their own", async () => {
    await server.set({ lists: true });
    const [far, near] = [`${server.url}/frames`, join(SCRATCH, "near")];
    await server.put("frames", filesBelow(join(LOCAL, "series")));
    await server.remove("/frames/dataset.json");
    mkdirSync(near);
    const pressure = { file: `${far}/p_{step:01d}.h5`, path: "/p", dimensions: ["z", "y", "x"] };
    writeDescriptor(near, descriptor("frames", { fields: { pressure } }));
    const { datasets, problems } = scanFolders([near, far], OPTIONS);
    expect(problems).toEqual([]);
    expect(datasets.map(({ name }) => name)).toEqual(["frames"]);
    expectNodes(datasets[0] as Dataset, "pressure", 1);
  });

  it("stay in the catalogue while their host does not answer", async () => {
    const first = scanFolders([`${server.url}/runs`], OPTIONS);
    await server.set({ silent: true });
    const again = scanFolders([`${server.url}/runs`], { ...OPTIONS, previous: first });
    await server.set({ silent: false });
    expect(again).toBe(first);
  });
});
