/** Makes temporary folders for tests, and removes them afterwards. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach } from "vitest";

/** Makes a folder that is removed after the tests of the file or of the enclosing `describe`. */
export function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "fieldprobe-test-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Hands each test of the file or of the enclosing `describe` a folder of its own, which is removed after it. */
export function eachScratchFolder(use: (folder: string) => void): void {
  let folder = "";
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "fieldprobe-test-"));
    use(folder);
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
}
