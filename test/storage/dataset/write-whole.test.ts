/** A text file is there as a whole, or not at all. */
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { writeWhole } from "../../../src/storage/dataset/write-whole.js";
import { scratchFolder } from "../../support/scratch.js";

it("is written and replaced, and leaves nothing where that fails", () => {
  const folder = scratchFolder();
  const file = join(folder, "a.json");
  writeWhole(file, "{}\n");
  writeWhole(file, "[]\n");
  expect(readFileSync(file, "utf8")).toBe("[]\n");
  const taken = join(folder, "b.json");
  mkdirSync(taken);
  expect(() => writeWhole(taken, "{}\n")).toThrow(`${taken} cannot be written: it is a folder`);
  expect(readdirSync(folder).sort()).toEqual(["a.json", "b.json"]);
});
