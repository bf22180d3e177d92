/** The scanner of decimals against a table made by a C library, and against every way of cutting a number. */
import { describe, expect, it } from "vitest";
import { CUT, DecimalScanner, IN_DOUBT } from "../../src/float32/number-scanner.js";
import { bitsOf, STRTOF_ROWS } from "./strtof.js";

describe("scanning decimals", () => {
  it("agrees with strtof on every row that it does not leave in doubt, and decides most of them", () => {
    const scanner = new DecimalScanner();
    const wrong: unknown[] = [];
    let decided = 0;
    for (const [text, bits] of STRTOF_ROWS) {
      const bytes = Buffer.from(`${text}\t`);
      const value = scanner.read(bytes, 0, bytes.length);
      if (scanner.next === IN_DOUBT) continue;
      decided++;
      if (scanner.next !== text.length || bitsOf(value) !== bits) wrong.push([text, bits, value, scanner.next]);
    }
    expect(wrong).toEqual([]);
    expect(decided).toBeGreaterThan(0.3 * STRTOF_ROWS.length);
  });

  it("says that a number may go on where the bytes end", () => {
    const scanner = new DecimalScanner();
    for (const text of ["1", "-1.5", "+.5", "1e", "1.25e-1", "-", ""]) {
      const bytes = Buffer.from(text);
      scanner.read(bytes, 0, bytes.length);
      expect([text, scanner.next]).toEqual([text, CUT]);
    }
  });

  it("leaves in doubt whatever is no plain decimal", () => {
    const scanner = new DecimalScanner();
    for (const text of ["x", "-", ".", "INF", "NaN", "1e", "1e+", "--1"]) {
      const bytes = Buffer.from(`${text}\t`);
      scanner.read(bytes, 0, bytes.length);
      expect([text, scanner.next]).toEqual([text, IN_DOUBT]);
    }
  });
});
