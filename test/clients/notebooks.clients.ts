/** The notebooks of examples/ run from top to bottom against the included data. */
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { pino } from "pino";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type RunningService, startService } from "../../src/main.js";
import { loadConfig } from "../../src/shared/config.js";
import { scratchFolder } from "../support/scratch.js";
import { missing, PYTHON, TOOLKITS } from "./packages.js";

const run = promisify(execFile);
const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

let service: RunningService;
const folder = scratchFolder();
beforeAll(async () => {
  const settings = { PORT: "0", STATE: join(folder, "state"), DATA: here("../../data") };
  service = await startService(loadConfig(settings, {}), pino({ level: "silent" }), true);
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

const figures = ({ outputs = [] }: Cell) => outputs.filter((output) => output.data?.["image/png"] !== undefined);

const reason = missing(TOOLKITS.notebooks);

const NOTEBOOKS = readdirSync(here("../../examples/notebooks")).filter((name) => name.endsWith(".ipynb"));

it("are nine studies", () => expect(NOTEBOOKS).toHaveLength(9));

it.for(NOTEBOOKS)("runs %s and draws its figure", async (name, { skip }) => {
  skip(reason !== null, reason ?? "");
  const notebook = here(`../../examples/notebooks/${name}`);
  await run(PYTHON, ["-m", "nbconvert", "--to", "notebook", "--execute", "--output-dir", folder, notebook], {
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
  expect(code.flatMap(figures)).toHaveLength(1);
  const outputs = code.flatMap((cell) => cell.outputs ?? []);
  expect(outputs.filter((output) => output.output_type === "error")).toEqual([]);
});

it.each(NOTEBOOKS)("%s keeps its figure, and has at most 25 lines", (name) => {
  const code = codeOf(here(`../../examples/notebooks/${name}`));
  expect(code.flatMap(figures)).toHaveLength(1);
  expect(code.flatMap(({ source }) => source).filter((line) => line.trim() !== "").length).toBeLessThanOrEqual(25);
});
