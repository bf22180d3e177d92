/** Files that are symbolic links, alone and in series, and series whose step stands in more than one place. */
import { mkdirSync, renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { scanFolders } from "../../../src/storage/catalog/scan-folders.js";
import {
  type Dimension,
  descriptor,
  FRAMES,
  fill,
  NODES,
  nodeValue,
  stateGrid,
  writeDescriptor,
  writeField,
  writeHdf5,
} from "../../support/cubes.js";
import { onlyDataset } from "../../support/only-dataset.js";
import { firstDifference, nodesOf } from "../../support/read-nodes.js";
import { scratchFolder } from "../../support/scratch.js";

const SCRATCH = scratchFolder();
const DIMENSIONS: Dimension[] = ["z", "y", "x"];

const frames = Array.from({ length: FRAMES }, (_, frame) => frame);

function writeFrame(path: string, frame: number): Promise<string> {
  const value = (index: Parameters<typeof nodeValue>[0]) => nodeValue({ ...index, t: frame });
  return writeHdf5(path, (file) => {
    stateGrid(file);
    writeField(file, "/p", { dimensions: DIMENSIONS, value });
  });
}

/** Describes the files `pattern` of a folder as one pressure, and expects every node of every frame. */
function expectSeries(folder: string, pattern: string): void {
  const pressure = { file: pattern, path: "/p", dimensions: DIMENSIONS };
  writeDescriptor(folder, descriptor("series", { fields: { pressure } }));
  expectFrames(folder, frames);
}

function expectFrames(folder: string, stored: readonly number[]): void {
  const dataset = onlyDataset(folder);
  for (const [at, frame] of stored.entries()) {
    const values = fill(DIMENSIONS, [NODES.z, NODES.y, NODES.x], (index) => nodeValue({ ...index, t: frame }));
    expect(firstDifference(nodesOf(dataset, "pressure", at), Float32Array.from(values))).toBeNull();
  }
}

it("reads a series whose files are links", async () => {
  const folder = join(SCRATCH, "files");
  mkdirSync(join(folder, "store"), { recursive: true });
  for (const frame of frames) {
    const path = await writeFrame(join(folder, "store", `run-${7 - frame}.h5`), frame);
    symlinkSync(path, join(folder, `p_${frame}.h5`));
  }
  expectSeries(folder, "p_{step:01d}.h5");
});

it("reads a series behind a linked folder", async () => {
  const folder = join(SCRATCH, "folder");
  mkdirSync(join(folder, "store"), { recursive: true });
  symlinkSync("store", join(folder, "now"));
  for (const frame of frames) await writeFrame(join(folder, "store", `p_${frame}.h5`), frame);
  expectSeries(folder, "now/p_{step:01d}.h5");
});

it("reads a series with the step in folder and file", async () => {
  const folder = join(SCRATCH, "twice");
  for (const frame of frames) {
    mkdirSync(join(folder, `00${frame}`), { recursive: true });
    await writeFrame(join(folder, `00${frame}`, `p_${frame}.h5`), frame);
  }
  expectSeries(folder, "{step:03d}/p_{step:01d}.h5");
});

it("serves a bare file behind a link, under the name of the link", async () => {
  const folder = join(SCRATCH, "bare");
  const elsewhere = join(SCRATCH, "elsewhere");
  for (const made of [folder, elsewhere]) mkdirSync(made);
  const path = await writeFrame(join(elsewhere, "run 7.h5"), 2);
  symlinkSync(path, join(folder, "cube.h5"));
  expectFrames(folder, [2]);
  expect(scanFolders([folder], { chunkBytes: 1024 * 1024 }).datasets[0]?.name).toBe("cube");
  renameSync(path, `${path}.away`);
  expect(scanFolders([folder], { chunkBytes: 1024 * 1024 }).datasets).toEqual([]);
});
