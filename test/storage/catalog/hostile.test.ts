/** Files that would keep a scan for ever or fill its memory are refused in one line, and other datasets are served. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { Module } from "h5wasm/node";
import { expect, it, vi } from "vitest";
import { STORE_BOUNDS } from "../../../src/shared/store-settings.js";
import { MAX_TEXT_BYTES } from "../../../src/storage/catalog/remote-text.js";
import { scanFolders } from "../../../src/storage/catalog/scan-folders.js";
import { openHdf5 } from "../../../src/storage/hdf5/file.js";
import { Contents } from "../../../src/storage/recognise/layout.js";
import { unusedIn } from "../../../src/storage/recognise/seen.js";
import { descriptor, stateGrid, writeDescriptor, writeField, writeHdf5 } from "../../support/cubes.js";
import { confirmFile } from "../../support/open-confirmed.js";
import { scratchFolder } from "../../support/scratch.js";

const SCRATCH = scratchFolder();
let made = 0;

/** A data folder with a good dataset in it and a place for a bad one. */
async function beside(): Promise<{ folder: string; bad: string }> {
  const folder = join(SCRATCH, String(made++));
  const [good, bad] = [join(folder, "good"), join(folder, "bad")];
  for (const path of [folder, good, bad]) mkdirSync(path);
  await writeHdf5(join(good, "p.h5"), (file) => {
    stateGrid(file);
    writeField(file, "/p", { dimensions: ["z", "y", "x"] });
  });
  confirmFile(join(good, "p.h5"));
  return { folder, bad };
}

/** The messages about the bad one; the good one must be there. */
function refusals(folder: string): string[] {
  const { datasets, problems } = scanFolders([folder], { chunkBytes: 2 ** 26 });
  expect(datasets.map(({ name }) => name)).toEqual(["p"]);
  return problems.map(({ message }) => message);
}

const FIELDS = { fields: { pressure: { file: "p.h5", path: "/p", dimensions: ["z", "y", "x"] } } };
const pipe = (path: string) => expect(spawnSync("mkfifo", [path]).status).toBe(0);

it("lists folders once that links lead to again and again", async () => {
  const { folder, bad } = await beside();
  for (const name of ["a", "b", "c"]) symlinkSync(".", join(bad, name));
  await writeHdf5(join(bad, "p.h5"), (file) => writeField(file, "/p", { dimensions: ["z", "y", "x"] }));
  writeDescriptor(bad, descriptor("linked", { time: { count: 1 }, ...FIELDS }));
  const { datasets, problems } = scanFolders([folder], { chunkBytes: 2 ** 20 });
  expect([datasets.length, problems]).toEqual([2, []]);
});

it("refuses a pipe or a device as descriptor, manifest or data", async () => {
  const first = await beside();
  pipe(join(first.bad, "dataset.json"));
  expect(refusals(first.folder)).toEqual(["it is not a regular file"]);
  const second = await beside();
  symlinkSync("/dev/zero", join(second.bad, "dataset.json"));
  expect(refusals(second.folder)).toEqual(["it is not a regular file"]);
  const third = await beside();
  writeDescriptor(third.bad, descriptor("bad", { time: { count: 1 }, ...FIELDS }));
  pipe(join(third.bad, "p.h5"));
  expect(refusals(third.folder)).toEqual(["fields.pressure: p.h5: is neither a file nor a folder"]);
  pipe(join(third.bad, "manifest.json"));
  expect(refusals(third.folder)).toEqual(["manifest.json is not a regular file"]);
});

it("refuses a descriptor and a manifest that are too long, too deep or hold too much, before they are parsed", async () => {
  const { folder, bad } = await beside();
  const [path, manifest] = ["dataset.json", "manifest.json"].map((name) => join(bad, name)) as [string, string];
  const long = 10 * MAX_TEXT_BYTES;
  const deep = `{"a":${"[".repeat(10 * STORE_BOUNDS.depth)}${"]".repeat(10 * STORE_BOUNDS.depth)}}`;
  const refused = (text: string, place: string) => {
    writeFileSync(place, text);
    const began = performance.now();
    const told = refusals(folder);
    expect(performance.now() - began).toBeLessThan(5_000);
    return told;
  };
  expect(refused(deep, path)).toEqual(["$ is more than 32 levels deep"]);
  expect(refused(`{"a":[${"0,".repeat(1.1 * STORE_BOUNDS.values)}0]}`, path)).toEqual([
    "$ holds more than 1000000 values",
  ]);
  writeFileSync(path, "");
  truncateSync(path, long);
  expect(refusals(folder)).toEqual([`it has ${long} bytes, more than any descriptor`]);
  writeDescriptor(bad, descriptor("bad", { time: { count: 1 }, ...FIELDS }));
  expect(refused(deep, manifest)).toEqual(["manifest.json is more than 32 levels deep"]);
  truncateSync(manifest, long);
  expect(refusals(folder)).toEqual([`manifest.json has ${long} bytes, more than ${MAX_TEXT_BYTES}`]);
});

it("refuses a number of frames without bound", async () => {
  const { folder, bad } = await beside();
  for (const count of [1_000_001, 1e15]) {
    writeDescriptor(bad, descriptor(`bad${count}`, { time: { origin: 0, step: 1, count }, ...FIELDS }));
    expect(refusals(folder)).toEqual(["$.time.count: must be at most 1000000"]);
  }
});

/** Groups a thousand deep, and three thousand beside each other, as h5py writes them with libver="latest". */
const GROUPS = fileURLToPath(new URL("groups.h5.gz", import.meta.url));

it("looks at a file of a thousand groups deep, and of thousands beside each other, without asking for each again", async () => {
  const { folder, bad } = await beside();
  const path = join(bad, "groups.h5");
  writeFileSync(path, gunzipSync(readFileSync(GROUPS)));
  const lists = vi.spyOn(Module, "get_names");
  expect(refusals(folder)).toEqual([expect.stringMatching(/the layout of the file is not recognised/)]);
  const file = openHdf5(path);
  const lines = unusedIn(new Contents(file, "groups.h5", {}), null, null);
  expect(lines).toEqual([expect.stringMatching(/^(\/g){64} \(deeper members are not listed\)$/)]);
  file.close();
  // Each group is listed once by the scan and once by the list; it was each time that a path led through it.
  expect(lists.mock.calls.length).toBeLessThan(20_000);
  lists.mockRestore();
});
