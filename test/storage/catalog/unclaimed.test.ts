/** Files that a descriptor hides are named; its own, and those of its series, are not. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { unclaimedWarning } from "../../../src/storage/catalog/apart.js";
import type { Descriptor } from "../../../src/storage/dataset/descriptor.js";
import { scratchFolder } from "../../support/scratch.js";

const SCRATCH = scratchFolder();

function warningFor(name: string, files: readonly string[], fields: object, axes: object = {}): string | null {
  const folder = join(SCRATCH, name);
  for (const file of files) {
    mkdirSync(join(folder, file, ".."), { recursive: true });
    writeFileSync(join(folder, file), "");
  }
  return unclaimedWarning(join(folder, "dataset.json"), { fields, axes } as Descriptor);
}

it("lists what no member of the descriptor names", () => {
  const names = ["u.h5", "notes.txt", "other.h5", "deep/more.nc", "p_0001.h5", "p_0002.h5", "p_last.refs.json"];
  const axes = { x: { coordinates: { file: "./u.h5", path: "/x" } } };
  const fields = { velocity: { file: "u.h5", path: "/u" }, pressure: { file: "p_{step:04d}.h5", path: "/p" } };
  expect(warningFor("one", names, fields, axes)).toMatch(
    /^Not served: deep\/more\.nc, other\.h5, p_last\.refs\.json, for /,
  );
});

it("says nothing where all files are the dataset's, and counts many", () => {
  expect(warningFor("two", ["a+b.h5"], { velocity: { file: "a+b.h5", path: "/u" } })).toBeNull();
  const far = { velocity: { file: "https://host/1.h5", path: "/u" } };
  expect(warningFor("three", ["1.h5", "2.h5", "3.h5", "4.h5", "5.h5"], far)).toContain("1.h5, 2.h5, 3.h5 and 2 more");
});
