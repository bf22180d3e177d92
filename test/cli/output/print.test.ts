import { describe, expect, it } from "vitest";
import { csv, float32Texts, json } from "../../../src/cli/output/print.js";
import { fc } from "../../support/property.js";

const ANSWER = {
  facts: { version: "1", dataset: "box" },
  components: ["x", "p"],
  recordsPerPoint: 2,
  points: Float32Array.of(0.1, 2, -0, 4, 5, 6),
  values: Float32Array.of(1, 0.5, 1e-7, 3, 5, Infinity, Number.NaN, 8),
};

describe("float32 text", () => {
  const float32Text = float32Texts();

  it("reads back as the same float32 and has at most nine digits", () => {
    fc.assert(
      fc.property(fc.float({ noNaN: true }), (value) => {
        const text = float32Text(value).replace("INF", "Infinity");
        expect(Object.is(Math.fround(Number(text)), value)).toBe(true);
        const digits = Number(text).toExponential().replace(/e.*/, "").replace(/\D/g, "");
        if (Number.isFinite(value)) expect(digits.length).toBeLessThanOrEqual(9);
      }),
    );
  });

  it("is the shortest: what was typed comes back", () => {
    const typed = ["0.1", "3.14159", "1.0000001", "16777216", "1e-45", "3.4028235e38", "-0", "0", "NaN", "INF", "-INF"];
    for (const text of typed) {
      const value = text.endsWith("INF") ? Number(text.replace("INF", "Infinity")) : Number(text);
      expect(float32Text(Math.fround(value))).toBe(text);
    }
  });
});

describe("printing", () => {
  it("writes a CSV line for every record of every point", () => {
    expect([...csv(ANSWER)].join("")).toBe("x,y,z,x,p\n0.1,2,-0,1,0.5\n0.1,2,-0,1e-7,3\n4,5,6,5,INF\n4,5,6,NaN,8\n");
    const none = { ...ANSWER, points: new Float32Array(), values: new Float32Array() };
    expect([...csv(none)].join("")).toBe("x,y,z,x,p\n");
  });

  it("writes JSON with the facts first, and null for what JSON has no number for", () => {
    expect(JSON.parse([...json(ANSWER)].join(""))).toEqual({
      version: "1",
      dataset: "box",
      components: ["x", "p"],
      recordsPerPoint: 2,
      points: [
        [0.1, 2, -0],
        [4, 5, 6],
      ],
      values: [
        [1, 0.5],
        [1e-7, 3],
        [5, null],
        [null, 8],
      ],
    });
    const none = { ...ANSWER, points: new Float32Array(), values: new Float32Array() };
    expect(JSON.parse([...json(none)].join(""))).toMatchObject({ points: [], values: [] });
  });

  it("writes long answers in pieces without losing a line", () => {
    const points = Float32Array.from({ length: 3 * 5000 }, (_, i) => i);
    const answer = { facts: {}, components: ["value"], recordsPerPoint: 1, points, values: points.slice(0, 5000) };
    const text = [...csv(answer)];
    expect(text.length).toBeGreaterThan(4);
    const lines = text.join("").trimEnd().split("\n");
    expect(lines.length).toBe(5001);
    expect(lines[5000]).toBe("14997,14998,14999,4999");
    expect(JSON.parse([...json(answer)].join("")).values[4999]).toEqual([4999]);
  });
});
