/** docs/operations.md covers the table of operations. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { DERIVATIVES, INTERPOLATIONS, LATER_OPERATIONS, OPERATIONS } from "../../src/shared/operations.js";

const textOf = (document: string) => readFileSync(new URL(`../../docs/${document}`, import.meta.url), "utf8");

/** Sections of a document by their headings. */
function sectionsOf(document: string): ReadonlyMap<string, string> {
  const sections = textOf(document).split(/^## /m).slice(1);
  return new Map(sections.map((section) => [section.slice(0, section.indexOf("\n")), section]));
}

/** The section of definitions, without calls. */
const SHARED = "Common definitions";

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

  it("describes every operation of both dialects", () => {
    const described = new Set(
      [...sections].flatMap(([heading, section]) => (heading === SHARED ? [] : names(section))),
    );
    expect([...OPERATIONS, ...LATER_OPERATIONS].filter(({ name }) => !described.has(name))).toEqual([]);
  });

  it.each([...sections].filter(([heading]) => heading !== SHARED))(
    "%s: calls with answers of what it describes",
    (_, section) => {
      const calls = callsIn(section);
      expect(calls.length).toBeGreaterThan(0);
      for (const call of calls) expect(names(section)).toContain(call);
    },
  );
});
