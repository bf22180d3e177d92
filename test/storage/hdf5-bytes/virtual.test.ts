/** Virtual datasets over files of a rank each, made by h5py (`fixtures/virtual/make.py`): values, gaps, refusals. */
import { copyFileSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { openDataset } from "../../../src/storage/bricks/brick-reader.js";
import { confirmationOf } from "../../../src/storage/catalog/confirmation.js";
import { scanFolders } from "../../../src/storage/catalog/scan-folders.js";
import { recogniseSeries } from "../../../src/storage/catalog/series.js";
import { seriesAround, seriesHints } from "../../../src/storage/catalog/series-hint.js";
import type { Dataset } from "../../../src/storage/dataset/dataset.js";
import { setDataFolders } from "../../../src/storage/dataset/files.js";
import type { Answers } from "../../../src/storage/recognise/answers.js";
import { type Recognised, recognise } from "../../../src/storage/recognise/recognise.js";
import { fill, nodeValue, writeHdf5 } from "../../support/cubes.js";
import { nodesOf } from "../../support/read-nodes.js";
import { age, scratchFolder } from "../../support/scratch.js";

const FIXTURES = fileURLToPath(new URL("fixtures/virtual", import.meta.url));
const SCRATCH = scratchFolder();
const N = 6;
const ENDS: Answers = { periodic: [], walls: [] };
const GRID: Answers = { ...ENDS, dims: ["t", "z", "y", "x"], spacing: [0.25, 0.25, 0.25], origin: [0, 0, 0] };

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

type Said = Readonly<Record<string, string | number>>;
/** A rank of these lengths, with attributes; of float64 if one is called so. */
const writeRank = (home: string, shape: number[], attributes: Said = {}, name = "rank1.h5") =>
  writeHdf5(join(home, name), (file) => {
    const numbers = "float64" in attributes ? Float64Array : Float32Array;
    const data = new numbers(shape.reduce((product, length) => product * length, 1));
    for (const name of "uvw") {
      const dataset = file.create_dataset({ name, data, shape, chunks: shape });
      for (const [key, value] of Object.entries(attributes)) dataset.create_attribute(key, value);
    }
  });

const scan = (home: string) => scanFolders([home], { chunkBytes: 2 ** 26 });

/** Values of a frame; NaN in the planes of y, or z, that `lacks` names. */
function expected(frame: number, lacks: (z: number) => boolean = () => false): Float32Array {
  const value = (index: Parameters<typeof nodeValue>[0]) =>
    lacks(index.z) ? Number.NaN : nodeValue({ ...index, t: frame });
  return Float32Array.from(fill(["z", "y", "x", "c"], [N, N, N, 3], value));
}

function expectFrames(dataset: Dataset, lacks?: (z: number) => boolean): void {
  for (const frame of [0, 1]) expect(nodesOf(dataset, "velocity", frame)).toEqual(expected(frame, lacks));
}

describe("a virtual dataset", () => {
  it.each([
    ["early.h5", ENDS],
    ["latest.h5", ENDS],
    ["stacked.h5", { ...GRID, times: { origin: 0, step: 0.25 } }],
  ])("of %s, once confirmed, has the values of its sources, which are no datasets themselves", (file, answers) => {
    const home = folderOf(`served-${file}`, file);
    expect(scan(home).problems).toContainEqual(expect.objectContaining({ location: join(home, file), waits: true }));
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
    const short = [2, 2, N, N];
    if (kind === "shorter") await writeRank(home, short);
    confirm(home, "early.h5", ENDS);
    const before = scan(home);
    const [lacking] = before.datasets as [Dataset];
    expect(lacking.warnings).toContainEqual(expect.stringMatching(warning));
    expectFrames(lacking, (z) => z >= N / 2);
    const opened = [openDataset(lacking)];
    opened[0]?.readBrick("velocity", 0, 0, new Float32Array(3 * N ** 3));
    renameSync(join(home, "later"), join(home, "rank1.h5"));
    for (const open of [...opened, openDataset(lacking)]) {
      const read = () => open.readBrick("velocity", 0, 0, new Float32Array(3 * N ** 3));
      expect(read).toThrow(/velocity of frame 0 cannot be read/);
    }
    const after = scanFolders([home], { chunkBytes: 2 ** 26, previous: before });
    expectFrames(after.datasets[0] as Dataset);
  });

  it.each([
    [{ scale_factor: 2 }, /its source rank1\.h5:\/u states scale_factor = 2, and it does not/],
    [{ missing_value: -999 }, /its source rank1\.h5:\/u states missing_value = -999, and it does not/],
    [{ units: "cm/s" }, /Statements that nothing applies: units = "cm\/s" of rank1\.h5:\/u and 2 more/],
    [{ to_SI: 0.01 }, /Numbers that nothing applies: to_SI = 0\.01 of rank1\.h5:\/u and 2 more/],
    [{ scale_factor: 1, _FillValue: Number.NaN, history: "by h5py" }, null],
  ])("is refused or has a red line where a source alone has the attributes %o", async (attributes, text) => {
    const home = folderOf(`attributes-${Object.entries(attributes).flat()}`.replace("/", ""), "early.h5");
    await writeRank(home, [2, N / 2, N, N], attributes);
    const { written } = recognise(join(home, "early.h5"), ENDS) as Recognised;
    const red = (written.questions ?? []).flatMap(({ red, question }) => (red === true ? [question] : []));
    writeFileSync(join(home, "dataset.json"), JSON.stringify({ ...written, questions: undefined }));
    const all = [...red, ...scan(home).problems.map(({ message }) => message)];
    expect(all).toEqual(text === null ? [] : expect.arrayContaining([expect.stringMatching(text)]));
  });

  it.each([
    [
      "early.h5",
      [2, N / 2, N, N],
      { float64: 1 },
      /confirmed: the sources of \/u are not readable: its source rank1\.h5 holds float64; the/,
    ],
    ["early.h5", [2, N / 2, N, N], { units: "cm/s" }, /@units \(rank1\.h5:\/u\) is new \("cm\/s"\)/],
    [
      "stacked.h5",
      [3, N / 2, N, N + 1],
      {},
      /rank1\.h5:\/u, float32 3 x 6 x 7, and was rank1\.h5:\/u, float32 3 x 6 x 6/,
    ],
  ])("waits once a source of %s has other lengths %j or attributes %o", async (file, shape, attributes, text) => {
    const home = folderOf(`waits-${file}-${Object.keys(attributes)}`, file);
    confirm(home, file, file === "early.h5" ? ENDS : { ...GRID, times: { origin: 0, step: 0.25 } });
    expect(scan(home).problems).toEqual([]);
    await writeRank(home, shape, attributes);
    expect(scan(home).problems).toEqual([
      expect.objectContaining({ message: expect.stringMatching(text), waits: true }),
    ]);
  });

  it("joins its series with sources of its name, which are no datasets, and waits if they state more", async () => {
    const home = join(SCRATCH, "series");
    const add = async (step: number, attributes = {}) => {
      const [name, folder] = [join(home, `run_${step}.h5`), join(home, `run_${step}`)];
      mkdirSync(folder, { recursive: true });
      copyFileSync(join(FIXTURES, `run_${step}.h5`), name);
      const ranks = [0, 1].map((r) => writeRank(folder, [N / 2, N, N], attributes, `run_${step}_p${r}.h5`));
      age(name, ...(await Promise.all(ranks)));
      return name;
    };
    const found = recogniseSeries([await add(1), await add(2)], ENDS);
    writeFileSync(join(home, "run.dataset.json"), confirmationOf(found, found.varies, home, false));
    const seen = () => scan(home).datasets.map(({ time }) => time.count);
    expect([seen(), await add(3), seen()]).toEqual([[2], join(home, "run_3.h5"), [3]]);
    expect(scan(home).problems).toEqual([]);
    const location = await add(3, { scale_factor: 2 });
    const message = expect.stringContaining("@scale_factor (run_3/run_3_p0.h5:/u) is new (2)");
    expect([seen(), scan(home).problems]).toEqual([[2], [{ location, message, waits: true }]]);
    expect(JSON.stringify(scanFolders([home], { chunkBytes: 400 }).problems)).toContain("chunks of 432 bytes");
  });

  it("has sources anywhere below its data folder, which claim and change it as those beside it", async () => {
    const [data, home] = [join(SCRATCH, "data"), join(SCRATCH, "data", "run", "v")];
    mkdirSync(home, { recursive: true });
    for (const [from, to] of [
      ["early.h5", "run/v/early.h5"],
      ["rank0.h5", "rank0.h5"],
      ["rank1.h5", "rank1.h5"],
    ] as const)
      copyFileSync(join(FIXTURES, from), join(data, to));
    for (const rank of ["rank0.h5", "rank1.h5"]) symlinkSync(join(data, rank), join(home, rank));
    const series = [1, 2].map((n) => join(home, `u_${n}.h5`));
    for (const path of series) copyFileSync(join(home, "early.h5"), path);
    setDataFolders([SCRATCH, data]);
    confirm(home, "early.h5", ENDS);
    const { datasets, problems } = scan(data);
    expect([datasets, problems].map((all) => all.length)).toEqual([1, 2]);
    const line = expect.stringContaining(`inspect ${join(home, "u_*.h5")} --data ${data} `);
    const waiting = problems.map((one) => ({ ...one, series: "u_*.h5" }));
    expect(seriesHints([], waiting)).toEqual([line]);
    expect(seriesAround(series[0] as string, () => true)).toEqual(line);
    for (const path of series) rmSync(path);
    expectFrames(datasets[0] as Dataset);
    expect(scan(home).problems.map(({ message }) => message)).toEqual([expect.stringMatching(/outside of its data/)]);
    await writeRank(data, [2, N / 2, N, N], { units: "cm/s" });
    expect(scan(data).problems).toEqual([expect.objectContaining({ waits: true })]);
  });

  it.each([
    ["outside.h5", /source \.\.\/secret\.h5 lies outside of its data folder/],
    ["gaps.h5", /a part of it has gaps/],
    ["early.h5", /source rank1\.h5 lies outside of its data folder/],
  ])("of %s is refused by the reason", (file, reason) => {
    const home = folderOf(`refused-${file}`, file);
    copyFileSync(join(home, "rank0.h5"), join(SCRATCH, "secret.h5"));
    // A link out of the folder leads to what the folder does not hold.
    rmSync(join(home, "rank1.h5"));
    symlinkSync(join(SCRATCH, "secret.h5"), join(home, "rank1.h5"));
    confirm(home, file, { ...GRID, pressure: "/u", times: { origin: 0, step: 0.25 } });
    expect(scan(home).problems.map(({ message }) => message)).toContainEqual(expect.stringMatching(reason));
  });
});
