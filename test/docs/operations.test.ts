/** docs/operations.md covers the table of operations. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { OPERATIONS } from "../../src/operations.js";

const text = readFileSync(new URL("../../docs/operations.md", import.meta.url), "utf8");
const sections = new Map(
  text
    .split(/^## /m)
    .slice(1)
    .map((section) => [section.slice(0, section.indexOf("\n")), section]),
);

describe("docs/operations.md", () => {
  it("has one section for every operation and a shared one", () => {
    expect([...sections.keys()].sort()).toEqual(["What they share", ...OPERATIONS.map(({ name }) => name)].sort());
  });

  it.each(OPERATIONS.map(({ name }) => name))("%s has one call of that operation with an answer", (name) => {
    const calls = [
      ...(sections.get(name) ?? "").matchAll(/```sh\n[^`]*fieldprobe query (\w+)[^`]*```\n```text\n([^`]+)```/g),
    ];
    expect(calls.map((call) => call[1])).toEqual([name]);
  });
});
