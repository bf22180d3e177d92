/** Reading of float32: both readers against a table made by a C library. */
import { describe, expect, it } from "vitest";
import { parseFloat32 } from "../../src/float32/parse.js";
import { FULL, ODD, TripleScanner } from "../../src/float32/triples.js";
import { bitsOf, STRTOF_ROWS } from "./strtof.js";

describe("reading float32", () => {
  it("has a table worth the name", () => {
    expect(STRTOF_ROWS.length).toBeGreaterThan(6000);
  });

  it("R69, L6: the exact reader agrees with strtof on every row", () => {
    const wrong = STRTOF_ROWS.filter(([text, bits]) => bitsOf(parseFloat32(text) as number) !== bits);
    expect(wrong).toEqual([]);
  });

  it("R69, L6: the fast scanner agrees wherever it does not pass a number on", () => {
    const tags = ["<p>", "<x>", "</x>", "<y>", "</y>", "<z>", "</z>", "</p>"].map((tag) => Buffer.from(tag));
    const scanner = new TripleScanner(tags);
    const out = new Float32Array(3);
    const wrong: unknown[] = [];
    let passedOn = 0;
    for (const [text, bits] of STRTOF_ROWS) {
      const bytes = Buffer.from(`<p><x>${text}</x><y> ${text}\n</y><z>1</z></p>`);
      const why = scanner.scan(bytes, 0, bytes.length, out, 0, 1);
      if (why === ODD) passedOn++;
      else if (why !== FULL || bitsOf(out[0] as number) !== bits || bitsOf(out[1] as number) !== bits)
        wrong.push([text, bits, why]);
    }
    expect(wrong).toEqual([]);
    expect(passedOn).toBeLessThan(STRTOF_ROWS.length / 1.2);
  });

  it("the fast scanner keeps ordinary decimals of up to 19 digits", () => {
    const tags = ["<p>", "<x>", "</x>", "<y>", "</y>", "<z>", "</z>", "</p>"].map((tag) => Buffer.from(tag));
    const scanner = new TripleScanner(tags);
    const out = new Float32Array(3);
    for (const text of [
      "0",
      "-0",
      "3.14159265358979312",
      "1.2345678901234567e-05",
      "+6.28e0",
      "12345678901234567890",
      "0.000000000000000001",
    ]) {
      const bytes = Buffer.from(`<p><x>${text}</x><y>${text}</y><z>${text}</z></p>`);
      expect([text, scanner.scan(bytes, 0, bytes.length, out, 0, 1)]).toEqual([text, FULL]);
      expect(Object.is(out[0], Math.fround(Number(text)))).toBe(true);
    }
  });
});
