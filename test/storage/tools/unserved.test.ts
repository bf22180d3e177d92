/** Datasets of a file that are no fields are listed, with what would serve them. */
import { join } from "node:path";
import type { File } from "h5wasm/node";
import { beforeAll, expect, it } from "vitest";
import type { Answers } from "../../../src/storage/catalog/layouts/answers.js";
import { recognise } from "../../../src/storage/catalog/layouts/recognise.js";
import { loadHdf5 } from "../../../src/storage/hdf5/library.js";
import { explain } from "../../../src/storage/tools/report.js";
import { stateGrid, writeField, writeHdf5 } from "../../support/cubes.js";
import { scratchFolder } from "../../support/scratch.js";

const SCRATCH = scratchFolder();
const GRID = { dimensions: ["z", "y", "x"], value: () => 0 } as const;

beforeAll(() => loadHdf5());

async function explained(name: string, write: (file: File) => void, answers: Answers = {}): Promise<string> {
  const path = await writeHdf5(join(SCRATCH, name), write);
  const found = recognise(path, { dims: ["z", "y", "x"], ...answers });
  if (found === null) throw new Error("not recognised");
  return explain(found, SCRATCH, name, 2 ** 26).lines.join("\n");
}

it("lists datasets in three dimensions that no field is read from, and the flags", async () => {
  const text = await explained("flow.h5", (file) => {
    stateGrid(file);
    for (const path of ["/u", "/v", "/w", "/stats/theta", "/stats/omega_z"]) writeField(file, path, GRID);
    file.create_dataset({ name: "spectrum", data: new Float32Array(12), shape: [3, 4] });
  });
  expect(text).toContain(
    "\nNot served:\n" +
      "  - /stats/omega_z: float32, 11 x 10 x 12, contiguous\n" +
      "  - /stats/theta: float32, 11 x 10 x 12, contiguous\n" +
      "  - To serve one: --named NAME=PATH, --temperature PATH and the like (fieldprobe inspect --help), or fields in a ",
  );
  expect(text).not.toContain("spectrum");
});

it("names coarser levels of a field", async () => {
  const text = await explained(
    "levels.h5",
    (file) => {
      for (const n of [8, 4])
        file.create_dataset({ name: `${n === 8 ? 0 : 1}`, data: new Float32Array(n ** 3), shape: [n, n, n] });
    },
    { pressure: "/0" },
  );
  expect(text).toContain("  - /1: float32, 4 x 4 x 4, contiguous, a coarser level of /0\n");
});

it("lists one of those that differ in the number of the time, and nothing where all is served", async () => {
  const text = await explained("steps.h5", (file) => {
    for (const step of [1, 2, 3])
      for (const name of ["u", "v", "w", "q"]) writeField(file, `/step_${step}/${name}`, GRID);
  });
  expect(text.match(/^ {2}- \/step_\d\/q: .*$/gm)).toEqual(["  - /step_1/q: float32, 11 x 10 x 12, contiguous"]);
  const whole = await explained("whole.h5", (file) => writeField(file, "/p", GRID));
  expect(whole).not.toContain("Not served");
});
