/**
 * `npm run test:nodes [-- --node 22,24] [SELECTION]`: runs the tests on every supported version of Node, or on some,
 * one after another.
 *
 * The binaries come from the package `node` of the registry, into a temporary folder. Prints one line per version, and
 * the end of the output where tests fail; the exit code is 1 then.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

/** The versions of docs/operating.md. */
const VERSIONS = ["20.19", "22", "24", "26"];
const ROOT = fileURLToPath(new URL("..", import.meta.url));
const { values, positionals: selection } = parseArgs({ options: { node: { type: "string" } }, allowPositionals: true });
const versions = values.node?.split(",") ?? VERSIONS;

let failed = false;
for (const version of versions) {
  const folder = mkdtempSync(join(tmpdir(), "fieldprobe-node-"));
  try {
    const options = { cwd: folder, stdio: "ignore" };
    spawnSync("npm", ["init", "--yes"], options);
    const installed = spawnSync("npm", ["install", "--no-audit", "--no-fund", `node@${version}`], options);
    const node = join(folder, "node_modules", "node", "bin", "node");
    const exact = spawnSync(node, ["--version"], { encoding: "utf8" }).stdout?.trim();
    if (installed.status !== 0 || !exact) {
      console.log(`${version}: could not be installed`);
      failed = true;
      continue;
    }
    const env = {
      ...process.env,
      NO_COLOR: "1",
      PATH: `${join(folder, "node_modules", "node", "bin")}:${process.env.PATH}`,
    };
    const tests = spawnSync(node, ["node_modules/vitest/vitest.mjs", "run", ...selection], {
      cwd: ROOT,
      env,
      encoding: "utf8",
      maxBuffer: 2 ** 28,
    });
    const summary = /Tests\s+(.*)$/m.exec(tests.stdout)?.[1] ?? "no summary";
    const duration = /Duration\s+(\S+)/.exec(tests.stdout)?.[1] ?? "";
    console.log(`${exact}: ${tests.status === 0 ? "passed" : "FAILED"}, ${summary}, ${duration}`);
    if (tests.status !== 0) {
      failed = true;
      const output = tests.stdout + tests.stderr;
      const names = new Set(output.match(/^ FAIL .*$/gm));
      console.log([...names, tests.stderr.slice(-20_000)].join("\n"));
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
process.exitCode = failed ? 1 : 0;
