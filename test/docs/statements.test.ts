/** docs/datasets.md lists every word and name of the table of statements. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { HARMLESS_STATEMENTS, SUSPECTS } from "../../src/storage/catalog/layouts/statement-table.js";

const PAGE = readFileSync(new URL("../../docs/datasets.md", import.meta.url), "utf8");
const [, SECTION = ""] = /\n## Statements\n([\s\S]*?)\n## /.exec(PAGE) ?? [];
const LISTED = new Set([...SECTION.matchAll(/`([^`]+)`/g)].map(([, name]) => (name as string).toLowerCase()));

it("lists the words that raise a question", () => {
  const isListed = (stem: string) => [...LISTED].some((name) => stem.startsWith(name.replace("...", "")));
  const stemsOf = ({ stems, ofValues = [] }: (typeof SUSPECTS)[number]) => [...stems, ...ofValues];
  expect(SUSPECTS.flatMap(stemsOf).filter((stem) => !isListed(stem))).toEqual([]);
  expect(SUSPECTS.flatMap(({ words = [] }) => words.filter((word) => !LISTED.has(word)))).toEqual([]);
});

it("lists what is harmless", () => {
  const all = HARMLESS_STATEMENTS.flatMap(({ names = [], words = [] }) => [...names, ...words]);
  expect(all.filter((name) => !LISTED.has(name))).toEqual([]);
});
