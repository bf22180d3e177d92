/** What a release consists of says the same everywhere: versions, and the licences of what it brings. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const read = (file: string) => readFileSync(join(ROOT, file), "utf8");

it("has one version", async () => {
  const { PLACES, statements } = await import(pathToFileURL(join(ROOT, "scripts/set-version.mjs")).href);
  const { version } = JSON.parse(read("package.json"));
  expect(JSON.parse(read("package-lock.json")).version).toBe(version);
  for (const [file, before, after] of PLACES as [string, string, string][]) {
    const stated = [...read(file).matchAll(statements(before, after))].map(([, , found]) => found);
    expect([file, ...new Set(stated)]).toEqual([file, version]);
  }
  expect(read("CHANGELOG.md")).toMatch(new RegExp(`^## (Unreleased|${version.replaceAll(".", "\\.")}\\b)`, "m"));
});

it("has a version in every workspace, without which npm makes no bill of materials", () => {
  const { workspaces } = JSON.parse(read("package.json")) as { workspaces: string[] };
  for (const folder of workspaces)
    expect(JSON.parse(read(`${folder}/package.json`)).version).toMatch(/^\d+\.\d+\.\d+$/);
});

it("lists the licence of every package that it brings", () => {
  const page = execFileSync(process.execPath, [join(ROOT, "scripts/licences.mjs")], { encoding: "utf8" });
  expect(read("docs/licences.md")).toBe(page);
});
