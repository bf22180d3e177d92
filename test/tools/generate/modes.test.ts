/** The kept wavenumbers and their numbers. */
import { describe, expect, it } from "vitest";
import { numberOf, retainedModes } from "../../../tools/generate/modes.js";

const NODES = 8;

describe("retainedModes", () => {
  it("keeps one of each pair of wavenumbers whose products do not alias back", () => {
    const { k, count, kmax } = retainedModes(NODES);
    expect(kmax).toBe(2);
    expect(count).toBe(((2 * kmax + 1) ** 3 - 1) / 2);
    // The sum of two kept wavenumbers, reduced to the cube's range, is the sum itself or is not kept.
    expect(2 * kmax - NODES).toBeLessThan(-kmax);
    const rows = Array.from({ length: count }, (_, m) => [...k.subarray(3 * m, 3 * m + 3)]);
    const both = new Set([...rows.map(String), ...rows.map((row) => String(row.map((component) => 0 - component)))]);
    expect(both.size).toBe(2 * count);
    expect(both.has("0,0,0")).toBe(false);
  });
});

describe("numberOf", () => {
  it("finds each mode by its wavenumber, and its mirror", () => {
    const modes = retainedModes(NODES);
    for (let m = 0; m < modes.count; m++) {
      const [x, y, z] = modes.k.subarray(3 * m, 3 * m + 3) as unknown as [number, number, number];
      expect(numberOf(modes, x, y, z)).toBe(m + 1);
      expect(numberOf(modes, -x, -y, -z)).toBe(-m - 1);
    }
    expect(numberOf(modes, 0, 0, 0)).toBe(0);
  });
});
