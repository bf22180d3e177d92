/** docs/rules.md has every rule that a test cites, and every rule of it is cited by a test or says what checks it. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const RULES = [...readFileSync(join(ROOT, "docs/rules.md"), "utf8").matchAll(/^- ([RL]\d+[a-z]?): (.+)$/gm)].map(
  ([, id, text]) => ({ id: id as string, text: text as string }),
);
const NAMES = RULES.map(({ id }) => id);

/** Rules that a text cites, `R84 to R86` being three. */
function cited(text: string): string[] {
  const ranges = [...text.matchAll(/\b([RL])(\d+) to [RL](\d+)\b/g)].flatMap(([, letter, first, last]) =>
    Array.from({ length: Number(last) - Number(first) + 1 }, (_, i) => `${letter}${Number(first) + i}`),
  );
  return [...ranges, ...[...text.matchAll(/\b[RL]\d+[a-z]?\b/g)].map(([id]) => id)];
}

const citations = new Map(
  readdirSync(join(ROOT, "test"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.startsWith("docs"))
    .flatMap((name) => cited(readFileSync(join(ROOT, "test", name), "utf8")).map((id) => [id, name] as const)),
);

it("has each rule once, and every rule that a test cites", () => {
  expect(RULES.length).toBeGreaterThan(140);
  expect(new Set(NAMES).size).toBe(NAMES.length);
  expect([...citations].filter(([id]) => !NAMES.includes(id))).toEqual([]);
});

it("has no rule that nothing checks", () => {
  const unchecked = RULES.filter(({ id, text }) => {
    const place = /\*\(not cited: `([^`]+)`/.exec(text)?.[1];
    return place === undefined ? !citations.has(id) : citations.has(id) || !existsSync(join(ROOT, place));
  });
  expect(unchecked).toEqual([]);
});
