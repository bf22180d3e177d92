/** Files that look like one series are told from others, which are left alone. */
import { join } from "node:path";
import type { File } from "h5wasm/node";
import { expect, it } from "vitest";
import { scanFolders } from "../../../src/storage/catalog/scan-folders.js";
import { recogniseSeries } from "../../../src/storage/catalog/series.js";
import { seriesAround, seriesHints } from "../../../src/storage/catalog/series-hint.js";
import { openLines } from "../../../src/storage/recognise/draft.js";
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

it.each([
  [3, "", " --times 0:100 --yes"],
  [2, "time", " --yes"],
])("names %i files, and the command that makes them one dataset, as inspect does", async (count, attribute, flags) => {
  const names = ["run_000.h5", "run_100.h5", "run_200.h5"].slice(0, count);
  let made = 0;
  const write = (file: File) => {
    cube(file);
    if (attribute !== "") file.create_attribute(attribute, made++);
  };
  const pattern = join(SCRATCH, `series${count}`, "run_*.h5");
  const line = `${count} files ${pattern} look like one series: fieldprobe inspect ${pattern}${flags} makes them one`;
  expect(await hintsFor(`series${count}`, [...names, "other.h5"], write)).toEqual([line]);
  const paths = names.map((name) => join(SCRATCH, `series${count}`, name));
  expect(seriesAround(paths[0] as string, () => true)).toBe(line);
  const times = attribute === "" ? { times: { origin: 0, step: 100 } } : {};
  const found = recogniseSeries(paths, times).descriptor;
  expect([openLines(found.questions), found.time]).toMatchObject([[], { count }]);
  expect(
    seriesHints(
      [],
      paths.map((location) => ({ location, series: pattern })),
    ),
  ).toEqual([expect.stringMatching(/run_\*\.h5 shows them as one$/)]);
});

it("names the folder of confirmations that cannot be beside their files, and one of sources", () => {
  const of = { series: "/none/v/u_*.h5", sources: ["/none/r.h5"] };
  const waiting = ["/none/v/u_0.h5", "/none/v/u_1.h5"].map((location) => ({ location, ...of }));
  const command = `inspect ${of.series} --descriptors /s --data /none `;
  expect(seriesHints([], waiting, "/s")).toEqual([expect.stringContaining(command)]);
});

it("leaves other names alone, takes files of several times or with fractions, and names files that a pattern cannot", async () => {
  const fractions = ["t0000.000.h5", "t0000.500.h5", "t0001.000.h5"];
  expect(await hintsFor("fractions", fractions)).toEqual([expect.stringContaining("t*.h5 --times 0:0.5 --yes makes")]);
  expect(await hintsFor("others", ["a1.h5", "u.h5", "b3x.h5", "b4y.h5"])).toEqual([]);
  const named = expect.stringMatching(/inspect \S+a1\.h5 \S+a2\.h5 --times 1:1 --yes/);
  expect(await hintsFor("wide", ["a1.h5", "a2.h5", "ax.h5"])).toEqual([named]);
  const several = (file: File) => {
    stateGrid(file);
    file.create_dataset({ name: "time", data: Float64Array.of(0, 1, 2) });
    writeField(file, "/p", { dimensions: ["t", "z", "y", "x"], value: () => 0 });
  };
  expect(await hintsFor("times", ["c1.h5", "c2.h5"], several)).toEqual([
    expect.stringMatching(/ --overlap last --yes /),
  ]);
});
