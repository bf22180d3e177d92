/** A text file is there as a whole, or not at all. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { writeAtomically } from "../../src/shared/write-atomically.js";
import { scratchFolder } from "../support/scratch.js";

it("is written and replaced, and leaves nothing where that fails", () => {
  const folder = scratchFolder();
  const file = join(folder, "a.json");
  writeAtomically(file, "{}\n");
  writeAtomically(file, "[]\n");
  expect(readFileSync(file, "utf8")).toBe("[]\n");
  writeFileSync(`${file}.${process.pid}.partial`, "left by a process that was killed");
  writeAtomically(file, "{}\n");
  expect(readFileSync(file, "utf8")).toBe("{}\n");
  rmSync(`${file}.${process.pid}.partial`);
  const taken = join(folder, "b.json");
  mkdirSync(taken);
  expect(() => writeAtomically(taken, "{}\n")).toThrow(`${taken} cannot be written: it is a folder`);
  expect(readdirSync(folder).sort()).toEqual(["a.json", "b.json"]);
});
