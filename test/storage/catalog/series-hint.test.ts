/** Files that look like one series are told from others, which are left alone. */
import { join } from "node:path";
import type { File } from "h5wasm/node";
import { expect, it } from "vitest";
import { scanFolders } from "../../../src/storage/catalog/scan-folders.js";
import { seriesHints } from "../../../src/storage/catalog/series-hint.js";
import { stateGrid, writeField, writeHdf5 } from "../../support/cubes.js";
import { folderIn, scratchFolder } from "../../support/scratch.js";

const SCRATCH = scratchFolder();

async function hintsFor(folder: string, names: readonly string[], write = cube): Promise<string[]> {
  const home = folderIn(SCRATCH, folder);
  for (const name of names) await writeHdf5(join(home, name), write);
  const { datasets, problems } = scanFolders([home], { chunkBytes: 2 ** 26 });
  expect(problems).toEqual([]);
  return seriesHints(datasets);
}

function cube(file: File): void {
  stateGrid(file);
  writeField(file, "/p", { dimensions: ["z", "y", "x"], value: () => 0 });
}

it("names the files, and the command that makes them one dataset", async () => {
  const hints = await hintsFor("series", ["run_00000.h5", "run_00100.h5", "run_00200.h5", "other.h5"]);
  const pattern = join(SCRATCH, "series", "run_*.h5");
  expect(hints).toEqual([
    `3 files ${pattern} look like one series and are served as 3 datasets; ` +
      `fieldprobe inspect ${pattern} --yes makes them one`,
  ]);
});

it("leaves pairs and other names alone, and takes files of several times or with fractions", async () => {
  const fractions = ["t0000.000.h5", "t0000.500.h5", "t0001.000.h5"];
  expect(await hintsFor("fractions", fractions)).toEqual([expect.stringContaining("t*.h5 --yes makes")]);
  expect(await hintsFor("pair", ["a1.h5", "a2.h5", "u.h5", "b3x.h5", "b4y.h5"])).toEqual([]);
  const several = (file: File) => {
    stateGrid(file);
    file.create_dataset({ name: "time", data: Float64Array.of(0, 1, 2) });
    writeField(file, "/p", { dimensions: ["t", "z", "y", "x"], value: () => 0 });
  };
  expect(await hintsFor("times", ["c1.h5", "c2.h5", "c3.h5"], several)).toEqual([expect.stringMatching(/^3 files /)]);
});
