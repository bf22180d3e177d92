/** docs/glossary.md gives each word one meaning, names a file that exists, and says which rooms may use it. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT, sourceFiles } from "../support/source-graph.js";

const TEXT = readFileSync(join(ROOT, "docs/glossary.md"), "utf8");
/** Rows of three cells, or of four where a word belongs to some rooms. */
const ROWS = [...TEXT.matchAll(/^\| ([^|]+) \| ([^|]+) \| (?:([^|]+) \| )?`([^`]+)` \|$/gm)].map(
  ([, words, , rooms, file]) => ({
    words: (words as string).split(", "),
    rooms:
      rooms === undefined || rooms === "all"
        ? null
        : [...rooms.matchAll(/`([^`]+)`/g)].map(([, room]) => room as string),
    file: file as string,
  }),
);

/**
 * The words of the identifiers of a source, in small letters and without a plural s. Imports and what is called are
 * left out: the names of functions are verbs.
 */
function identifierWords(text: string): Set<string> {
  const code = text
    .replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, "")
    .replace(/^import\b[^;]*;/gm, "")
    .replace(/"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`|'(?:[^'\\\n]|\\.)*'/g, "");
  const identifiers = [...code.matchAll(/[A-Za-z_]\w*(?![\w(<])/g)].map(([name]) => name);
  const words = identifiers.flatMap((name) => name.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g) ?? []);
  return new Set(words.map((word) => word.toLowerCase().replace(/s$/, "")));
}

it("has a meaning and an existing file for every word", () => {
  expect(ROWS.length).toBeGreaterThan(50);
  expect(ROWS.filter(({ file }) => !existsSync(join(ROOT, "src", file)))).toEqual([]);
  expect(TEXT.match(/^\| (?!Word|-)/gm)?.length).toBe(ROWS.length);
});

it("has every word once", () => {
  const words = ROWS.flatMap((row) => row.words);
  expect(new Set(words).size).toBe(words.length);
});

it("finds the words of identifiers", () => {
  const words = identifierWords(`const slotsOf = layout.maxSlots; share(all); // piece
    new URL("pinned"); class XMLReader {}`);
  expect(["slot", "max", "layout", "xml", "reader"].filter((word) => !words.has(word))).toEqual([]);
  expect(["share", "piece", "pinned"].filter((word) => words.has(word))).toEqual([]);
});

it("keeps the words of some rooms out of the identifiers of others", () => {
  const limited = ROWS.filter(({ rooms }) => rooms !== null);
  expect(limited.length).toBeGreaterThan(6);
  const misused = sourceFiles("src").flatMap((file) => {
    const used = identifierWords(readFileSync(join(ROOT, "src", file), "utf8"));
    return limited
      .filter(({ rooms }) => !rooms?.some((room) => file === room || file.startsWith(`${room}/`)))
      .flatMap(({ words }) => words.filter((word) => used.has(word)).map((word) => `${word} in ${file}`));
  });
  expect(misused).toEqual([]);
});
