/** docs/operations.md and docs/later-operations.md cover the table of operations. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { DERIVATIVES, INTERPOLATIONS, LATER_OPERATIONS, OPERATIONS } from "../../src/shared/operations.js";

const textOf = (document: string) => readFileSync(new URL(`../../docs/${document}`, import.meta.url), "utf8");

/** Sections of a document by their headings. */
function sectionsOf(document: string): ReadonlyMap<string, string> {
  const sections = textOf(document).split(/^## /m).slice(1);
  return new Map(sections.map((section) => [section.slice(0, section.indexOf("\n")), section]));
}

/** The operations that a section calls with an answer. */
function callsIn(section = ""): readonly (string | undefined)[] {
  const pattern = /```sh\n[^`]*(?:fieldprobe soap |\/api\/datasets\/\w+\/)(\w+)[^`]*```\n```text\n[^`]+```/g;
  return [...section.matchAll(pattern)].map((call) => call[1]);
}

const names = (cell: string | undefined) => [...(cell ?? "").matchAll(/`([^`]+)`/g)].map((name) => name[1] as string);

describe("docs/operations.md", () => {
  const text = textOf("operations.md");
  const sections = sectionsOf("operations.md");

  it("lists every operation once, with the methods it takes", () => {
    const rows = [...(text.split("\n## ")[0] as string).matchAll(/^\| (`\w+`.*) \| (.*) \|$/gm)].map(
      ([, first, second]) => ({
        operations: names(first),
        methods: names(second),
      }),
    );
    expect(rows.flatMap(({ operations }) => operations).toSorted()).toEqual(
      OPERATIONS.map(({ name }) => name as string).toSorted(),
    );
    for (const { name, spatial } of OPERATIONS) {
      const row = rows.find(({ operations }) => operations.includes(name));
      if (spatial === INTERPOLATIONS || spatial === DERIVATIVES) expect(row?.methods).toEqual([...spatial]);
    }
  });

  it("flags the operations that the contract flags as under development", () => {
    const flagged = /\n\n([^\n]*under development and may change[^:]*:[^.]*)\./.exec(text)?.[1];
    const unfinished = ["GetForce", "GetPositionInertialParticle", "GetPosition", "GetPositionParticleControl"];
    expect(names(flagged)).toEqual(unfinished);
  });

  it("has one section for every operation and a shared one", () => {
    expect([...sections.keys()].sort()).toEqual(["Common definitions", ...OPERATIONS.map(({ name }) => name)].sort());
  });

  it.each(OPERATIONS.map(({ name }) => name))("%s has one call of that operation with an answer", (name) => {
    expect(callsIn(sections.get(name))).toEqual([name]);
  });
});

describe("docs/later-operations.md", () => {
  const sections = sectionsOf("later-operations.md");

  it("names every operation in the heading of one section", () => {
    const named = [...sections.keys()].flatMap((heading) => heading.split(", "));
    expect(named.sort()).toEqual(LATER_OPERATIONS.map(({ name }) => name).sort());
  });

  it.each([...sections])("%s: one call of one of them with an answer", (heading, section) => {
    const calls = callsIn(section);
    expect(calls).toHaveLength(1);
    expect(heading.split(", ")).toContain(calls[0]);
  });
});
