/** Files that a descriptor hides are named; its own, and those of its series, are not. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { unclaimedFiles, unclaimedWarning } from "../../../src/storage/catalog/unclaimed.js";
import { scratchFolder } from "../../support/scratch.js";

const SCRATCH = scratchFolder();

/** A folder with empty files of these names. */
function folderOf(name: string, files: readonly string[]): string {
  const folder = join(SCRATCH, name);
  for (const file of files) {
    mkdirSync(join(folder, file, ".."), { recursive: true });
    writeFileSync(join(folder, file), "");
  }
  return folder;
}

it("lists what no member of the descriptor names", () => {
  const folder = folderOf("one", [
    "u.h5",
    "notes.txt",
    "other.h5",
    "deep/more.nc",
    "p_0001.h5",
    "p_0002.h5",
    "p_last.refs.json",
  ]);
  const descriptor = {
    axes: { x: { coordinates: { file: "./u.h5", path: "/x" } } },
    fields: { velocity: { file: "u.h5", path: "/u" }, pressure: { file: "p_{step:04d}.h5", path: "/p" } },
  };
  expect(unclaimedFiles(folder, descriptor)).toEqual(["deep/more.nc", "other.h5", "p_last.refs.json"]);
  expect(unclaimedWarning(folder, descriptor)).toMatch(
    /^Not served: deep\/more\.nc, other\.h5, p_last\.refs\.json, for /,
  );
});

it("says nothing where all files are the dataset's, and counts many", () => {
  const folder = folderOf("two", ["a+b.h5"]);
  expect(unclaimedWarning(folder, { fields: { velocity: { file: "a+b.h5" } } })).toBeNull();
  const many = folderOf("three", ["1.h5", "2.h5", "3.h5", "4.h5", "5.h5"]);
  expect(unclaimedWarning(many, { fields: { velocity: { file: "https://host/1.h5" } } })).toContain(
    "1.h5, 2.h5, 3.h5 and 2 more",
  );
});
