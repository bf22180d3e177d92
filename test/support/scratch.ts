/** A temporary folder for the tests of one file. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

/** Makes a folder that is removed after the tests of the file or of the enclosing `describe`. */
export function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "fieldprobe-test-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
