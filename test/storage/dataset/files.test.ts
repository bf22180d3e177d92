/** The record of a file tells that its content was replaced, even if its size and times were restored. */
import { readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { scanFolders } from "../../../src/storage/catalog/scan-folders.js";
import { fileStamp, isUnchanged } from "../../../src/storage/dataset/files.js";
import { stateGrid, writeField, writeHdf5 } from "../../support/cubes.js";
import { scratchFolder } from "../../support/scratch.js";

it("notices content that was replaced in place with the time of its writing restored", () => {
  const path = join(scratchFolder(), "u.h5");
  writeFileSync(path, "old");
  utimesSync(path, 1000, 1000);
  const record = fileStamp(path);
  expect(isUnchanged(record)).toBe(true);
  // The clock of a file system may stand still for some milliseconds.
  while (statSync(path).ctimeMs === record.changedMs) {
    writeFileSync(path, "new");
    utimesSync(path, 1000, 1000);
  }
  expect(fileStamp(path)).toMatchObject({ bytes: record.bytes, modifiedMs: record.modifiedMs, inode: record.inode });
  expect(isUnchanged(record)).toBe(false);
});

it("notices it in the files of a dataset as they are found in a folder", async () => {
  const folder = scratchFolder();
  const path = await writeHdf5(join(folder, "flow.h5"), (file) => {
    stateGrid(file);
    writeField(file, "p", { dimensions: ["t", "z", "y", "x"] });
    file.create_dataset({ name: "time", data: Float64Array.of(0, 1, 2) });
  });
  utimesSync(path, 1000, 1000);
  const [dataset] = scanFolders([folder], { chunkBytes: 1 << 26 }).datasets;
  const [record] = dataset?.files ?? [];
  expect(record && isUnchanged(record)).toBe(true);
  const content = readFileSync(path);
  const { ctimeMs } = statSync(path);
  while (statSync(path).ctimeMs === ctimeMs) {
    writeFileSync(path, content);
    utimesSync(path, 1000, 1000);
  }
  expect(record && isUnchanged(record)).toBe(false);
});
