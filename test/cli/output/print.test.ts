import { describe, expect, it } from "vitest";
import { csv } from "../../../src/cli/output/print.js";

const ANSWER = {
  components: ["x", "p"],
  recordsPerPoint: 2,
  points: Float32Array.of(0.1, 2, -0, 4, 5, 6),
  values: Float32Array.of(1, 0.5, 1e-7, 3, 5, Infinity, Number.NaN, 8),
};

describe("printing", () => {
  it("writes a CSV line for every record of every point", () => {
    expect([...csv(ANSWER)].join("")).toBe(
      "x,y,z,result_x,p\n0.1,2,-0,1,0.5\n0.1,2,-0,1e-7,3\n4,5,6,5,INF\n4,5,6,NaN,8\n",
    );
    const none = { ...ANSWER, points: new Float32Array(), values: new Float32Array() };
    expect([...csv(none)].join("")).toBe("x,y,z,result_x,p\n");
  });

  it("writes records that stand for themselves without points", () => {
    const hits = { ...ANSWER, components: ["x", "p"], points: null };
    expect([...csv(hits)].join("")).toBe("x,p\n1,0.5\n1e-7,3\n5,INF\nNaN,8\n");
  });

  it("writes long answers in pieces without losing a line", () => {
    const points = Float32Array.from({ length: 3 * 5000 }, (_, i) => i);
    const answer = { components: ["value"], recordsPerPoint: 1, points, values: points.slice(0, 5000) };
    const text = [...csv(answer)];
    expect(text.length).toBeGreaterThan(4);
    const lines = text.join("").trimEnd().split("\n");
    expect(lines.length).toBe(5001);
    expect(lines[5000]).toBe("14997,14998,14999,4999");
  });
});
