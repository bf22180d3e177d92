/**
 * `npm run bench:report`: runs every bench that a figure of docs/performance.md comes from, one after another, and
 * writes the figures with their day, the machine and the plots into the page.
 *
 * `-- --only bench:soap,splines` runs those commands, and leaves the other lines with their days. `-- --quick` runs the
 * short form of each, whose figures are too coarse for the page: page, plots and rows go to dist-bench/report, as the
 * rows of every report do. A bench that fails leaves its lines as they are; the exit code is 1 then.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, loadavg, release, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { writePlots } from "./draw.js";
import { figureLines, rewritePage } from "./figures-page.js";
import { plotsOf } from "./plots.js";
import type { Row } from "./row.js";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PAGE = join(ROOT, "docs/performance.md");
const DRAFT = join(ROOT, "dist-bench/report");
/** Benches whose figures are in the plots, or in documents other than the page. */
const ELSEWHERE = ["bench --only codec", "bench --only memory", "bench:scale", "bench:events"];
/** Longest time of one bench, in milliseconds. */
const PATIENCE_MS = 3_600_000;

/** The output of a program in one line; null if it is not there. */
function tell(program: string, ...words: string[]): string | null {
  try {
    return execFileSync(program, words, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return null;
  }
}

/** The machine in words, and the programs that the benches compare with. */
function machine(): string {
  const model = cpus()[0]?.model.trim() ?? "unknown processor";
  const memory = Math.round(totalmem() / 2 ** 30);
  const python = "import numpy, scipy; print(f'NumPy {numpy.__version__}, SciPy {scipy.__version__}')";
  const programs = [
    `Node ${process.versions.node}`,
    tell("gcc", "-dumpfullversion")?.replace(/^/, "gcc "),
    tell("/usr/bin/python3", "-c", python),
  ].filter((text) => text != null);
  const commit = tell("git", "-C", ROOT, "rev-parse", "--short", "HEAD");
  const load = loadavg()[0]?.toFixed(1);
  return `${cpus().length} x ${model}, ${memory} GiB, Linux ${release()}; ${programs.join(", ")}; commit ${commit ?? "unknown"}; load ${load} at the start`;
}

/** Runs a command in a process of its own; the rows that it prints, or null if it fails. */
function run(command: string, quick: boolean, folder: string): Row[] | null {
  const [script = "", ...words] = command.split(" ").filter((word) => word !== "--");
  const program = join(ROOT, "dist-bench", `${script === "bench" ? "index" : script.replace("bench:", "")}.js`);
  const json = join(folder, "rows.json");
  rmSync(json, { force: true });
  const options = [...words, ...(quick ? ["--quick"] : []), "--json", json];
  const { status, signal } = spawnSync(process.execPath, [program, ...options], {
    stdio: ["ignore", "inherit", "inherit"],
    timeout: PATIENCE_MS,
  });
  if (status === 0) return JSON.parse(readFileSync(json, "utf8")) as Row[];
  process.stderr.write(`${command}: ended with ${signal ?? `exit code ${status}`}; its lines stay as they are\n`);
  return null;
}

const { quick, only } = parseArgs({
  options: { quick: { type: "boolean", default: false }, only: { type: "string" } },
}).values;
const page = readFileSync(PAGE, "utf8");
const all = [...new Set([...figureLines(page).flatMap(({ command }) => command ?? []), ...ELSEWHERE])];
const wanted = only?.split(",");
const unknown = wanted?.find((one) => !all.some((command) => command === one || command.endsWith(` ${one}`)));
if (unknown !== undefined) throw new Error(`--only ${unknown}: there are ${all.join(", ")}`);
const chosen = all.filter((command) => wanted?.some((one) => command === one || command.endsWith(` ${one}`)) ?? true);
// The short form leaves out what writes 16 GiB.
const commands = quick ? chosen.filter((command) => !command.includes("--large ")) : chosen;

const facts = { date: new Date().toISOString().slice(0, 10), machine: machine() };
const rows = new Map<string, Row[]>();
const folder = mkdtempSync(join(tmpdir(), "fieldprobe-report-"));
mkdirSync(DRAFT, { recursive: true });
let missing: string[] = [];
try {
  for (const [i, command] of commands.entries()) {
    process.stdout.write(`\n${i + 1} of ${commands.length}: ${command}\n`);
    const made = run(command, quick, folder);
    if (made === null) process.exitCode = 1;
    else rows.set(command, made);
    writeFileSync(join(DRAFT, "rows.json"), `${JSON.stringify({ ...facts, quick, rows: Object.fromEntries(rows) })}\n`);
    // After each bench, so that a report that is stopped loses none of what it has measured.
    const rewritten = rewritePage(page, { ...facts, rows });
    missing = rewritten.missing;
    writeFileSync(quick ? join(DRAFT, "performance.md") : PAGE, rewritten.page);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
writePlots(plotsOf([...rows.values()].flat()), facts.date, quick ? join(DRAFT, "performance") : undefined);
for (const figure of missing) process.stdout.write(`no such row${quick ? " in the short form" : ""}: ${figure}\n`);
if (missing.length > 0 && !quick) process.exitCode = 1;
