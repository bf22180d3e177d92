/** A rescan examines what has changed, and nothing else. */
import { copyFileSync, mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { writeCube } from "../../../src/generate/cube.js";
import { completeScan, type FolderScan, statesOf } from "../../../src/storage/catalog/scan.js";
import { scanChanges, scanFolders } from "../../../src/storage/catalog/scan-folders.js";
import { loadHdf5 } from "../../../src/storage/hdf5/library.js";
import { scratchFolder } from "../../support/scratch.js";

const OPTIONS = { chunkBytes: 2 ** 26 };
const FILES = 40;

describe("a rescan", () => {
  const folder = scratchFolder();
  const file = (i: number): string => join(folder, `cube${i}.h5`);
  const changes = (previous: FolderScan) => scanChanges([folder], { ...OPTIONS, known: statesOf(previous) });
  const examined = (previous: FolderScan): string[] =>
    changes(previous).candidates.flatMap(({ location, outcome }) => (outcome === null ? [] : [location]));

  beforeAll(async () => {
    await loadHdf5();
    const made = scratchFolder();
    const cube = { kind: "random", nodes: [8, 8, 8], steps: 1, chunk: [8, 8, 8], filter: "none", seed: 5 } as const;
    await writeCube({ ...cube, name: "cube", folder: made }, () => {});
    for (let i = 0; i < FILES; i++) copyFileSync(join(made, "cube.h5"), file(i));
    writeFileSync(join(folder, "broken.h5"), "no HDF5");
  });

  it("opens nothing where nothing has changed, and gives the same records", () => {
    const first = scanFolders([folder], OPTIONS);
    expect(first.candidates.length).toBe(FILES + 1);
    expect(examined(first)).toEqual([]);
    const second = completeScan(changes(first), first);
    expect(second).toEqual(first);
    for (const [i, candidate] of second.candidates.entries()) expect(candidate).toBe(first.candidates[i]);
  });

  it("opens a file that is new, changed or linked, and forgets one that is gone", () => {
    const first = scanFolders([folder], OPTIONS);
    utimesSync(file(3), 1, 1);
    copyFileSync(file(4), file(100));
    const other = scratchFolder();
    copyFileSync(file(5), join(other, "far.h5"));
    symlinkSync(join(other, "far.h5"), join(folder, "link.h5"));
    symlinkSync(file(6), join(folder, "zwice.h5"));
    rmSync(file(7));
    expect(examined(first).sort()).toEqual([file(3), file(100), join(folder, "link.h5")].sort());
    const second = completeScan(changes(first), first);
    const names = second.candidates.map(({ location }) => location);
    expect(names).not.toContain(file(7));
    expect(names).not.toContain(join(folder, "zwice.h5"));
  });

  it("looks again at a link once what it leads to is there", () => {
    const descriptor = join(folder, "set", "dataset.json");
    mkdirSync(join(folder, "set"));
    symlinkSync("later", descriptor);
    const first = scanFolders([folder], OPTIONS);
    expect(first.problems.map(({ location }) => location)).toContain(descriptor);
    expect(examined(first)).toEqual([]);
    writeFileSync(join(folder, "set", "later"), "{}");
    expect(examined(first)).toEqual([descriptor]);
  });
});
