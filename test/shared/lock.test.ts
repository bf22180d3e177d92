/** Locks of files: one process at a time changes a file, and no lock that is left over stops the next one. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { withLock } from "../../src/shared/system.js";
import { eachScratchFolder } from "../support/scratch.js";

let folder: string;
let file: string;
eachScratchFolder((path) => {
  folder = path;
});
beforeEach(() => {
  file = join(folder, "kept.json");
});

const ended = spawnSync(process.execPath, ["--version"]).pid;

it("holds a lock that names this process while the change runs, and leaves nothing", () => {
  const seen = withLock(file, () => readFileSync(`${file}.lock`, "utf8"));
  expect(seen).toBe(`${process.pid} ${hostname()}\n`);
  expect(() =>
    withLock(file, () => {
      throw new Error("no");
    }),
  ).toThrow("no");
  expect(readdirSync(folder)).toEqual([]);
});

it("gives up in one line that names the process, the file and the lock", () => {
  const said: number[] = [];
  const inner = () => withLock(file, () => "two at once", { waitMs: 50, waiting: (pid) => said.push(pid) });
  expect(() => withLock(file, inner)).toThrow(
    `process ${process.pid} on ${hostname()} is changing ${file}; if there is none, delete ${file}.lock`,
  );
  expect(said).toEqual([process.pid]);
});

it("locks a file under all of its links", () => {
  const link = join(folder, "link.json");
  writeFileSync(file, "");
  symlinkSync(file, link);
  expect(withLock(link, () => existsSync(`${file}.lock`))).toBe(true);
  expect(() => withLock(file, () => withLock(link, () => null, { waitMs: 0 }))).toThrow("is changing");
});

it.each([
  ["of a process that has ended", `${ended} ${hostname()}\n`, 0],
  ["a minute old, of another machine", "1 elsewhere\n", 61],
  ["a minute old, and empty", "", 61],
])("takes over a lock %s", (_, text, age) => {
  writeFileSync(`${file}.lock`, text);
  const then = Date.now() / 1000 - age;
  utimesSync(`${file}.lock`, then, then);
  expect(withLock(file, () => "done", { waitMs: 0 })).toBe("done");
  expect(readdirSync(folder)).toEqual([]);
});

it.each([
  ["of another machine", "1 elsewhere\n"],
  ["that is not written yet", ""],
])("waits for a new lock %s", (_, text) => {
  writeFileSync(`${file}.lock`, text);
  expect(() => withLock(file, () => null, { waitMs: 0 })).toThrow("is changing");
  expect(readFileSync(`${file}.lock`, "utf8")).toBe(text);
});

it("goes without a lock where no file can be made beside the file", () => {
  const missing = join(folder, "none", "kept.json");
  expect(withLock(missing, () => "done")).toBe("done");
});
