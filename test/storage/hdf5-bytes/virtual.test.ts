/** Virtual datasets over files of a rank each, made by h5py (`fixtures/virtual/make.py`): values, gaps, refusals. */
import { copyFileSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { openDataset } from "../../../src/storage/bricks/brick-reader.js";
import { confirmationOf } from "../../../src/storage/catalog/confirmation.js";
import { scanFolders } from "../../../src/storage/catalog/scan-folders.js";
import type { Dataset } from "../../../src/storage/dataset/dataset.js";
import { loadHdf5 } from "../../../src/storage/hdf5/library.js";
import type { Answers } from "../../../src/storage/recognise/answers.js";
import { type Recognised, recognise } from "../../../src/storage/recognise/recognise.js";
import { fill, nodeValue, writeHdf5 } from "../../support/cubes.js";
import { readNodes } from "../../support/read-nodes.js";
import { scratchFolder } from "../../support/scratch.js";

const FIXTURES = fileURLToPath(new URL("fixtures/virtual", import.meta.url));
const SCRATCH = scratchFolder();
const N = 6;
const ENDS: Answers = { periodic: [], walls: [] };
const GRID: Answers = { ...ENDS, dims: ["t", "z", "y", "x"], spacing: [0.25, 0.25, 0.25], origin: [0, 0, 0] };

beforeAll(() => loadHdf5());

/** A folder with one of the files and its sources. */
function folderOf(name: string, file: string): string {
  const home = join(SCRATCH, name);
  mkdirSync(home);
  for (const one of [file, "rank0.h5", "rank1.h5"]) copyFileSync(join(FIXTURES, one), join(home, one));
  return home;
}

function confirm(home: string, file: string, answers: Answers): void {
  const found = recognise(join(home, file), answers) as Recognised;
  writeFileSync(join(home, `${found.written.name}.dataset.json`), confirmationOf(found, [], home, false));
}

const scan = (home: string) => scanFolders([home], { chunkBytes: 2 ** 26 });

/** Values of a frame; NaN in the planes of y, or z, that `lacks` names. */
function expected(frame: number, lacks: (z: number) => boolean = () => false): Float32Array {
  const value = (index: Parameters<typeof nodeValue>[0]) =>
    lacks(index.z) ? Number.NaN : nodeValue({ ...index, t: frame });
  return Float32Array.from(fill(["z", "y", "x", "c"], [N, N, N, 3], value));
}

function expectFrames(dataset: Dataset, lacks?: (z: number) => boolean): void {
  const open = openDataset(dataset);
  try {
    for (const frame of [0, 1]) expect(readNodes(dataset, open, "velocity", frame)).toEqual(expected(frame, lacks));
  } finally {
    open.close();
  }
}

describe("a virtual dataset", () => {
  it.each([
    ["early.h5", ENDS],
    ["latest.h5", ENDS],
    ["stacked.h5", { ...GRID, times: { origin: 0, step: 0.25 } }],
  ])("of %s has the values of its sources, which are no datasets themselves", (file, answers) => {
    const home = folderOf(`served-${file}`, file);
    confirm(home, file, answers);
    const { datasets, problems } = scan(home);
    expect(problems).toEqual([]);
    const [dataset] = datasets as [Dataset];
    expect(dataset.files.map(({ path }) => path.split("/").at(-1)).sort()).toEqual(
      [file, "rank0.h5", "rank1.h5"].sort(),
    );
    expectFrames(dataset);
  });

  it.each([
    ["missing", /early\.h5: \/u lacks values.* rank1\.h5 is missing/],
    ["shorter", /early\.h5: \/u lacks values.* \/u of rank1\.h5 is only 2 x 2 x 6 x 6/],
  ])("has missing data where a source is %s, names it, and takes it when it is there", async (kind, warning) => {
    const home = folderOf(kind, "early.h5");
    renameSync(join(home, "rank1.h5"), join(home, "later"));
    const short = { data: new Float32Array(2 * 2 * N * N), shape: [2, 2, N, N] };
    if (kind === "shorter")
      await writeHdf5(join(home, "rank1.h5"), (file) => {
        for (const name of "uvw") file.create_dataset({ name, ...short });
      });
    confirm(home, "early.h5", ENDS);
    const before = scan(home);
    const [lacking] = before.datasets as [Dataset];
    expect(lacking.warnings).toContainEqual(expect.stringMatching(warning));
    expectFrames(lacking, (z) => z >= N / 2);
    renameSync(join(home, "later"), join(home, "rank1.h5"));
    expect(() => openDataset(lacking).readBrick("velocity", 0, 0, new Float32Array(3 * N ** 3))).toThrow(
      /velocity of frame 0 cannot be read/,
    );
    const after = scanFolders([home], { chunkBytes: 2 ** 26, previous: before });
    expectFrames(after.datasets[0] as Dataset);
  });

  it("is not read once a source has changed", () => {
    const home = folderOf("changed", "latest.h5");
    confirm(home, "latest.h5", ENDS);
    const [dataset] = scan(home).datasets as [Dataset];
    const open = openDataset(dataset);
    rmSync(join(home, "rank0.h5"));
    copyFileSync(join(home, "rank1.h5"), join(home, "rank0.h5"));
    expect(() => open.readBrick("velocity", 0, 0, new Float32Array(3 * N ** 3))).toThrow(
      /velocity of frame 0 cannot be read/,
    );
    open.close();
  });

  it("waits until a person confirms it", () => {
    const home = folderOf("waits", "latest.h5");
    expect(scan(home).problems.map(({ location, waits }) => [location.split("/").at(-1), waits])).toContainEqual([
      "latest.h5",
      true,
    ]);
  });

  it.each([
    ["outside.h5", /source \.\.\/secret\.h5 lies outside of its folder/],
    ["gaps.h5", /a part of it has gaps/],
  ])("of %s is refused by the reason", (file, reason) => {
    const home = folderOf(`refused-${file}`, file);
    copyFileSync(join(home, "rank0.h5"), join(SCRATCH, "secret.h5"));
    confirm(home, file, { ...GRID, pressure: "/u", times: { origin: 0, step: 0.25 } });
    expect(scan(home).problems.map(({ message }) => message)).toContainEqual(expect.stringMatching(reason));
  });

  it("has its sources below its folder, links followed", () => {
    const home = folderOf("linked", "early.h5");
    rmSync(join(home, "rank1.h5"));
    copyFileSync(join(FIXTURES, "rank1.h5"), join(SCRATCH, "linked-away.h5"));
    // A link out of the folder leads to what the folder does not hold.
    symlinkSync(join(SCRATCH, "linked-away.h5"), join(home, "rank1.h5"));
    confirm(home, "early.h5", ENDS);
    expect(scan(home).problems.map(({ message }) => message)).toContainEqual(
      expect.stringMatching(/source rank1\.h5 lies outside of its folder/),
    );
  });
});
