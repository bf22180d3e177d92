/**
 * Every example call of the documents gives the answer it shows; `vitest --update` runs them and rewrites the answers.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { shellWords, withAnswers } from "../support/examples.js";
import { useTestData } from "../support/service.js";

const DOCUMENTS = [
  ["README.md", 2],
  ["docs/operations.md", 13],
  ["docs/client.md", 3],
  ["docs/clients.md", 2],
  ["docs/tracking.md", 8],
] as const;

describe("shell words", () => {
  it("are cut as a shell cuts them", () => {
    expect(shellWords("echo 1,2 | npx  it \\\n --a 'b c' --d=\"e \\\"f\\\"\"'g' ''")).toEqual([
      "echo",
      "1,2",
      "|",
      "npx",
      "it",
      "--a",
      "b c",
      '--d=e "f"g',
      "",
    ]);
  });
});

const service = await useTestData();

describe("examples", () => {
  it.each(DOCUMENTS)("%s shows real answers", { timeout: 120_000 }, async (document, count) => {
    const path = fileURLToPath(new URL(`../../${document}`, import.meta.url));
    const { text, examples } = await withAnswers(readFileSync(path, "utf8"), service.url);
    expect(examples).toBe(count);
    await expect(text).toMatchFileSnapshot(path);
  });
});
