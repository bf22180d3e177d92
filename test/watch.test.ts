/**
 * `npm run test:watch` answers edits of kernels, of what worker threads run and of AssemblyScript by the tests that see
 * them.
 */
import { spawn } from "node:child_process";
import { on } from "node:events";
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { scratchFolder } from "./support/scratch.js";
import { ROOT, readReferences, seenBy, sourceFiles } from "./support/source-graph.js";

/** What a watch needs of the project. The program's bundle and the page are left out. */
const COPIED =
  /^(src|tools|web|dist|dist\/(?!bundle|web).*|test|scripts|package\.json|tsconfig.*|vitest\.config\.ts|(src|tools|test|web|scripts)\/.*)$/;
const LINKED = ["bin", "data", "docs", "bench", "examples"];

/**
 * Copies the project, so that its own sources are edited by nobody else, and shares its packages but not their caches.
 */
function copyProject(to: string): void {
  for (const name of readdirSync(ROOT).filter((entry) => COPIED.test(entry)))
    cpSync(join(ROOT, name), join(to, name), {
      recursive: true,
      preserveTimestamps: true,
      filter: (path) => COPIED.test(path.slice(ROOT.length)),
    });
  for (const name of LINKED) symlinkSync(join(ROOT, name), join(to, name));
  mkdirSync(join(to, "node_modules"));
  for (const name of readdirSync(join(ROOT, "node_modules")).filter((entry) => !/^\.(vite|cache)/.test(entry)))
    symlinkSync(join(ROOT, "node_modules", name), join(to, "node_modules", name));
}

/** Puts a statement first into a function, wherever in the source that is, and returns what restores the file. */
function breakFunction(root: string, name: string): () => void {
  const declared = new RegExp(`(function ${name}\\([^{]*\\{\\n)`);
  const file = sourceFiles("src").find((path) =>
    declared.test(readFileSync(join(root, "src", path), "utf8")),
  ) as string;
  const path = join(root, "src", file);
  const text = readFileSync(path, "utf8");
  writeFileSync(path, text.replace(declared, '$1  throw new Error("broken");\n'));
  return () => writeFileSync(path, text);
}

/** Starts a watch of a room, and returns what waits for a line that it prints. */
async function startWatch(root: string, room: string): Promise<(pattern: RegExp) => Promise<string>> {
  const watch = spawn(process.execPath, ["scripts/watch-tests.mjs", room], {
    cwd: root,
    env: { PATH: process.env.PATH, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "ignore"],
  });
  onTestFinished(() => {
    watch.kill();
  });
  const lines = createInterface({ input: watch.stdout });
  const printed = async (pattern: RegExp) => {
    for await (const [line] of on(lines, "line", { close: ["close"] })) if (pattern.test(line)) return line as string;
    throw new Error(`the watch ended without printing ${pattern}`);
  };
  await printed(/^Watching/);
  return printed;
}

describe("npm run test:watch", { timeout: 120_000 }, () => {
  const root = scratchFolder();
  beforeAll(() => copyProject(root));

  it("runs the test of a kernel that has changed first, and again once it is mended", async () => {
    const printed = await startWatch(root, "kernels");
    const failed = printed(/^FAIL /);
    const mend = breakFunction(root, "lagrangeWeights");
    expect(await failed).toMatch(/^FAIL test\/kernels\/lagrange\.test\.ts > lagrangeWeights .*: broken$/);
    const passed = printed(/✓.* test\/kernels\/lagrange\.test\.ts/);
    mend();
    await passed;
  });

  it("builds what worker threads run before it runs the tests that start them", async () => {
    const printed = await startWatch(root, "engine");
    const failed = printed(/^FAIL /);
    breakFunction(root, "evaluateBatch");
    expect(await failed).toMatch(/^FAIL test\/engine\//);
  });
});

describe("the references in the source", () => {
  const references = readReferences(["src", "test"]);
  const testsOf = (file: RegExp) => {
    const path = sourceFiles("src").find((name) => file.test(name));
    return [...seenBy([`src/${path}`], references).keys()];
  };

  it("lead from AssemblyScript, threads and the program to their tests", () => {
    expect(testsOf(/assembly\/write-records\.ts$/)).toContain("test/text/text-module.test.ts");
    expect(testsOf(/assembly\/packets\.ts$/)).toContain("test/support/simd-memory.ts");
    expect(testsOf(/^events\/worker\.ts$/)).toContain("test/events/open.test.ts");
    expect(testsOf(/^cli\/index\.ts$/)).toContain("test/program.test.ts");
  });
});
