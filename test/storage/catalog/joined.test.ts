/** One dataset out of files of several times each, of overlapping times, and of one variable each. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { File } from "h5wasm/node";
import { describe, expect, it, vi } from "vitest";
import { confirmationOf } from "../../../src/storage/catalog/confirmation.js";
import { scanFolders } from "../../../src/storage/catalog/scan-folders.js";
import { recogniseSeries } from "../../../src/storage/catalog/series.js";
import type { Dataset } from "../../../src/storage/dataset/dataset.js";
import type { Answers } from "../../../src/storage/recognise/answers.js";
import { openLines } from "../../../src/storage/recognise/draft.js";
import { fill, NODES, nodeValue, writeField, writeHdf5 } from "../../support/cubes.js";
import { onlyDataset } from "../../support/only-dataset.js";
import { writeTables } from "../../support/questionable-files.js";
import { nodesOf } from "../../support/read-nodes.js";
import { age, folderIn, scratchFolder } from "../../support/scratch.js";

const SCRATCH = scratchFolder();
const UVW = ["u", "v", "w"] as const;
const ENDS: Answers = { walls: [] };

const folder = (name: string) => folderIn(SCRATCH, name);

/** Writes some components at some times; the values of a time are those of `nodeValue` at its label. */
function flow(
  names: readonly string[],
  times: readonly number[],
  labels: readonly number[],
  more = (_: File): void => {},
) {
  return (file: File): void => {
    for (const name of names)
      writeField(file, `/${name}`, {
        dimensions: times.length > 1 ? ["t", "z", "y", "x"] : ["z", "y", "x"],
        lengths: { t: times.length },
        value: (index) => nodeValue({ ...index, t: labels[index.t] as number, c: UVW.indexOf(name as "u") }),
      });
    writeTables(file);
    if (times.length > 1) file.create_dataset({ name: "time", data: Float64Array.from(times) });
    else file.create_attribute("time", times[0] as number, [], "<d");
    more(file);
  };
}

function confirm(home: string, paths: readonly string[], answers: Answers): void {
  const found = recogniseSeries(paths, answers);
  expect(openLines(found.descriptor.questions)).toEqual([]);
  writeFileSync(join(home, `${found.written.name}.dataset.json`), confirmationOf(found, found.varies, home, false));
}

function served(home: string): { readonly dataset: Dataset; readonly times: number[] } {
  const dataset = onlyDataset(home);
  const { count, origin, step, values } = dataset.time;
  return { dataset, times: Array.from({ length: count }, (_, at) => values?.[at] ?? origin + at * step) };
}

function expectFrames(dataset: Dataset, labels: readonly number[]): void {
  for (const [frame, t] of labels.entries()) {
    const nodes = fill(["z", "y", "x", "c"], [NODES.z, NODES.y, NODES.x, 3], (index) => nodeValue({ ...index, t }));
    expect(nodesOf(dataset, "velocity", frame), `frame ${frame}`).toEqual(Float32Array.from(nodes));
  }
}

describe("files of several times each", () => {
  it.each([[["s_1.h5", "s_2.h5"]], [["own.h5"]]])("are one dataset, and take what comes later (%j)", async (names) => {
    const home = folder(`many-${names.length}`);
    const write = (name: string, ...labels: number[]) => {
      const table = (file: File) => file.create_dataset({ name: "iteration", data: Int32Array.from(labels) });
      const times = labels.map((label) => label / 4);
      return writeHdf5(join(home, name), flow(UVW, times, labels, table));
    };
    const early = names.length > 1 ? [0, 1] : [];
    const late = names.length > 1 ? [6, 7] : [];
    if (early.length > 0) await write("s_1.h5", ...early);
    const path = await write(names.at(-1) as string, 2, 3, 4);
    const paths = names.map((name) => join(home, name));
    confirm(home, paths, ENDS);
    expectFrames(served(home).dataset, [...early, 2, 3, 4]);
    await write(names.at(-1) as string, 2, 3, 4, 5);
    const { datasets, problems } = scanFolders([home], { chunkBytes: 2 ** 26 });
    expect(datasets[0]?.time.count).toBe(early.length + 3);
    const message = "what follows its first 3 times waits: it was written to within the last 30 s";
    expect(problems).toEqual([{ location: path, message, waits: true }]);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 60_000 });
    expect(served(home).dataset.digest).not.toBe(datasets[0]?.digest);
    vi.useRealTimers();
    age(path);
    if (late.length > 0) age(await write("s_3.h5", ...late));
    const { dataset, times } = served(home);
    const labels = [...early, 2, 3, 4, 5, ...late];
    expect(times).toEqual(labels.map((label) => label / 4));
    expectFrames(dataset, labels);
    const [last, held] = late.length > 0 ? ["s_3.h5", late] : ["own.h5", [2, 3, 4, 5]];
    const previous = scanFolders([home], { chunkBytes: 2 ** 26 });
    await write(last, ...held, 8, 9);
    const next = scanFolders([home], { chunkBytes: 2 ** 26, previous });
    const kept = late.length > 0 ? labels.slice(0, -late.length) : labels;
    expectFrames(next.datasets[0] as Dataset, kept);
    const what = late.length > 0 ? "waits as a file of its series" : "what follows its first 4 times waits";
    const waits = `${what}: it was written to within the last 30 s`;
    expect([next.datasets[0]?.time.count, next.problems[0]?.message]).toEqual([kept.length, waits]);
  });

  it.each([
    ["first", [0, 1, 2, 13, 14]],
    ["last", [0, 11, 12, 13, 14]],
  ] as const)("are asked about times that overlap, and keep the %s", async (overlap, labels) => {
    const home = folder(`overlap-${overlap}`);
    const paths = [
      await writeHdf5(join(home, "s_1.h5"), flow(UVW, [0, 0.25, 0.5], [0, 1, 2])),
      await writeHdf5(join(home, "s_2.h5"), flow(UVW, [0.25, 0.5, 0.75, 1], [11, 12, 13, 14])),
    ];
    const asked = openLines(recogniseSeries(paths, ENDS).descriptor.questions);
    expect(asked.map(({ about, question }) => [about, question])).toEqual([
      ["times", "s_2.h5 begins at 0.25, and s_1.h5 ends at 0.5: the times of the two overlap."],
    ]);
    confirm(home, paths, { ...ENDS, overlap });
    const { dataset, times } = served(home);
    expect(times).toEqual([0, 0.25, 0.5, 0.75, 1]);
    expectFrames(dataset, labels);
  });
});

describe("files of one variable each", () => {
  it("are one dataset at one time", async () => {
    const home = folder("variables");
    const paths = [];
    for (const name of UVW) {
      const titled = (file: File) => file.create_attribute("title", name);
      paths.push(await writeHdf5(join(home, `${name}.h5`), flow([name], [0.5], [3], titled)));
    }
    expect(recogniseSeries(paths, ENDS).varies).toEqual(["@title"]);
    confirm(home, paths, ENDS);
    const { dataset, times } = served(home);
    expect([dataset.name, times]).toEqual(["u-v-w", [0.5]]);
    expectFrames(dataset, [3]);
  });

  it("are a series by the numbers in their names, and take those that come later", async () => {
    const home = folder("variables-in-time");
    const write = async (step: number) => {
      const paths = [];
      for (const name of UVW)
        paths.push(await writeHdf5(join(home, `${name}_000${step}.h5`), flow([name], [step / 4], [step])));
      return paths;
    };
    const paths = [...(await write(0)), ...(await write(1))];
    expect(() => recogniseSeries(paths.slice(0, 5), ENDS)).toThrow(/0001 a file for each of u_\{step\}\.h5/);
    confirm(home, paths, ENDS);
    expectFrames(served(home).dataset, [0, 1]);
    age(...(await write(2)));
    const { dataset, times } = served(home);
    expect(times).toEqual([0, 0.25, 0.5]);
    expectFrames(dataset, [0, 1, 2]);
  });

  it("are refused if they are not of one time, or on other nodes", async () => {
    const home = folder("unlike");
    const write = (name: string, time: number, more?: (file: File) => void) =>
      writeHdf5(join(home, `${name}.h5`), flow([name], [time], [0], more));
    const [u, v] = [await write("u", 0), await write("v", 0.5)];
    expect(() => recogniseSeries([u, v], {})).toThrow(/u\.h5 and v\.h5 .*@time/);
    const other = await write("w", 0, (file) => {
      const nodes = Float64Array.from({ length: NODES.x }, (_, i) => i);
      file.create_dataset({ name: "mask", data: nodes });
    });
    const mask = await writeHdf5(join(home, "p.h5"), (file) => {
      flow(["p"], [0], [0])(file);
      file.create_dataset({ name: "mask", data: new Float64Array(NODES.x) });
    });
    expect(() => recogniseSeries([other, mask], {})).toThrow(/w\.h5 and p\.h5 .*\/mask/);
  });
});
