/** A rescan examines what has changed, and nothing else. */
import {
  copyFileSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { scanChanges, scanFolders } from "../../../src/storage/catalog/scan-folders.js";
import { ScanIndex } from "../../../src/storage/catalog/scan-index.js";
import { completeScan, type FolderScan, statesOf } from "../../../src/storage/dataset/scan.js";
import "../../support/hdf5-library.js";
import { writeCube } from "../../../tools/generate/cube.js";
import { scratchFolder } from "../../support/scratch.js";

const OPTIONS = { chunkBytes: 2 ** 26 };
const FILES = 40;

async function folderOfCube(): Promise<string> {
  const folder = scratchFolder();
  const cube = { kind: "random", nodes: [8, 8, 8], steps: 1, chunk: [8, 8, 8], filter: "none", seed: 5 } as const;
  await writeCube({ ...cube, name: "cube", folder }, () => {});
  return folder;
}

describe("a rescan", () => {
  const folder = scratchFolder();
  const file = (i: number): string => join(folder, `cube${i}.h5`);
  const changes = (previous: FolderScan) => scanChanges([folder], { ...OPTIONS, known: statesOf(previous) });
  const examined = (previous: FolderScan): string[] =>
    changes(previous).candidates.flatMap(({ location, outcome }) => (outcome === null ? [] : [location]));

  beforeAll(async () => {
    const made = await folderOfCube();
    for (let i = 0; i < FILES; i++) copyFileSync(join(made, "cube.h5"), file(i));
    writeFileSync(join(folder, "broken.h5"), "no HDF5");
  });

  it("gives the digest of the data, whatever levels lie beside them", async () => {
    const home = await folderOfCube();
    rmSync(join(home, "manifest.json"));
    const [before] = scanFolders([home], OPTIONS).datasets;
    mkdirSync(join(home, "cube.levels"));
    writeFileSync(join(home, "cube.levels", "zarr.json"), "{}");
    const { datasets, problems } = scanFolders([home], OPTIONS);
    expect([datasets[0]?.digest, problems]).toEqual([before?.digest, []]);
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

describe("the first scan of another process", () => {
  const folder = scratchFolder();
  const index = join(scratchFolder(), "state", "catalogue");
  const file = (i: number): string => join(folder, `cube${i}.h5`);
  /** Scans with the index as a new process would, and says what was opened. */
  const scanAgain = (key = "this build") => {
    const kept = new ScanIndex(index, key);
    let opened = 0;
    const changes = scanChanges([folder], { ...OPTIONS, known: new Map(), index: kept, examined: () => opened++ });
    kept.write();
    return { found: completeScan(changes, undefined), opened };
  };

  beforeAll(async () => {
    const made = await folderOfCube();
    for (let i = 0; i < 4; i++) copyFileSync(join(made, "cube.h5"), file(i));
    mkdirSync(join(folder, "set"));
    for (const name of ["cube.h5", "dataset.json"]) copyFileSync(join(made, name), join(folder, "set", name));
    writeFileSync(join(folder, "broken.h5"), "no HDF5");
  });
  afterEach(() => void vi.restoreAllMocks());

  const later = (): void => {
    const now = Date.now() + 10_000;
    vi.spyOn(Date, "now").mockReturnValue(now);
  };

  it("keeps nothing of files that have changed just now", () => {
    expect(scanAgain().opened).toBe(6);
    expect(scanAgain().opened).toBe(6);
  });

  it("opens nothing that is as it was, and finds the same", () => {
    later();
    const first = scanAgain();
    expect(first.opened).toBe(6);
    const second = scanAgain();
    expect(second.opened).toBe(0);
    expect(second.found).toEqual(first.found);
  });

  it("opens a file whose bytes have changed, though its size and time are those of before", () => {
    later();
    scanAgain();
    const { atime, mtime } = statSync(file(2));
    const bytes = readFileSync(file(2));
    writeFileSync(file(2), Buffer.concat([Buffer.alloc(64), bytes.subarray(64)]));
    utimesSync(file(2), atime, mtime);
    const { found, opened } = scanAgain();
    expect(opened).toBe(1);
    expect(found.problems.map(({ location }) => location)).toContain(file(2));
  });

  it("takes no index that is damaged, or that other code has written", () => {
    later();
    scanAgain();
    expect(scanAgain("another build").opened).toBe(6);
    expect(scanAgain("another build").opened).toBe(0);
    const bytes = readFileSync(index);
    for (const damaged of [bytes.subarray(0, -1), Buffer.alloc(0), Buffer.from(bytes).fill(7, 300, 301)]) {
      writeFileSync(index, damaged);
      expect(scanAgain("another build").opened).toBe(6);
    }
  });
});
