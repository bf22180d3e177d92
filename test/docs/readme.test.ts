/** README.md is short, has the two set-up commands, and shows one answer in two languages. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const text = readFileSync(new URL("../../README.md", import.meta.url), "utf8");

describe("README", () => {
  it("has exactly the two set-up commands", () => {
    const blocks = [...text.matchAll(/```\n(npm ci[^`]*)```/g)].map((block) => block[1]);
    expect(blocks).toEqual(["npm ci && npm start\n", "npm ci && npm test\n"]);
  });

  it("shows the same numbers from Python as from curl", () => {
    const python = /```python\n[^`]*```\n```text\n([^`]*)```/.exec(text)?.[1]?.trim();
    const [, x, y, z] = /<Vector3><x>(.*?)<\/x><y>(.*?)<\/y><z>(.*?)<\/z><\/Vector3>/.exec(text) ?? [];
    expect(python).toBe(`${x} ${y} ${z}`);
  });

  it("is short enough to be read", () => {
    expect(text.trimEnd().split("\n").length).toBeLessThan(100);
  });
});
