/** Links between the documents lead somewhere. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const DOCUMENTS = [
  "README.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  ...readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => join("docs", name)),
];

function fragments(text: string): readonly string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    (heading as string)
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

it.each(DOCUMENTS)("%s links to what exists", (document) => {
  const text = readFileSync(join(ROOT, document), "utf8");
  const broken = [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map((link) => link[1] as string)
    .filter((target) => !/^[a-z]+:/.test(target))
    .filter((target) => {
      const [path = "", fragment] = target.split("#");
      const file = path === "" ? join(ROOT, document) : join(ROOT, dirname(document), path);
      if (!existsSync(file)) return true;
      return fragment !== undefined && !fragments(readFileSync(file, "utf8")).includes(fragment);
    });
  expect(broken).toEqual([]);
});
