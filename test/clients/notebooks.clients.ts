/** The notebooks of examples/ run from top to bottom against the included data. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { pino } from "pino";
import { afterAll, beforeAll, expect, it } from "vitest";
import { loadConfig } from "../../src/config.js";
import { type RunningService, startService } from "../../src/main.js";
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
  readonly outputs?: readonly { readonly output_type: string; readonly data?: Record<string, unknown> }[];
}

const reason = missing(TOOLKITS.notebooks);

it.for(["first-query-to-spectrum", "particle-dispersion"])("runs %s and draws its figure", async (name, { skip }) => {
  skip(reason !== null, reason ?? "");
  const notebook = here(`../../examples/notebooks/${name}.ipynb`);
  await run(PYTHON, ["-m", "nbconvert", "--to", "notebook", "--execute", "--output-dir", folder, notebook], {
    env: { ...process.env, FIELDPROBE_SERVICE: service.url, HOME: folder },
  });
  const cells = (JSON.parse(readFileSync(join(folder, `${name}.ipynb`), "utf8")) as { cells: Cell[] }).cells;
  const code = cells.filter((cell) => cell.cell_type === "code");
  expect(code.every((cell) => cell.execution_count !== null)).toBe(true);
  const outputs = code.flatMap((cell) => cell.outputs ?? []);
  expect(outputs.filter((output) => output.output_type === "error")).toEqual([]);
  expect(outputs.filter((output) => output.data?.["image/png"] !== undefined)).toHaveLength(1);
});
