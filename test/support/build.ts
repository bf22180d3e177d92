/**
 * Global set-up of the suite: worker threads run the JavaScript that ships, so it is built before any test; whatever
 * tests and the programs that they start leave in the temporary folder is removed at the end.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const STEPS = [["scripts/build-splines.mjs"], ["node_modules/typescript/bin/tsc", "-b"], ["scripts/build-simd.mjs"]];

/** Builds the program. In watch mode, tests run on what comes out of it even if a step reports errors. */
function build(watch: boolean): void {
  for (const step of STEPS)
    try {
      execFileSync(process.execPath, step, { cwd: ROOT, stdio: "inherit" });
    } catch (error) {
      if (!watch) throw error;
    }
}

const remove = (folder: string) => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Gives the processes of this run a temporary folder of their own; removes those of runs that were killed. */
export function ownTemporaryFolder(): () => void {
  for (const name of readdirSync(tmpdir())) {
    const [, pid] = /^fieldprobe-run-(\d+)-/.exec(name) ?? [];
    if (pid !== undefined && !isRunning(Number(pid))) remove(join(tmpdir(), name));
  }
  const folder = mkdtempSync(join(tmpdir(), `fieldprobe-run-${process.pid}-`));
  process.env.TMPDIR = folder;
  return () => remove(folder);
}

export function setup(project: TestProject): () => void {
  const { watch } = project.vitest.config;
  build(watch);
  project.onTestsRerun(async () => build(watch));
  return ownTemporaryFolder();
}
