/** Confirmed descriptions claim their own files, hold for one structure, and take new files of a series. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, copyFileSync, existsSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { File, Group, Dataset as H5Dataset } from "h5wasm/node";
import { describe, expect, it } from "vitest";
import { confirmationOf, placeOfConfirmation, renewed, waitsFor } from "../../../src/storage/catalog/confirmation.js";
import { scanFolders } from "../../../src/storage/catalog/scan-folders.js";
import { recogniseSeries } from "../../../src/storage/catalog/series.js";
import { openSource } from "../../../src/storage/catalog/source.js";
import type { Dataset } from "../../../src/storage/dataset/dataset.js";
import { type Recognised, recognise } from "../../../src/storage/recognise/recognise.js";
import { answerDraft, keepDraft } from "../../../src/storage/tools/drafts.js";
import { writeField, writeHdf5 } from "../../support/cubes.js";
import { timed as field } from "../../support/questionable-files.js";
import { nodesOf } from "../../support/read-nodes.js";
import { age, folderIn, scratchFolder } from "../../support/scratch.js";

const SCRATCH = scratchFolder();
const CHUNK_BYTES = 2 ** 26;
const ANSWERS = { walls: [] } as const;

const folder = (name: string) => folderIn(SCRATCH, name);

const dt = (value: number) => (file: File) => file.create_attribute("dt", value, [], "<d");
const mask =
  (...values: number[]) =>
  (file: File) =>
    file.create_dataset({ name: "mask", data: Float64Array.from(values) });

/** Confirms files of a folder, one or a series. */
function confirm(home: string, ...names: readonly string[]): string {
  const paths = names.map((name) => join(home, name));
  const [first] = paths as [string];
  const found = paths.length > 1 ? recogniseSeries(paths, ANSWERS) : recognise(first, ANSWERS);
  const path = placeOfConfirmation((found as Recognised).written.name, home, join(SCRATCH, "apart"));
  writeFileSync(path, confirmationOf(found as Recognised, (found as Recognised).varies, home, false));
  return path;
}

async function confirmedSeries(name: string): Promise<string> {
  const home = folder(name);
  for (const step of [0, 1]) await writeHdf5(join(home, `s_${step}.h5`), field(step, dt(step)));
  confirm(home, "s_0.h5", "s_1.h5");
  return home;
}

const scan = (home: string, descriptors: string | null = null) =>
  scanFolders([home], { chunkBytes: CHUNK_BYTES, descriptors });

describe("a confirmation", () => {
  it("claims its own file alone, and its neighbours wait", async () => {
    const home = folder("own");
    await writeHdf5(join(home, "u.h5"), field(0));
    await writeHdf5(join(home, "v.h5"), field(0));
    expect(scan(home).problems.map(({ waits }) => waits)).toEqual([true, true]);
    confirm(home, "u.h5");
    const { datasets, problems } = scan(home);
    expect(datasets.map(({ name }) => name)).toEqual(["u"]);
    const location = join(home, "v.h5");
    const message = `needs a look: fieldprobe inspect ${location}`;
    expect(problems).toEqual([{ location, message, names: ["v"], waits: true, sources: [] }]);
    expect(openSource(join(home, "u.h5"), CHUNK_BYTES).name).toBe("u");
    expect(() => openSource(join(home, "v.h5"), CHUNK_BYTES)).toThrow(/open question about faces/);
  });

  it.each([
    [[], "/mask is float64 2 = 1, 2, and was float64 2 = 1, 1"],
    [[3, 4, 5], "/mask has other values than when it was confirmed"],
  ])("holds until a small dataset differs, names it, and is renewed (%j)", async (more, difference) => {
    const home = folder(`changed${more.length}`);
    await writeHdf5(join(home, "u.h5"), field(0, mask(1, 1, ...more)));
    const location = confirm(home, "u.h5");
    expect(scan(home).datasets).toHaveLength(1);
    await writeHdf5(join(home, "u.h5"), field(0, mask(1, 2, ...more)));
    const { datasets, problems } = scan(home);
    expect(datasets).toEqual([]);
    expect(problems.map(({ message, waits }) => [message, waits])).toEqual([
      [expect.stringContaining(`(not as it was confirmed: ${difference})`), true],
    ]);
    writeFileSync(location, renewed(location));
    expect(scan(home).datasets).toHaveLength(1);
  });

  it("holds although the values of a field differ", async () => {
    const home = folder("values");
    await writeHdf5(join(home, "u.h5"), field(0));
    confirm(home, "u.h5");
    await writeHdf5(join(home, "u.h5"), (file) => {
      field(0)(file);
      const u = file.get("u") as H5Dataset;
      u.write_slice([[0, 1]], new Float32Array((u.shape?.[1] ?? 0) * (u.shape?.[2] ?? 0)).fill(7));
    });
    expect(scan(home).datasets).toHaveLength(1);
  });

  it("lies in the folder of descriptors if its files' folder is read-only", async () => {
    const home = folder("read-only");
    const path = await writeHdf5(join(home, "u.h5"), field(0));
    const apart = folder("apart-of-it");
    chmodSync(home, 0o555);
    const place = placeOfConfirmation("u", home, apart);
    // Root may write anywhere.
    if (process.getuid?.() !== 0) expect(place).toEqual(join(apart, "u.json"));
    writeFileSync(join(apart, "u.json"), confirmationOf(recognise(path, ANSWERS) as Recognised, [], home, true));
    expect(scan(home, apart).datasets.map(({ name }) => name)).toEqual(["u"]);
    expect(openSource(path, CHUNK_BYTES, {}, apart).name).toBe("u");
    // The same folder of descriptors says nothing of other data folders.
    expect(scan(folder("elsewhere"), apart)).toMatchObject({ datasets: [], problems: [] });
    chmodSync(home, 0o755);
  });

  it.each([
    ["s3://b/u.h5", [], "--descriptors /state/descriptors"],
    [join(SCRATCH, "v", "u.h5"), [join(SCRATCH, "r", "r0.h5")], `--data ${SCRATCH}`],
  ])("of %s is asked for by a command with all that it takes", (file, sources, flags) => {
    const look = waitsFor(file, { sources } as unknown as Recognised, sources.length > 0 ? null : "/state/descriptors");
    expect(look).toBe(`needs a look: fieldprobe inspect ${file} ${flags}`);
  });

  it("is found beside a file that a link in a data folder names", async () => {
    const home = folder("linked");
    await writeHdf5(join(folder("scratch"), "u.h5"), field(0));
    symlinkSync(join("..", "scratch", "u.h5"), join(home, "out.h5"));
    expect(scan(home)).toMatchObject({ datasets: [], problems: [{ waits: true }] });
    confirm(join(SCRATCH, "scratch"), "u.h5");
    expect(scan(home)).toMatchObject({ datasets: [{ name: "u" }], problems: [] });
  });

  it("holds for the numbers of a mesh of coordinates, however many", async () => {
    const home = folder("mesh");
    const [shape, count] = [[48, 40, 40], 48 * 40 * 40];
    const write = (spacing: number) =>
      writeHdf5(join(home, "m.h5"), (file) => {
        for (const [name, below, length] of [
          ["Z", 1600, 48],
          ["Y", 40, 40],
          ["X", 1, 40],
        ] as const) {
          const data = Float64Array.from({ length: count }, (_, i) => spacing * (Math.floor(i / below) % length));
          file.create_dataset({ name, data, shape });
        }
        for (const name of ["u", "v", "w"]) file.create_dataset({ name, data: new Float32Array(count).fill(1), shape });
        file.create_attribute("axes", "zyx");
        file.create_attribute("periodic", "none");
      });
    await write(0.5);
    confirm(home, "m.h5");
    expect(scan(home).datasets).toHaveLength(1);
    await write(0.25);
    expect(scan(home).problems[0]?.message).toContain("/X has other values than when it was confirmed");
  });

  it("is taken for a single file that is served alone, or is given itself", async () => {
    const home = folder("single");
    for (const name of ["u.h5", "v.h5"]) await writeHdf5(join(home, name), field(0));
    for (const name of ["u.h5", "v.h5"]) confirm(home, name);
    for (const given of ["u.h5", "u.dataset.json"])
      expect(scan(join(home, given)).datasets.map(({ name }) => name)).toEqual(["u"]);
  });
});

describe("a confirmed series", () => {
  it("is one yes for 100 files whose dt and iteration differ", async () => {
    const home = folder("series");
    const steps = (step: number) => (file: File) => {
      dt(0.1 + 0.01 * step)(file);
      file.create_attribute("iteration", 10 * step);
    };
    const names = Array.from({ length: 100 }, (_, step) => `s_${String(step).padStart(3, "0")}.h5`);
    for (const [step, name] of names.entries()) await writeHdf5(join(home, name), field(step, steps(step)));
    confirm(home, ...names);
    const { datasets, problems } = scan(home);
    expect(problems).toEqual([]);
    expect(datasets.map(({ name, time }) => [name, time.count])).toEqual([["s", 100]]);
  });

  it("takes a new file, and names those that wait", async () => {
    const home = await confirmedSeries("growing");
    const digest = scan(home).datasets[0]?.digest;
    await writeHdf5(join(home, "s_2.h5"), field(3, dt(2)));
    await writeHdf5(join(home, "s_3.h5"), field(2.5, dt(2)));
    await writeHdf5(join(home, "s_4.h5"), field(4, mask(1, 1)));
    const early = scan(home);
    // Neither a file that waits nor the time since the others were written is a change of the data.
    expect(early.datasets[0]).toMatchObject({ time: { count: 2 }, digest });
    expect(early.problems[0]?.message).toMatch(/^waits as .*: it was written to within the last 30 s$/);
    age(...[2, 3, 4].map((step) => join(home, `s_${step}.h5`)));
    const { datasets, problems } = scanFolders([home], { chunkBytes: CHUNK_BYTES, previous: early });
    const [{ time, digest: later } = { time: null, digest }] = datasets;
    expect([time?.count, [...(time?.values ?? [])], later === digest]).toEqual([3, [0, 1, 3], false]);
    const waits = problems.map(({ location, message }) => `${location.slice(home.length + 1)}: ${message}`);
    expect(waits).toEqual([
      "s_3.h5: waits as a file of its series: its time 2.5 is not after 3, the last",
      expect.stringContaining("s_4.h5: needs a look (not as it was confirmed: /mask is new (float64 2 = 1, 1)): "),
    ]);
    // What has no number in its place is no file of the series.
    await writeHdf5(join(home, "s_mean.h5"), mask(1, 1));
    expect(scan(home).problems.map(({ location }) => location)).toContain(join(home, "s_mean.h5"));
    copyFileSync(join(home, "s_2.h5"), join(home, "s_9.h5"));
    age(join(home, "s_9.h5"));
    const { message = "" } = scan(home).problems.find(({ location }) => location.endsWith("s_9.h5")) ?? {};
    expect(message).toContain("its time 3 is not after 3, the last");
  });

  it("takes no new file by the clock of files whose times were answered", async () => {
    const home = folder("answered");
    const paths = [0, 1, 2, 3].map((step) => join(home, `s_${step}.h5`)) as [string, string, string, string];
    for (const [step, path] of paths.entries()) await writeHdf5(path, field(step, dt(step)));
    age(paths[3]);
    const found = recogniseSeries(paths.slice(0, 3), { ...ANSWERS, times: [0, 0.5, 1] });
    writeFileSync(join(home, "s.dataset.json"), confirmationOf(found, found.varies, home, false));
    const { datasets, problems } = scan(home);
    expect(datasets[0]?.time).toMatchObject({ count: 3, step: 0.5 });
    expect(problems[0]?.message).toBe(
      "waits as a file of its series: times were answered for the others; inspect the whole series again to add it",
    );
  });

  it("waits when files with dates of their own change places", async () => {
    const home = folder("dated");
    const [first, second] = [0, 1].map((day) => join(home, `s_${day}.h5`)) as [string, string];
    const since = (day: number) =>
      field(6, (file) => file.create_attribute("time_units", `seconds since 2000-01-0${day} 00:00`));
    for (const [day, path] of [first, second].entries()) await writeHdf5(path, since(day + 1));
    confirm(home, "s_0.h5", "s_1.h5");
    expect(scan(home).datasets[0]?.time.count).toBe(2);
    for (const [day, path] of [second, first].entries()) await writeHdf5(path, since(day + 1));
    expect(scan(home).problems[0]?.message).toContain("not as it was confirmed: it states the time");
  });

  it("waits for an answer about a file that states the grid otherwise", async () => {
    const home = await confirmedSeries("otherwise");
    const otherwise = (file: File) => (file.get("u") as H5Dataset).create_attribute("units", "cm/s");
    const late = await writeHdf5(join(home, "s_2.h5"), field(2, otherwise));
    age(late);
    expect(scan(home).problems[0]?.message).toBe(
      'waits as a file of its series: the attribute /u@units is new ("cm/s"), which its description uses',
    );
    expect(() => renewed(join(home, "s.dataset.json"), late)).toThrow("inspect it again without --same");
  });

  it.each([1, 2])("gives what follows %i groups of a time each, and waits if they differ elsewhere", async (first) => {
    const path = join(folder(`groups${first}`), "g.h5");
    const write = async (count: number, more: (file: File) => unknown = () => {}) => {
      const all = (file: File) => {
        const stated = { axes: "zyx", periodic: "xyz", dx: 0.25, dy: 0.25, dz: 0.25, x0: 0, y0: 0, z0: 0 };
        for (const [name, value] of Object.entries(stated)) file.create_attribute(name, value);
        for (let t = 0; t < count; t++) {
          writeField(file, `/${t}.5/p`, { dimensions: ["z", "y", "x"], value: () => t });
          (file.get(`${t}.5`) as Group).create_attribute("time", t / 4, [], "<d");
        }
        more(file);
      };
      age(await writeHdf5(path, all));
      return scan(dirname(path));
    };
    await write(first);
    confirm(dirname(path), "g.h5");
    const { datasets, problems } = await write(4);
    const [dataset] = datasets as [Dataset];
    expect([problems, [...(dataset.time.values ?? [])]]).toEqual([[], [0, 0.25, 0.5, 0.75]]);
    expect(nodesOf(dataset, "pressure", 3)[0]).toBe(3);
    const other = await write(4, (file) => (file.get("3.5") as Group).create_attribute("gain", 2));
    expect(other.problems[0]?.message).toContain("as it was confirmed: the attribute /{step}@gain is new");
  });

  it("waits when a file is written again with another time", async () => {
    const home = await confirmedSeries("again");
    await writeHdf5(join(home, "s_1.h5"), field(1.5, dt(1)));
    expect(scan(home)).toMatchObject({ datasets: [] });
    expect(scan(home).problems[0]?.message).toMatch(/^needs a look \(.*: it states the time 1\.5, and stated 1\)/);
    const same = { paths: [join(home, "s.dataset.json")], texts: new Map(), descriptors: home, folders: [], taken: [] };
    const isSame = () => answerDraft({ ...same, chunkBytes: CHUNK_BYTES, confirms: true });
    expect(isSame).toThrow("inspect it again without --same");
    await writeHdf5(join(home, "s_1.h5"), field(1, dt(1)));
    expect(scan(home).datasets[0]?.time.count).toBe(2);
    const said = { ...same, texts: new Map([["spacing", ["1"]]]), chunkBytes: CHUNK_BYTES, confirms: false };
    expect(answerDraft(said).unused).toEqual([expect.stringMatching("answers: confirming again keeps")]);
  });

  it.skipIf(!existsSync("/usr/bin/flock"))("waits for a file that a program holds to write", async () => {
    const home = await confirmedSeries("held");
    const digest = scan(home).datasets[0]?.digest;
    age(await writeHdf5(join(home, "s_2.h5"), field(2, dt(2))));
    const holder = spawn("flock", [join(home, "s_2.h5"), "-c", "echo held; exec cat"]);
    await once(holder.stdout, "data");
    const previous = scan(home);
    expect(previous.datasets[0]?.digest).toBe(digest);
    expect(previous.problems.map(({ message }) => message)).toEqual([expect.stringMatching("is writing to it")]);
    const paths = [0, 1, 2].map((step) => join(home, `s_${step}.h5`));
    const draft = recogniseSeries(paths, ANSWERS) as Recognised;
    const where = { location: paths[0] as string, folder: home, descriptors: home, chunkBytes: CHUNK_BYTES };
    const keep = () => keepDraft({ ...where, draft });
    expect(keep).toThrow("s_2.h5: a program is writing to it");
    holder.stdin.end();
    await once(holder, "exit");
    expect(scanFolders([home], { chunkBytes: CHUNK_BYTES, previous }).datasets[0]?.time.count).toBe(3);
  });
});
