/** The program: every command is known, and a mistake is one line and exit code 2. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync, readdirSync, readFileSync } from "node:fs";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { CALL_NAMES } from "../../src/shared/calls.js";
import { fieldprobe, stdoutOf } from "../support/run-command.js";

const BIN = fileURLToPath(new URL("../../bin/fieldprobe.js", import.meta.url));
const CLI = fileURLToPath(new URL("../../src/cli/commands/", import.meta.url));

it("lists every command that has a file, every call, and its version", async () => {
  const files = readdirSync(CLI).filter((file) =>
    /export function \w+Command\(/.test(readFileSync(CLI + file, "utf8")),
  );
  const stdout = await stdoutOf("--help");
  const listed = [...stdout.matchAll(/^ {2}([a-z-]+)(?= | \[|$)/gm)].map((line) => line[1]);
  const own = files.map((file) => file.replace(".ts", "")).filter((name) => name !== "ask");
  const calls = CALL_NAMES.map((name) => name.replaceAll("_", "-"));
  expect(listed.filter((name) => name !== "help").sort()).toEqual([...own, ...calls].sort());
  expect((await fieldprobe("--version")).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});

it("suggests a command for one that is misspelt", async () => {
  const { status, stdout, stderr } = await fieldprobe("valus");
  expect([status, stdout]).toEqual([2, ""]);
  expect(stderr).toContain("values");
});

it("says nothing to a reader who has gone", async () => {
  const child = spawn(process.execPath, [BIN, "cluster", "--help"]);
  child.stdout.destroy();
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, "close")]);
  expect([code, said]).toEqual([1, ""]);
});

const FULL = "/dev/full";

it
  .runIf(existsSync(FULL))
  .each([[["--help"]], [["check", fileURLToPath(new URL("../../data/isotropic32", import.meta.url))]]])(
  "fieldprobe %j says in one line that the disk of its output is full",
  async (words) => {
    const full = openSync(FULL, "w");
    const child = spawn(process.execPath, [BIN, ...words], { stdio: ["ignore", full, "pipe"] });
    closeSync(full);
    const [said, [code]] = await Promise.all([text(child.stderr as Readable), once(child, "close")]);
    const lines = said.split("\n").filter((line) => !/ \d+ %$/.test(line));
    expect([code, lines]).toEqual([
      1,
      ["fieldprobe: the output cannot be written: no space is left on the device", ""],
    ]);
  },
);

it.each([
  [["generate", "abc", "--nodes", "8", "--out", ""]],
  [["convert", "data/isotropic32", ""]],
  [["convert", "", "target"]],
  [["check", ""]],
  [["inspect", "u.h5", "--descriptors", " "]],
])("fieldprobe %j takes no empty path for the folder it runs in", async (words) => {
  const { status, stdout, stderr } = await fieldprobe(...words);
  expect([status, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(/^fieldprobe: .* is invalid.* a path is needed\.\n$/);
});
