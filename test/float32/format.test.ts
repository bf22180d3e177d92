/** Writing of float32: every value reads back, and no text has more digits than the shortest one. */
import { describe, expect, it } from "vitest";
import { FLOAT_BYTES, shortestFloat32 } from "../../src/float32/format.js";

const single = new Float32Array(1);
const pattern = new Uint32Array(single.buffer);
const fromBits = (bits: number): number => {
  pattern[0] = bits;
  return single[0] as number;
};
const significant = (decimal: string): number =>
  decimal
    .replace(/^-|e.*$/g, "")
    .replace(".", "")
    .replace(/^0+/, "")
    .replace(/0+$/, "").length;
/** Fewest digits that read back, by trying them all with the engine's own conversions. */
function fewest(value: number): number {
  for (let count = 1; ; count++) if (Math.fround(Number(value.toPrecision(count))) === value) return count;
}

describe("writing float32", () => {
  it("R93: 80 000 patterns read back and none is longer than need be", () => {
    const wrong: unknown[] = [];
    let state = 12345;
    for (let i = 0; i < 80_000; i++) {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      const value = fromBits(state);
      if (!Number.isFinite(value)) continue;
      const written = shortestFloat32(value);
      if (
        !Object.is(Math.fround(Number(written)), value) ||
        significant(written) > fewest(value) ||
        written.length > FLOAT_BYTES
      ) {
        wrong.push([value, written]);
      }
    }
    expect(wrong).toEqual([]);
  });

  it("R93: every power of two and its neighbours, where the gaps differ", () => {
    for (let exponent = 0; exponent < 255; exponent++) {
      for (const bits of [exponent * 2 ** 23 - 1, exponent * 2 ** 23, exponent * 2 ** 23 + 1]) {
        if (bits < 1) continue;
        const value = fromBits(bits);
        expect([value, Math.fround(Number(shortestFloat32(value)))]).toEqual([value, value]);
        expect(significant(shortestFloat32(value))).toBeLessThanOrEqual(fewest(value));
      }
    }
  });

  it("R93: the nearest of the shortest decimals is taken", () => {
    for (const [value, expected] of [
      [Math.fround(0.1), "0.1"],
      [Math.fround(5e-45), "6e-45"],
      [2 ** -149, "1e-45"],
      [Math.fround(9.5e-43), "9.5e-43"],
    ] as const) {
      expect(shortestFloat32(value)).toBe(expected);
    }
  });

  it("R93, L16: spellings", () => {
    expect([Infinity, -Infinity, Number.NaN, 0, -0].map(shortestFloat32)).toEqual(["INF", "-INF", "NaN", "0", "-0"]);
  });

  it("gives back what was typed, rounded to float32", () => {
    const typed = ["0.1", "3.14159", "1.0000001", "16777216", "1e-45", "3.4028235e38", "-0", "0", "NaN", "INF", "-INF"];
    const values = typed.map((text) => Number(text.replace("INF", "Infinity")));
    expect(values.map(shortestFloat32)).toEqual(typed);
    expect([0.1, 16777217].map(shortestFloat32)).toEqual(["0.1", "16777216"]);
  });
});
