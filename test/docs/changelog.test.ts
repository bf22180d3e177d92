/** CHANGELOG.md has one line of at most 160 characters for each change, by release. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const LINES = readFileSync(new URL("../../CHANGELOG.md", import.meta.url), "utf8")
  .trimEnd()
  .split("\n");

describe("CHANGELOG.md", () => {
  it("has lines of at most 160 characters", () => {
    expect(LINES.filter((line) => line.length > 160)).toEqual([]);
  });

  it("lists changes below a release and a kind of change", () => {
    const headings = LINES.filter((line) => line.startsWith("## ")).map((line) => line.slice(3));
    const releases = headings[0] === "Unreleased" ? headings.slice(1) : headings;
    expect(releases.length).toBeGreaterThan(0);
    for (const heading of releases) expect(heading).toMatch(/^\d+\.\d+\.\d+ - \d{4}-\d{2}-\d{2}$/);
    const kinds = LINES.filter((line) => line.startsWith("### ")).map((line) => line.slice(4));
    expect(kinds.filter((kind) => !["Added", "Changed", "Fixed", "Security"].includes(kind))).toEqual([]);
  });

  it("gives each change one line that ends a sentence", () => {
    const body = LINES.slice(LINES.indexOf("## Unreleased")).filter((line) => line !== "" && !line.startsWith("#"));
    expect(body.filter((line) => !/^(- .*[.)]|[A-Z][^-].*:)$/.test(line))).toEqual([]);
    expect(new Set(body.filter((line) => line.startsWith("- "))).size).toBe(
      body.filter((l) => l.startsWith("- ")).length,
    );
  });
});
