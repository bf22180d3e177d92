/** Makes temporary folders for tests, and removes them afterwards. */
import { mkdirSync, mkdtempSync, rmSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach } from "vitest";

/** Makes a folder that is removed after the tests of the file or of the enclosing `describe`. */
export function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "fieldprobe-test-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function folderIn(parent: string, name: string): string {
  mkdirSync(join(parent, name));
  return join(parent, name);
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

/** Files as they are a minute after they were written. */
export function age(...paths: readonly string[]): void {
  const time = Date.now() / 1000 - 60;
  for (const path of paths) utimesSync(path, time, time);
}
