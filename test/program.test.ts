/** `bin/fieldprobe.js` runs the bundle where it is newer than the modules; a run of tests leaves no files. */
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { programIn } from "../bin/program.js";
import { ownTemporaryFolder } from "./support/build.js";
import { scratchFolder } from "./support/scratch.js";

/** A folder with files that have been changed at some time, in seconds. */
function build(files: Readonly<Record<string, number>>): string {
  const folder = scratchFolder();
  for (const [name, seconds] of Object.entries(files)) {
    const file = join(folder, name);
    mkdirSync(join(file, ".."), { recursive: true });
    writeFileSync(file, "");
    utimesSync(file, seconds, seconds);
  }
  return folder;
}

describe("the program that is run", () => {
  it.each([
    ["nothing where nothing is built", {}, null],
    ["the modules without a bundle", { "cli/index.js": 1 }, "cli/index.js"],
    ["the bundle where the compiler has left no stamps", { "cli/index.js": 9, "bundle/cli.js": 1 }, "bundle/cli.js"],
    [
      "the bundle where it is newer than every stamp",
      { "cli/index.js": 1, ".tsbuildinfo": 2, "engine/.tsbuildinfo": 3, "bundle/cli.js": 4 },
      "bundle/cli.js",
    ],
    [
      "the modules where one part is newer",
      { "cli/index.js": 1, ".tsbuildinfo": 2, "engine/.tsbuildinfo": 5, "bundle/cli.js": 4 },
      "cli/index.js",
    ],
    [
      "the modules where the leaves are newer",
      { "cli/index.js": 1, ".leaves.tsbuildinfo": 5, "bundle/cli.js": 4 },
      "cli/index.js",
    ],
  ])("is %s", (_title, files, expected) => {
    const folder = build(files as Readonly<Record<string, number>>);
    expect(programIn(folder)).toBe(expected === null ? null : join(folder, expected));
  });
});

it("a run of tests leaves nothing in the temporary folder, nor what runs that were killed have left", () => {
  const folder = scratchFolder();
  // Process ids end at 2^22.
  const [ended, running] = [`fieldprobe-run-${2 ** 22 + 1}-a`, `fieldprobe-run-${process.ppid}-b`];
  for (const name of [ended, running, "other"]) mkdirSync(join(folder, name));
  vi.stubEnv("TMPDIR", folder);
  const end = ownTemporaryFolder();
  expect(readdirSync(folder)).not.toContain(ended);
  mkdirSync(join(tmpdir(), "left", "behind"), { recursive: true });
  end();
  vi.unstubAllEnvs();
  expect(readdirSync(folder).toSorted()).toEqual([running, "other"]);
});
