/** Files that `serve` and the commands name, without their folder. */
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import type { File, Dataset as H5Dataset } from "h5wasm/node";
import { afterAll, describe, expect, it, vi } from "vitest";
import { confirmToServe } from "../../src/cli/commands/inspect.js";
import { writeField, writeHdf5 } from "../support/cubes.js";
import { startProgram } from "../support/program.js";
import { timed as field, writeTables } from "../support/questionable-files.js";
import { fieldprobe, stdoutOf } from "../support/run-command.js";
import { age, folderIn, scratchFolder } from "../support/scratch.js";
import { serveTestData } from "../support/service.js";

const VIRTUAL = fileURLToPath(new URL("../storage/hdf5-bytes/fixtures/virtual", import.meta.url));
const SCRATCH = scratchFolder();
const LONG_MS = 90_000;
const STATE = join(SCRATCH, "state");
vi.stubEnv("FIELDPROBE_STATE", STATE);
afterAll(() => vi.unstubAllEnvs());

const folder = (name: string) => folderIn(SCRATCH, name);

const several = (times: readonly number[]) => (file: File) => {
  for (const name of ["u", "v", "w"])
    writeField(file, `/${name}`, { dimensions: ["t", "z", "y", "x"], lengths: { t: 2 } });
  writeTables(file);
  file.create_dataset({ name: "time", data: Float64Array.from(times) });
};

interface Set {
  readonly name: string;
  readonly times: { readonly count: number };
}

async function served(...words: readonly string[]): Promise<{ sets: (readonly [string, number])[]; log: string }> {
  const program = await startProgram({ STATE }, [], {}, words);
  const { datasets } = (await (await fetch(`${program.url}/api/datasets`)).json()) as { datasets: { name: string }[] };
  const sets: (readonly [string, number])[] = [];
  for (const { name } of datasets) {
    const set = (await (await fetch(`${program.url}/api/datasets/${name}`)).json()) as Set;
    sets.push([set.name, set.times.count]);
  }
  await program.stop("SIGTERM");
  return { sets, log: program.log() };
}

const valuesOf = (file: string, ...flags: readonly string[]) =>
  stdoutOf("values", file, "u", "--points", "1,1.25,1", "--method", "Lag4", ...flags);
const confirm = (...words: readonly string[]) => stdoutOf("inspect", ...words, "--yes");

describe("a file that combines the files of its ranks", () => {
  it(
    "is read by its own name as through its folder, and no other file of the folder is served",
    async () => {
      const home = folder("ranks");
      for (const name of ["early.h5", "rank0.h5", "rank1.h5"]) copyFileSync(join(VIRTUAL, name), join(home, name));
      const all = join(home, "early.h5");
      await confirm(all, "--periodic", "none", "--walls", "none");
      const time = ["--time", "0"];
      expect(await valuesOf(all, ...time)).toBe(await valuesOf(`${home}/`, ...time));
      await writeHdf5(join(home, "known.h5"), field(0));
      await confirm(join(home, "known.h5"), "--walls", "none");
      const { sets, log } = await served(all);
      expect(sets.map(([name]) => name)).toEqual(["early"]);
      expect(log).not.toContain("known");
      for (const name of ["rank0.h5", "rank1.h5"]) copyFileSync(join(home, name), join(SCRATCH, name));
      rmSync(join(home, "rank1.h5"));
      symlinkSync(join(SCRATCH, "rank1.h5"), join(home, "rank1.h5"));
      await expect(valuesOf(all, ...time)).rejects.toThrow(/rank1|differ|needs a look/);
    },
    LONG_MS,
  );
});

describe("a file of a confirmed series", () => {
  it(
    "stands for the series, which may read no file beyond its folder",
    async () => {
      const home = folder("a series");
      const paths = await Promise.all([0, 1, 2].map((step) => writeHdf5(join(home, `run_${step}.h5`), field(step))));
      const [, middle, last] = paths as [string, string, string];
      await confirm(...paths, "--walls", "none");
      await writeHdf5(join(home, "other.h5"), field(0));
      const line = `It is the whole series that ${join(home, "run.dataset.json")} confirms, not run_1.h5 alone.`;
      const both = await served(middle, last);
      expect([both.sets, both.log.includes("not run_1.h5, run_2.h5 alone.")]).toEqual([[["run", 3]], true]);
      const { stdout, stderr } = await fieldprobe(
        ...["values", middle, "u", "--points", "1,1.25,1", "--method", "Lag4", "--time", "1"],
      );
      expect([stdout, stderr]).toEqual([await valuesOf(`${home}/`, "--time", "1"), `fieldprobe: run: ${line}\n`]);
      const link = join(SCRATCH, "link.h5");
      symlinkSync(middle, link);
      expect(await valuesOf(link, "--time", "1")).toBe(stdout);
      // Somebody has written coordinates outside of the folder into the confirmation.
      const confirmation = join(home, "run.dataset.json");
      const written = JSON.parse(readFileSync(confirmation, "utf8"));
      await writeHdf5(join(SCRATCH, "secret.h5"), field(0));
      written.axes.x.coordinates.file = "../secret.h5";
      writeFileSync(confirmation, JSON.stringify(written));
      const refusal = "axes.x: ../secret.h5: is in none of the data folders, nor in the folder of its descriptor";
      for (const file of [middle, link]) await expect(valuesOf(file, "--time", "1")).rejects.toThrow(refusal);
    },
    LONG_MS,
  );
});

describe("a file under the dataset.json of a folder", () => {
  it("is shown as that describes it, and takes no confirmation", async () => {
    const home = folder("described");
    const [file = "", odd = ""] = await Promise.all(
      ["u.h5", "odd.h5"].map((name) => writeHdf5(join(home, name), field(0))),
    );
    const { stdout } = await fieldprobe("inspect", file, "--walls", "y", "--json");
    const descriptor = join(home, "dataset.json");
    writeFileSync(descriptor, stdout);
    const before = readdirSync(home);
    for (const flags of [[], ["--yes"]]) {
      const shown = await fieldprobe("inspect", file, ...flags);
      expect(shown.status).toBe(0);
      expect(shown.stdout).toContain(`Described by ${descriptor}, and served so. There is nothing to confirm.`);
      expect(shown.stdout).not.toMatch(/^ {2}[?!] /m);
    }
    for (const path of [file, odd]) {
      expect(await fieldprobe("inspect", path, "--walls", "none", "--yes")).toMatchObject({
        status: 2,
        stderr: expect.stringContaining(`${descriptor} hides a confirmation`),
      });
    }
    const shown = await fieldprobe("inspect", odd);
    const hidden = `is not served: ${descriptor} claims its folder and does not name it`;
    expect(shown).toMatchObject({
      stdout: expect.stringContaining(`${odd} ${hidden}: name it there, or `),
      stderr: expect.stringMatching(`^fieldprobe: odd\\.h5 ${hidden}; it waits .*\\(exit code 1\\)\n$`),
    });
    const all = await fieldprobe("inspect", "--all", home, "--yes");
    expect([all.status, all.stdout]).toEqual([1, expect.stringContaining("Not served: odd.h5, for ")]);
    expect(readdirSync(home)).toEqual(before);
    expect(await valuesOf(file, "--time", "0")).toBe(await valuesOf(`${home}/`, "--time", "0"));
  });
});

describe("a confirmed file", () => {
  it("is inspected as it was confirmed, and says why it waits", async () => {
    const home = folder("confirmed");
    const path = await writeHdf5(join(home, "u.h5"), field(0));
    await confirm(path, "--walls", "z");
    const { status, stdout } = await fieldprobe("inspect", path);
    expect([status, stdout.match(/^ {2}[?!] /m)]).toEqual([0, null]);
    expect(stdout).toContain("u.h5: as u.dataset.json says, dataset name u\n");
    expect(stdout).toContain(`Confirmed by ${join(home, "u.dataset.json")}, and served so.`);
    const other = await writeHdf5(join(home, "v.h5"), field(0));
    const taken = await fieldprobe("inspect", other, "--walls", "z", "--name", "u", "--yes");
    expect(taken).toMatchObject({ status: 2, stderr: expect.stringContaining("u.dataset.json is of another file") });
    // Answers hold for one call beside what is confirmed.
    const answers = ["--walls", "z", "--times", "5:1", "--yes"];
    await expect(valuesOf(path, "--time", "5")).rejects.toThrow(/time/);
    expect(await valuesOf(path, "--time", "5", ...answers)).toBe(await valuesOf(path, "--time", "0"));
    const state = await writeHdf5(join(folder("kept"), "s.h5"), field(0));
    await confirm(state, "--walls", "z", "--descriptors", join(STATE, "descriptors"));
    await writeHdf5(state, (file) => {
      field(0)(file);
      file.create_attribute("run", 2);
    });
    writeFileSync(join(SCRATCH, "kept", "cut.h5"), "cut");
    const all = await fieldprobe("inspect", "--all", join(SCRATCH, "kept"), "--yes");
    expect(all).toMatchObject({ status: 1, stdout: expect.stringContaining("cut.h5: does not open as an HDF5 file") });
    expect(all.stdout.split("\n").at(-2)).toBe(`${join(STATE, "descriptors", "s.json")}: --same`);
    const log = (await fieldprobe("inspect", state)).stderr;
    vi.stubEnv("FIELDPROBE_STATE", join(SCRATCH, "none"));
    const [typed = ""] = /(?<=: fieldprobe )inspect .* --same/.exec(log) ?? [];
    expect((await fieldprobe(...typed.split(" "))).stderr).toBe(`wrote ${join(STATE, "descriptors", "s.json")}\n`);
    vi.stubEnv("FIELDPROBE_STATE", STATE);
    expect((await fieldprobe("inspect", state)).status).toBe(0);
    await writeHdf5(path, field(1));
    const changed = await fieldprobe("inspect", path);
    expect(changed.stderr).toContain("needs a look (not as it was confirmed: the attribute @time is 1, and was 0)");
    expect(changed.stderr).not.toContain("--same");
    const same = await fieldprobe("inspect", path, "--same");
    expect(same).toMatchObject({ status: 1, stderr: expect.stringContaining("inspect it again without --same") });
  });
});

describe("a draft", () => {
  it("takes multiples of pi, and says what is not known", async () => {
    const home = folder("bare");
    const path = await writeHdf5(join(home, "bare.h5"), (file) =>
      writeField(file, "/p", { dimensions: ["z", "y", "x"] }),
    );
    const lengthsOf = async (text: string) => {
      const { stdout } = await fieldprobe(
        ...["inspect", path, "--json", "--dims", "z,y,x", "--periodic", "xyz", "--length", text],
      );
      const { x, y, z } = JSON.parse(stdout).axes;
      return [x, y, z].map(({ nodes, spacing }) => nodes * spacing);
    };
    expect(await lengthsOf("2*pi")).toEqual([12, 10, 11].map((nodes) => nodes * ((2 * Math.PI) / nodes)));
    for (const [text, factors] of [
      ["2pi,2π,pi/2", [2, 2, 1 / 2]],
      ["pi*4/3,4/3*pi,PI", [4 / 3, 4 / 3, 1]],
    ] as const)
      for (const [at, length] of (await lengthsOf(text)).entries())
        expect(length / Math.PI).toBeCloseTo(factors[at] as number, 14);
    const { stderr } = await fieldprobe("values", "none", "p", "--data", home, "--points", "1,2,3");
    expect(stderr).toContain(`fieldprobe inspect --all ${home} --yes confirms all files that leave no line open\n`);
    const refused = await fieldprobe("inspect", path, "--length", "2*e");
    expect(refused.stderr).toContain('"2*e" is not a number, such as 6.28, or a multiple of pi, such as 2pi.');
    const { stdout: open } = await fieldprobe("inspect", path, "--dims", "z,y,x", "--spacing", "1");
    expect(open).toMatch(/^ {2}x +12 nodes from 0 every 1, periodic or not$/m);
    const { stdout: shown } = await fieldprobe(
      ...["inspect", path, "--dims", "z,y,x", "--periodic", "xyz", "--length", "6.2831855"],
    );
    expect(shown).toMatch(/^ {2}x .* periodic with 6\.2831855, used as it is: 2 pi within float32$/m);
  });
});

describe("files of a series that nobody has confirmed", () => {
  it(
    "are one draft, which takes the flags of inspect",
    async () => {
      const home = folder("together");
      const made = [0, 1].map((i) => writeHdf5(join(home, `f_${i}.h5`), several([0.25 * i, 0.25 + 0.25 * i])));
      const paths = await Promise.all(made);
      const flags = ["--walls", "none", "--name", "joined", "--yes"];
      const open = await fieldprobe("serve", ...paths, ...flags);
      expect(open).toMatchObject({ status: 2, stderr: expect.stringContaining("--overlap") });
      expect(open.stdout).toContain("2 files f_{step}.h5");
      const { sets } = await served(...paths, ...flags, "--overlap", "last");
      expect(sets).toEqual([["joined", 3]]);
      expect(readdirSync(home)).toEqual(["f_0.h5", "f_1.h5"]);
      // Without answers, the next start finds them, and asks again when one has changed.
      expect((await served(...paths)).sets).toEqual([["joined", 3]]);
      const noted = (note: number) => (file: File) => {
        several([0.25, 0.5])(file);
        file.create_attribute("note", note);
      };
      await writeHdf5(paths[1] as string, noted(1));
      const again = await fieldprobe("serve", ...paths);
      const asks = /\(not as it was confirmed: the attribute @note .* --same; else it waits for an answer: --/;
      expect(again).toMatchObject({ status: 2, stderr: expect.stringMatching(asks) });
      expect((await served(...paths, ...flags, "--overlap", "last")).sets).toEqual([["joined", 3]]);
      await writeHdf5(paths[1] as string, noted(2));
      const terminal = Object.assign(new PassThrough(), { isTTY: true });
      for (const name of ["stdin", "stdout"] as const)
        vi.spyOn(process, name, "get").mockReturnValue(terminal as never);
      terminal.write("y\n");
      await confirmToServe(paths, {}).finally(() => vi.restoreAllMocks());
      expect((await served(...paths)).sets).toEqual([["joined", 3]]);
    },
    LONG_MS,
  );
});

it("a confirmation of all files of a series replaces the earlier one, of one of them is refused", async () => {
  const home = folder("again");
  const paths = await Promise.all([0, 1].map((step) => writeHdf5(join(home, `s_${step}.h5`), field(step))));
  expect((await fieldprobe("inspect", "--all", home, "--walls", "none", "--yes")).status).toBe(0);
  const one = await fieldprobe("inspect", paths[0] as string, "--walls", "none", "--yes");
  expect(one).toMatchObject({ status: 2, stderr: expect.stringContaining("confirms s_0.h5 as one of 2 files") });
  await confirm(...paths, "--walls", "none", "--name", "other");
  expect(readdirSync(home)).toEqual(["other.dataset.json", "s_0.h5", "s_1.h5"]);
});

it("files of one name in two folders are confirmed by a name each", async () => {
  const home = folder("runs");
  const write = (run: string) => {
    mkdirSync(join(home, run));
    return writeHdf5(join(home, run, "u.h5"), field(0));
  };
  const [, second] = [await write("run1"), await write("run2")];
  const all = await fieldprobe("inspect", "--all", home, "--walls", "none", "--yes");
  expect(all.status).toBe(1);
  expect(all.stdout).toContain(`${second}: another dataset is called u; --name NAME keeps both`);
  await confirm(second, "--walls", "none", "--name", "u2");
  expect((await fieldprobe("check", home)).stdout).toMatch(/^u \(.*\nu2 \(/s);
});

describe("files that wait to join a confirmed series", () => {
  it(
    "are counted, listed with their reasons, and taken for the same",
    async () => {
      const home = folder("growing");
      const paths = await Promise.all([0, 1].map((step) => writeHdf5(join(home, `s_${step}.h5`), field(step))));
      await confirm(...paths, "--walls", "none");
      const late = await writeHdf5(join(home, "s_2.h5"), field(0.5));
      const marked = (file: File) => {
        field(3)(file);
        file.create_attribute("mark", 1);
      };
      const other = await writeHdf5(join(home, "s_3.h5"), marked);
      age(late, other);
      const service = await serveTestData([home], { STATE });
      const read = async (path: string, method = "GET") => (await fetch(`${service.url}${path}`, { method })).text();
      try {
        expect(await read("/readyz")).toContain("waiting: 2");
        const { waiting, drafts } = JSON.parse(await read("/api/drafts"));
        const whys = ["waits as a file of its series: its time 0.5 is not after 1, the last"];
        whys.push(
          `needs a look (not as it was confirmed: the attribute @mark is new (1)): fieldprobe inspect ${other} --same`,
        );
        expect([waiting, drafts.map((one: { why: string }) => one.why)]).toEqual([2, whys]);
        const [{ id: first }, { id: second }] = drafts;
        expect(JSON.parse(await read(`/api/drafts/${first}/confirm`, "POST"))).toMatchObject({ status: 409 });
        expect((await fieldprobe("inspect", late)).stderr).toContain(whys[0]);
        expect(JSON.parse(await read(`/api/drafts/${second}/confirm`, "POST"))).toMatchObject({ dataset: "s" });
        expect(await read("/readyz")).toContain("waiting: 1");
        expect(JSON.parse(await read("/api/datasets/s")).times.count).toBe(3);
      } finally {
        await service.close();
      }
    },
    LONG_MS,
  );
});

describe("files that serve names", () => {
  it(
    "are confirmed if they wait, and each that is not served has a line",
    async () => {
      const home = folder("several");
      const [known = "", fresh = ""] = await Promise.all(
        ["known.h5", "fresh.h5"].map((name) => writeHdf5(join(home, name), field(0))),
      );
      await confirm(known, "--walls", "z");
      const [none, text] = [join(home, "none.h5"), join(home, "text.py")];
      writeFileSync(text, "0");
      const levels = await writeHdf5(join(home, "levels.h5"), (file) => {
        field(0)(file);
        (file.get("/z") as H5Dataset).create_attribute("formula_terms", "a: b");
      });
      const refused = await fieldprobe("serve", none, known, levels, text, fresh, "--yes");
      expect([refused.status, refused.stderr.split("\n")]).toEqual([
        2,
        [
          `fieldprobe: ${none}: there is no such file`,
          expect.stringContaining(`fieldprobe: ${levels}: recognised as generic, but /z is a parametric`),
          expect.stringContaining(`fieldprobe: ${text} does not open as an HDF5 file`),
          `fieldprobe: ${fresh} waits for an answer: --walls`,
          "",
        ],
      ]);
      expect((await served(known, "--yes")).sets).toEqual([["known", 1]]);
      const { sets, log } = await served(known, fresh, "--walls", "none", "--yes");
      expect([sets, log.includes("wrote"), log.includes("no series")]).toEqual([
        [
          ["fresh", 1],
          ["known", 1],
        ],
        true,
        false,
      ]);
      expect(readdirSync(home)).not.toContain("fresh.dataset.json");
    },
    LONG_MS,
  );
});
