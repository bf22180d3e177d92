/**
 * The notebooks of examples/ run from top to bottom against the included data. With `FIGURES=1` the outcome replaces
 * what is kept of them, and their figures.
 */
import { execFile } from "node:child_process";
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { RunningService } from "../../src/main.js";
import { scratchFolder } from "../support/scratch.js";
import { serveTestData } from "../support/service.js";
import { missing, PYTHON, TOOLKITS } from "./packages.js";

const run = promisify(execFile);
const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

let service: RunningService;
const folder = scratchFolder();
beforeAll(async () => {
  service = await serveTestData([], { STATE: join(folder, "state"), DATA: here("../../data") });
});
afterAll(() => service.close());

interface Cell {
  readonly cell_type: string;
  readonly execution_count: number | null;
  readonly source: readonly string[];
  readonly outputs?: readonly { readonly output_type: string; readonly data?: Record<string, unknown> }[];
}

function codeOf(file: string): readonly Cell[] {
  const { cells } = JSON.parse(readFileSync(file, "utf8")) as { cells: Cell[] };
  return cells.filter((cell) => cell.cell_type === "code");
}

const figuresOf = (file: string): Buffer[] =>
  codeOf(file)
    .flatMap(({ outputs = [] }) => outputs)
    .flatMap(({ data }) => (data?.["image/png"] === undefined ? [] : [Buffer.from(`${data["image/png"]}`, "base64")]));

/** Without times of execution, which differ in every run. */
const PLAIN = ["--ExecutePreprocessor.record_timing=False"];

const reason = missing(TOOLKITS.notebooks);

const NOTEBOOKS = readdirSync(here("../../examples/notebooks")).filter((name) => name.endsWith(".ipynb"));

it("are nine studies", () => expect(NOTEBOOKS).toHaveLength(9));

it.for(NOTEBOOKS)("runs %s and draws its figure", async (name, { skip }) => {
  skip(reason !== null, reason ?? "");
  const notebook = here(`../../examples/notebooks/${name}`);
  await run(PYTHON, ["-m", "nbconvert", ...PLAIN, "--to", "notebook", "--execute", "--output-dir", folder, notebook], {
    env: {
      ...process.env,
      SERVICE: service.url,
      FIELDPROBE: `${process.execPath} ${here("../../bin/fieldprobe.js")}`,
      PYTHONPATH: here("../../python/src"),
      HOME: folder,
    },
  });
  const code = codeOf(join(folder, name));
  expect(code.every((cell) => cell.execution_count !== null)).toBe(true);
  const outputs = code.flatMap((cell) => cell.outputs ?? []);
  expect(outputs.filter((output) => output.output_type === "error")).toEqual([]);
  const [figure, ...more] = figuresOf(join(folder, name));
  expect(figure && more.length === 0).toBe(true);
  if (process.env.FIGURES === undefined) return;
  copyFileSync(join(folder, name), notebook);
  writeFileSync(notebook.replace(/ipynb$/, "png"), figure as Buffer);
});

it("answers each call of the gallery", async ({ skip }) => {
  skip(reason !== null, reason ?? "");
  const text = readFileSync(here("../../docs/gallery.md"), "utf8");
  const calls = [...text.matchAll(/```python\n(.*?)```/gs)].map(([, code = ""]) => code);
  expect(calls).toHaveLength(11);
  const code = calls.filter((call) => !call.includes('"vortex"')).join("");
  const env = { ...process.env, PYTHONPATH: here("../../python/src") };
  await run(PYTHON, ["-c", code.replace("http://127.0.0.1:8080", service.url)], { env });
});

it.each(NOTEBOOKS)("%s keeps its figure, also beside it, and has at most 25 lines", (name) => {
  const notebook = here(`../../examples/notebooks/${name}`);
  const code = codeOf(notebook);
  expect(figuresOf(notebook)).toEqual([readFileSync(notebook.replace(/ipynb$/, "png"))]);
  expect(code.flatMap(({ source }) => source).filter((line) => line.trim() !== "").length).toBeLessThanOrEqual(25);
});
