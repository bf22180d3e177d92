/** README.md: short, and its table of operations says what the code says. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { DERIVATIVES, INTERPOLATIONS, OPERATIONS } from "../../src/operations.js";

const text = readFileSync(new URL("../../README.md", import.meta.url), "utf8");

const names = (cell: string | undefined) => [...(cell ?? "").matchAll(/`([^`]+)`/g)].map((name) => name[1] as string);

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
    expect(text.trimEnd().split("\n").length).toBeLessThan(150);
  });

  it("lists every operation once, with the methods it takes", () => {
    const rows = [...text.matchAll(/^\| (`\w+`.*) \| (.*) \|$/gm)].map(([, first, second]) => ({
      operations: names(first),
      methods: names(second),
    }));
    expect(rows.flatMap(({ operations }) => operations).toSorted()).toEqual(
      OPERATIONS.map(({ name }) => name as string).toSorted(),
    );
    for (const { name, spatial } of OPERATIONS) {
      const row = rows.find(({ operations }) => operations.includes(name));
      if (spatial === INTERPOLATIONS || spatial === DERIVATIVES) expect(row?.methods).toEqual([...spatial]);
    }
  });
});
