/** docs/glossary.md gives each word one meaning, and names for each a file that exists. */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const TEXT = readFileSync(fileURLToPath(new URL("../../docs/glossary.md", import.meta.url)), "utf8");
const ROWS = [...TEXT.matchAll(/^\| ([^|]+) \| ([^|]+) \| `([^`]+)` \|$/gm)].map(([, words, meaning, file]) => ({
  words: (words as string).split(", "),
  meaning: meaning as string,
  file: file as string,
}));

it("has a meaning and an existing file for every word", () => {
  expect(ROWS.length).toBeGreaterThan(50);
  const lost = ROWS.filter(({ file }) => !existsSync(fileURLToPath(new URL(`../../src/${file}`, import.meta.url))));
  expect(lost).toEqual([]);
  expect(TEXT.match(/^\| (?!Word|-)/gm)?.length).toBe(ROWS.length);
});

it("has every word once", () => {
  const words = ROWS.flatMap((row) => row.words);
  expect(new Set(words).size).toBe(words.length);
});
