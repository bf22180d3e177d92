/** Points as lines of text: every way of cutting a body reads the same, and each mistake is told with its line. */
import { describe, expect, it } from "vitest";
import { PointsReader } from "../../../src/server/jhtdb/points-reader.js";
import { fc } from "../../support/property.js";

function read(pieces: readonly Buffer[]): number[][] {
  const points: number[][] = [];
  const reader = new PointsReader({
    add: (x, y, z) => points.push([x, y, z].map(Math.fround)),
    addAll: (triples, count) => {
      for (let i = 0; i < 3 * count; i += 3) points.push([...triples.subarray(i, i + 3)]);
    },
    flush: () => undefined,
  });
  for (const piece of pieces) reader.write(piece);
  reader.end();
  return points;
}

const coordinate = fc.float({ noNaN: true, min: -10_000, max: 10_000 });

describe("points as lines", () => {
  it("reads %.8f lines however the body is cut, with and without a last line feed", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(coordinate, coordinate, coordinate), { maxLength: 12 }),
        fc.array(fc.nat(400), { maxLength: 6 }),
        fc.constantFrom("", "\n"),
        (points, cuts, end) => {
          const lines = points.map((point) => point.map((value) => value.toFixed(8)).join("\t"));
          const body = Buffer.from(lines.join("\n") + end);
          const at = [0, ...cuts.map((cut) => Math.min(cut, body.length)), body.length].sort((a, b) => a - b);
          const pieces = at.slice(1).map((to, i) => body.subarray(at[i], to));
          expect(read(pieces)).toEqual(lines.map((line) => line.split("\t").map((text) => Math.fround(Number(text)))));
        },
      ),
      { numRuns: 500 },
    );
  });

  it("reads one byte at a time, exponents, carriage returns and blanks", () => {
    const body = Buffer.from("1e-3\t-2.5E2\t+.5\r\n 1  2\t3 \n0.1\t0.2\t0.30000000000000000001\n\n\n");
    const expected = [
      [1e-3, -250, 0.5],
      [1, 2, 3],
      [0.1, 0.2, 0.3],
    ].map((point) => point.map(Math.fround));
    expect(read([...body].map((byte) => Buffer.of(byte)))).toEqual(expected);
    expect(read([body])).toEqual(expected);
  });

  it.each([
    ["1\t2\n", "Line 1 of the points has 2 numbers; a point has three, separated by tabs."],
    ["1\t2\t3\n1\t2\t3\t4\n", "Line 2 of the points has 4 numbers; a point has three, separated by tabs."],
    ["1\t2\t3\n1\ttwo\t3", 'Line 2 of the points holds "two", which is not a number.'],
    ["1\t2\tnan", 'Line 1 of the points holds "nan", which is not a number.'],
    ["1\t2\t1e39\n", 'Line 1 of the points holds "1e39", which is not a finite float32.'],
    ["1\t2\t3\n\n1\t2\t3\n", "Line 3 of the points follows an empty line."],
    [`1\t2\t${"3".repeat(300)}\n`, "Line 1 of the points is longer than 256 bytes."],
    [`1\t2\t3\n${"3".repeat(300)}`, "Line 2 of the points is longer than 256 bytes."],
  ])("refuses %j", (body, message) => {
    expect(() => read([Buffer.from(body)])).toThrow(message);
    expect(() => read([...Buffer.from(body)].map((byte) => Buffer.of(byte)))).toThrow(message);
  });

  it("reads nothing as no points", () => {
    expect(read([])).toEqual([]);
    expect(read([Buffer.from("\n")])).toEqual([]);
  });
});
