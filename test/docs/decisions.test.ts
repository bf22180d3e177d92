/** docs/decisions/README.md lists every decision page by number and title; `vitest --update` writes the list again. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { withTables } from "../support/measured.js";

const FOLDER = fileURLToPath(new URL("../../docs/decisions/", import.meta.url));
const PAGES = readdirSync(FOLDER).filter((name) => /^\d{4}-.*\.md$/.test(name));

it("lists every page with its number and title", async () => {
  const rows = PAGES.map((name) => {
    const title = /^# (\d{4})[.:] (.+)\n/.exec(readFileSync(FOLDER + name, "utf8"));
    expect(title?.[1], `${name} opens with its number`).toBe(name.slice(0, 4));
    return `| [${title?.[1]}](${name}) | ${title?.[2]} |\n`;
  });
  expect(new Set(PAGES.map((name) => name.slice(0, 4))).size).toBe(PAGES.length);
  const index = `${FOLDER}README.md`;
  const table = `| Number | Decision |\n|---|---|\n${rows.join("")}`;
  await expect(withTables(readFileSync(index, "utf8"), new Map([["decisions", table]]))).toMatchFileSnapshot(index);
});
