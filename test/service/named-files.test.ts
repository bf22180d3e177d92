/** Files that `serve` and the commands name, without their folder. */
import { copyFileSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { File } from "h5wasm/node";
import { afterAll, describe, expect, it, vi } from "vitest";
import { writeHdf5 } from "../support/cubes.js";
import { startProgram } from "../support/program.js";
import { writeComponents, writeTables } from "../support/questionable-files.js";
import { fieldprobe } from "../support/run-command.js";
import { scratchFolder } from "../support/scratch.js";

const VIRTUAL = fileURLToPath(new URL("../storage/hdf5-bytes/fixtures/virtual", import.meta.url));
const SCRATCH = scratchFolder();
const LONG_MS = 90_000;
const STATE = join(SCRATCH, "state");
vi.stubEnv("FIELDPROBE_STATE", STATE);
afterAll(() => vi.unstubAllEnvs());

function folder(name: string): string {
  mkdirSync(join(SCRATCH, name));
  return join(SCRATCH, name);
}

const field = (time: number) => (file: File) => {
  writeComponents(file);
  writeTables(file);
  file.create_attribute("time", time, [], "<d");
};

interface Set {
  readonly name: string;
  readonly times: { readonly count: number };
}

/** What `serve FILES` serves, and its log. */
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

/** The numbers that a command prints. Throws its error. */
async function valuesOf(file: string, ...flags: readonly string[]): Promise<string> {
  const words = ["values", file, "u", "--points", "1.5,1.25,1", "--method", "Lag4", ...flags];
  const { status, stdout, stderr } = await fieldprobe(...words);
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

async function confirm(...words: readonly string[]): Promise<void> {
  const { status, stderr } = await fieldprobe("inspect", ...words, "--yes");
  if (status !== 0) throw new Error(stderr);
}

describe("a file that combines the files of its ranks", () => {
  it(
    "is read by its own name as through its folder, and no other file of the folder is served",
    async () => {
      const home = folder("ranks");
      for (const name of ["early.h5", "rank0.h5", "rank1.h5"]) copyFileSync(join(VIRTUAL, name), join(home, name));
      const all = join(home, "early.h5");
      await confirm(all, "--periodic", "none", "--walls", "none");
      const time = ["--time", "0", "--points", "0.5,0.5,0.5"];
      expect(await valuesOf(all, ...time)).toBe(await valuesOf(`${home}/`, ...time));
      await writeHdf5(join(home, "known.h5"), field(0));
      await confirm(join(home, "known.h5"), "--walls", "none");
      const { sets, log } = await served(all);
      expect(sets.map(([name]) => name)).toEqual(["early"]);
      expect(log).not.toContain("known");
      // A confirmation that names a source elsewhere does not bring it in.
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
      const paths: string[] = [];
      for (const step of [0, 1, 2]) paths.push(await writeHdf5(join(home, `run_${step}.h5`), field(step)));
      const [, middle, last] = paths as [string, string, string];
      await confirm(...paths, "--walls", "none");
      await writeHdf5(join(home, "other.h5"), field(0));
      const line = `It is the whole series that ${join(home, "run.dataset.json")} confirms, not run_1.h5 alone.`;
      const both = await served(middle, last);
      expect([both.sets, both.log.includes("not run_1.h5, run_2.h5 alone.")]).toEqual([[["run", 3]], true]);
      const { stdout, stderr } = await fieldprobe(
        ...["values", middle, "u", "--points", "1.5,1.25,1", "--method", "Lag4", "--time", "1"],
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
