/** The fonts of figures have a glyph for all that the page writes, and PDF refuses the rest. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { MISSING_GLYPH } from "../state/format.js";

/** The characters of a TrueType font, by the segments of its table `cmap` of format 4. */
function charactersOf(path: string): string[] {
  const font = readFileSync(new URL(path, import.meta.url));
  const tables = Array.from({ length: font.readUInt16BE(4) }, (_, i) => 12 + 16 * i);
  const cmap = font.readUInt32BE((tables.find((at) => font.toString("latin1", at, at + 4) === "cmap") as number) + 8);
  const offsets = Array.from({ length: font.readUInt16BE(cmap + 2) }, (_, i) => font.readUInt32BE(cmap + 8 + 8 * i));
  const table = cmap + (offsets.find((at) => font.readUInt16BE(cmap + at) === 4) as number);
  const segments = font.readUInt16BE(table + 6) / 2;
  return Array.from({ length: segments }, (_, i) => {
    const [last, first] = [font.readUInt16BE(table + 14 + 2 * i), font.readUInt16BE(table + 16 + 2 * (segments + i))];
    return first === 0xffff ? [] : Array.from({ length: last - first + 1 }, (_, j) => String.fromCharCode(first + j));
  }).flat();
}

describe("fonts of PDF", () => {
  it.each(["Regular", "SemiBold"])("write what is not refused, in %s", (weight) => {
    const has = new Set(charactersOf(`../fonts/inter-${weight}.ttf`));
    expect(has.size).toBeGreaterThan(200);
    for (let code = 32; code < 0xd800; code++) {
      const one = String.fromCharCode(code);
      expect([one, has.has(one)]).toEqual([one, !MISSING_GLYPH.test(one)]);
    }
  });

  it("write the symbols of quantities", () => {
    const source = ["state/quantities.ts", "state/format.ts", "cards/budget.ts", "chart.ts"]
      .map((name) => readFileSync(new URL(`../${name}`, import.meta.url), "utf8"))
      .join("");
    expect(source).toContain("∇");
    for (const one of source.match(/[^\s -~]/gu) ?? []) expect(MISSING_GLYPH.test(one)).toBe(false);
  });
});
