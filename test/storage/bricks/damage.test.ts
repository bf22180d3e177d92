/** Damaged, truncated and replaced files give a DataError for the bricks they touch, never a number. */
import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { DataError } from "../../../src/shared/errors.js";
import { openDataset } from "../../../src/storage/bricks/brick-reader.js";
import { scanFolders } from "../../../src/storage/catalog/scan-folders.js";
import type { Dataset } from "../../../src/storage/dataset/dataset.js";
import { stateGrid, writeHdf5 } from "../../support/cubes.js";
import { scratchFolder } from "../../support/scratch.js";

const SCRATCH = scratchFolder();
const N = 40;
const EDGE = 16;
const BRICKS = Math.ceil(N / EDGE) ** 3;

const noise = (i: number) => Math.fround(Math.sin(12.9898 * i + 1) * 43758.5453);

let folder: string;
let path: string;
let dataset: Dataset;
let made = 0;

/** A fresh folder with one cube of 40^3 in chunks of 16^3, scanned. */
async function makeCube(filter: number): Promise<void> {
  folder = join(SCRATCH, String(made++));
  mkdirSync(folder);
  path = await writeHdf5(join(folder, "p.h5"), (file) => {
    stateGrid(file);
    file.create_dataset({
      name: "pressure",
      data: Float32Array.from({ length: N ** 3 }, (_, i) => noise(i)),
      shape: [N, N, N],
      chunks: [EDGE, EDGE, EDGE],
      ...(filter === 0 ? {} : { compression: filter, compression_opts: filter === 1 ? [6] : [] }),
    });
  });
  const { datasets } = scanFolders([folder], { chunkBytes: 2 ** 26 });
  dataset = datasets[0] as Dataset;
}

/** Reads every brick; true for those that fail with a DataError. Those that do not must hold the right values. */
function failures(open = openDataset(dataset)): boolean[] {
  const out = new Float32Array(EDGE ** 3);
  const per = Math.ceil(N / EDGE);
  const failed = Array.from({ length: BRICKS }, (_, brick) => {
    try {
      open.readBrick("pressure", 0, brick, out);
    } catch (error) {
      expect(error).toBeInstanceOf(DataError);
      return true;
    }
    const [bx, by, bz] = [brick % per, Math.floor(brick / per) % per, Math.floor(brick / per / per)];
    for (let i = 0; i < out.length; i++) {
      const [x, y, z] = [
        bx * EDGE + (i % EDGE),
        by * EDGE + (Math.floor(i / EDGE) % EDGE),
        bz * EDGE + Math.floor(i / EDGE ** 2),
      ];
      const expected = x < N && y < N && z < N ? noise((z * N + y) * N + x) : Number.NaN;
      if (!Object.is(out[i], expected))
        throw new Error(`brick ${brick}, node ${x} ${y} ${z}: ${out[i]}, not ${expected}`);
    }
    return false;
  });
  open.close();
  return failed;
}

/** Flips bits in the middle of the file, keeping size and time: only a checksum or a filter can see it. */
function damage(file: string): void {
  const times = dataset.files[0]?.modifiedMs as number;
  const bytes = readFileSync(file);
  const middle = bytes.length >> 1;
  for (let i = middle; i < middle + 64; i++) bytes[i] = (bytes[i] as number) ^ 0x5a;
  writeFileSync(file, bytes);
  utimesSync(file, new Date(times), times / 1000);
}

describe.each([
  ["gzip", 1],
  ["fletcher32", 3],
])("a damaged chunk behind %s", (_, filter) => {
  beforeEach(() => makeCube(filter));

  it("fails alone: the other bricks are read", () => {
    expect(failures().some((failed) => failed)).toBe(false);
    damage(path);
    dataset = scanFolders([folder], { chunkBytes: 2 ** 26 }).datasets[0] as Dataset;
    expect(failures().filter((failed) => failed).length).toBeGreaterThanOrEqual(1);
    expect(failures().filter((failed) => failed).length).toBeLessThanOrEqual(2);
  });

  it("may be asked for any number of times, and reads once it is repaired in place", () => {
    const intact = readFileSync(path);
    damage(path);
    dataset = scanFolders([folder], { chunkBytes: 2 ** 26 }).datasets[0] as Dataset;
    const bad = failures().indexOf(true);
    const open = openDataset(dataset);
    const out = new Float32Array(EDGE ** 3);
    // Thrown through HDF5, an error leaves its stack behind: the library would end after some 1800 of these.
    for (let i = 0; i < 2500; i++) expect(() => open.readBrick("pressure", 0, bad, out)).toThrow(DataError);
    open.close();
    writeFileSync(path, intact);
    dataset = scanFolders([folder], { chunkBytes: 2 ** 26 }).datasets[0] as Dataset;
    expect(failures().some((failed) => failed)).toBe(false);
  });
});

describe("a file that changes under an open dataset", () => {
  beforeEach(() => makeCube(0));

  const CHANGES: [string, () => void][] = [
    ["truncated", () => truncateSync(path, readFileSync(path).length - 40_000)],
    ["grown", () => appendFileSync(path, "more")],
    [
      "replaced by a copy",
      () => {
        copyFileSync(path, `${path}.new`);
        renameSync(`${path}.new`, path);
      },
    ],
    ["removed", () => renameSync(path, `${path}.gone`)],
    [
      "hidden behind what cannot be looked at",
      () => {
        renameSync(path, `${path}.gone`);
        symlinkSync(path, path);
      },
    ],
    ["touched", () => utimesSync(path, new Date(), new Date(Date.now() + 5000))],
  ];

  it.each(CHANGES)("%s: fails from then on, whether its files are open or not", (_, change) => {
    const open = openDataset(dataset);
    const out = new Float32Array(EDGE ** 3);
    open.readBrick("pressure", 0, 0, out);
    change();
    expect(() => open.readBrick("pressure", 0, 1, out)).toThrow(DataError);
    open.close();
    expect(failures()).toEqual(new Array(BRICKS).fill(true));
  });

  it("is a DataError after close as well", () => {
    const open = openDataset(dataset);
    open.close();
    renameSync(path, `${path}.gone`);
    expect(() => open.readBrick("pressure", 0, 0, new Float32Array(EDGE ** 3))).toThrow(DataError);
  });
});

it("a file rewritten in place reads anew while a reader of its old state is still open", async () => {
  await makeCube(1);
  const stale = openDataset(dataset);
  const out = new Float32Array(EDGE ** 3);
  stale.readBrick("pressure", 0, 0, out);
  const rewritten = await writeHdf5(join(SCRATCH, "rewritten.h5"), (file) => {
    const data = Float32Array.from({ length: N ** 3 }, (_, i) => -i);
    stateGrid(file);
    file.create_dataset({ name: "unused", data: new Float32Array(1000) });
    file.create_dataset({ name: "pressure", data, shape: [N, N, N], chunks: [EDGE, EDGE, EDGE] });
  });
  const { ino } = statSync(path);
  writeFileSync(path, readFileSync(rewritten));
  expect(statSync(path).ino).toBe(ino);
  dataset = scanFolders([folder], { chunkBytes: 2 ** 26 }).datasets[0] as Dataset;
  const fresh = openDataset(dataset);
  fresh.readBrick("pressure", 0, 0, out);
  expect([...out.subarray(0, 3)]).toEqual([-0, -1, -2]);
  expect(() => stale.readBrick("pressure", 0, 1, out)).toThrow(DataError);
  fresh.readBrick("pressure", 0, 1, out);
  expect(out[0]).toBe(-EDGE);
  fresh.close();
  stale.close();
});

it("a file that ends inside its values is refused by the catalogue", async () => {
  await makeCube(3);
  truncateSync(path, 100_000);
  const { datasets, problems } = scanFolders([folder], { chunkBytes: 2 ** 26 });
  expect(datasets).toEqual([]);
  expect(problems).toEqual([{ location: path, message: expect.stringMatching(/does not open as an HDF5 file/) }]);
});
