/** The record of a file tells that its content was replaced, even if its size and times were restored. */
import { statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { fileStamp, isUnchanged } from "../../../src/storage/file/files.js";
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
