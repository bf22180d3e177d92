/** Measures the CPU time of the commands that people wait for, and of a service until it is ready. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { inTurn } from "./alternate.js";
import { type BenchOptions, type Row, summarise } from "./row.js";

const BIN = fileURLToPath(new URL("../bin/fieldprobe.js", import.meta.url));
/**
 * Writes the CPU time of all threads, in seconds, to descriptor 3 when the process ends, or when its service is ready.
 */
const METER = `
  import { writeSync } from "node:fs";
  import { isMainThread } from "node:worker_threads";
  if (isMainThread) {
    const tell = () => { const { user, system } = process.cpuUsage(); writeSync(3, String((user + system) / 1e6)); };
    const write = process.stdout.write.bind(process.stdout);
    process.stdout.write = (text, ...rest) => {
      if (!String(text).includes("listening on")) return write(text, ...rest);
      tell();
      process.kill(process.pid, "SIGKILL");
      return true;
    };
    process.on("exit", tell);
  }`;

/** CPU seconds of one run. */
function cpuOf(words: readonly string[], cwd: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const preload = `data:text/javascript,${encodeURIComponent(METER)}`;
    const child = spawn(process.execPath, ["--import", preload, BIN, ...words], {
      cwd,
      stdio: ["ignore", "ignore", "ignore", "pipe"],
    });
    let text = "";
    child.stdio[3]?.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
    child.once("error", reject);
    child.once("close", () => {
      const seconds = Number.parseFloat(text);
      if (Number.isFinite(seconds)) resolve(seconds);
      else reject(new Error(`fieldprobe ${words.join(" ")} told no time`));
    });
  });
}

/** Rows of the start, of all cases in turns. */
export async function benchStart({ quick }: BenchOptions): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), "fieldprobe-start-"));
  const points = join(folder, "points.csv");
  writeFileSync(points, "1,2,3\n");
  const members = ["--time", "0.5", "--points", points];
  const cases: readonly (readonly [name: string, words: readonly string[]])[] = [
    ["--version", ["--version"]],
    ["--help", ["--help"]],
    ["values, one point", ["values", "isotropic32", "u", ...members]],
    ["serve until ready", ["serve", "--port", "0", "--log-level", "silent"]],
  ];
  try {
    const samples = await inTurn(
      cases.map(
        ([, words]) =>
          () =>
            cpuOf(words, folder),
      ),
      quick ? 1 : 11,
    );
    return cases.map(([name], i) => {
      const figures = summarise(samples[i] as number[]);
      return { bench: "start", case: name, backend: "cpu", unit: "s", params: {}, ...figures };
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
