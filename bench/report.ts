/**
 * `npm run bench:report -- [--quick] [--only PART]`: runs the commands of the table in docs/performance.md, one after
 * another, and writes their rows with the machine and the commit to dist-bench/report.json. A bench that fails is
 * left out; the exit code is 1 then.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, loadavg, release, totalmem } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { Row } from "./row.js";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const FILE = join(ROOT, "dist-bench/report.json");
/** Longest time of one bench, in milliseconds. */
const PATIENCE_MS = 3_600_000;

/** Commands in the last cells of the table's lines. */
const page = readFileSync(join(ROOT, "docs/performance.md"), "utf8");
const commands = [...new Set([...page.matchAll(/\| `(bench[^`]*)` \|$/gm)].map(([, command]) => command as string))];

/** Rows that a command prints; null if it fails. */
function run(command: string, quick: boolean): Row[] | null {
  const [script = "", ...words] = command.split(" ").filter((word) => word !== "--");
  const program = join(ROOT, "dist-bench", `${script === "bench" ? "index" : script.replace("bench:", "")}.js`);
  const json = join(ROOT, "dist-bench/report-rows.json");
  rmSync(json, { force: true });
  const options = [...words, ...(quick ? ["--quick"] : []), "--json", json];
  const { status } = spawnSync(process.execPath, [program, ...options], { stdio: "inherit", timeout: PATIENCE_MS });
  return status === 0 ? (JSON.parse(readFileSync(json, "utf8")) as Row[]) : null;
}

const { quick, only } = parseArgs({
  options: { quick: { type: "boolean", default: false }, only: { type: "string" } },
}).values;
const chosen = commands.filter((command) => only === undefined || command.endsWith(only));
if (chosen.length === 0) throw new Error(`--only ${only}: there are ${commands.join(", ")}`);
const about = {
  date: new Date().toISOString().slice(0, 10),
  commit: execFileSync("git", ["-C", ROOT, "rev-parse", "--short", "HEAD"], { encoding: "utf8" }).trim(),
  machine: `${cpus().length} x ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Linux ${release()}`,
  node: process.versions.node,
  load: loadavg()[0],
  quick,
};
const rows: Record<string, Row[]> = {};
for (const [i, command] of chosen.entries()) {
  process.stdout.write(`\n${i + 1} of ${chosen.length}: ${command}\n`);
  const made = run(command, quick);
  if (made === null) process.exitCode = 1;
  else rows[command] = made;
  // After each bench, so that a report that is stopped keeps what it has measured.
  writeFileSync(FILE, `${JSON.stringify({ ...about, rows }, null, 2)}\n`);
}
