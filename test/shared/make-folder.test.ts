/** Folders are made with those above them; a place that refuses folders is an error, not a wait without end. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { makeFolder } from "../../src/shared/system.js";
import { scratchFolder } from "../support/scratch.js";

it("makes all that is missing, and takes what is there", () => {
  const path = join(scratchFolder(), "a", "b");
  makeFolder(path);
  makeFolder(path);
  expect(existsSync(path)).toBe(true);
});

it("fails where a file stands in the way", () => {
  const file = join(scratchFolder(), "file");
  writeFileSync(file, "");
  for (const path of [file, join(file, "a"), join(file, "a", "b")]) {
    expect(() => makeFolder(path)).toThrow(/EEXIST|ENOTDIR/);
  }
});

it.runIf(existsSync("/proc/self"))("fails where the system refuses folders", () => {
  expect(() => makeFolder("/proc/fieldprobe/state")).toThrow(/ENOENT|EACCES|EPERM/);
});
