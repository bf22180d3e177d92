/** Reading of float32 against a table made by a C library. */
import { describe, expect, it } from "vitest";
import { parseFloat32 } from "../../src/float32/parse.js";
import { bitsOf, STRTOF_ROWS } from "./strtof.js";

describe("reading float32", () => {
  it("has a table worth the name", () => {
    expect(STRTOF_ROWS.length).toBeGreaterThan(6000);
  });

  it("R69, L6: agrees with strtof on every row", () => {
    const wrong = STRTOF_ROWS.filter(([text, bits]) => bitsOf(parseFloat32(text) as number) !== bits);
    expect(wrong).toEqual([]);
  });
});
