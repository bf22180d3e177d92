/** JSON bodies: long lists of points are read as numbers, in whatever way they are written, and the rest is bounded. */
import { describe, expect, it } from "vitest";
import { readJsonBody } from "../../src/text/json-body.js";
import { NUMBER, readRows } from "../../src/text/rows.js";

const COUNT = 2500;
const points = Array.from({ length: COUNT }, (_, i) => [i / 7, -i - 1, 1e-3 * i]);
const text = points.map((row) => row.join(",")).join("; ");
const read = (value: unknown) => readJsonBody(Buffer.from(JSON.stringify(value))) as Record<string, unknown>;
const numbers = Float64Array.from(points.flat());

describe("a long list of points", () => {
  it.each([
    ["lists", points],
    ["lists of texts", points.map((row) => row.map(String))],
    ["text", text],
  ])("is read as numbers from %s, in a question and in a list of questions", (_, given) => {
    const list = readJsonBody(Buffer.from(JSON.stringify([{}, { points: given }]))) as { points: unknown }[];
    for (const held of [read({ points: given }).points, list[1]?.points])
      expect(held).toEqual({ rows: numbers, width: 3 });
  });

  it("is read in groups", () => {
    const { points: held } = read({ points: { pairs: points, seed: 1 } });
    expect(held).toEqual({ pairs: { rows: numbers, width: 3 }, seed: 1 });
  });

  it.each([
    ["points[2500]", [...points, [1, 2]], "a row has 3 numbers"],
    ["points[2500]", [...points, [1, 2, "0x1"]], '"0x1" is not a number'],
    ["points[2500]", `${text};1,2,NaN`, '"NaN" is not a number'],
    ["points.tetrads[2500]", { tetrads: [...points, 5] }, "a row has 3 numbers"],
    ["points[0]", Array.from({ length: 200_000 }, () => []), "a row has x, y, z"],
  ])("is refused with the row that is wrong: %s", (member, given, words) => {
    expect(() => read({ points: given })).toThrow(`${member}: ${words}.`);
  });
});

it("reads short lists as they are", () => {
  expect(read({ points: [[1, 2, 3]], time: [1] })).toEqual({ points: [[1, 2, 3]], time: [1] });
  expect(readRows("1,2,3;4,5,6;", "points")).toEqual({ rows: new Float64Array([1, 2, 3, 4, 5, 6]), width: 3 });
});

it.each([
  ["values", { x: Array(200_000).fill(0) }],
  ["text", { what: "p".repeat(1_600_000) }],
  ["names", Object.fromEntries(Array.from({ length: 180_000 }, (_, i) => [`a${i}`, 0]))],
])("refuses more %s than the main thread reads in a moment", (_, value) => {
  expect(() => read(value)).toThrow("Beside rows of points, a body has at most 200000 values");
});

it.each(["1".repeat(1e6), `${"1".repeat(1e6)}e`, `${"1".repeat(1e6)}.1.`])(
  "reads a number of a million digits at once",
  (text) => {
    expect(NUMBER.test(text)).toBe(text.endsWith("1"));
  },
);

it("refuses members that are there twice, also in points that are text", () => {
  expect(() => readJsonBody(Buffer.from('{"a":1,"a":2}'))).toThrow("gives a member twice");
  expect(() => readJsonBody(Buffer.from("[".repeat(1e5) + "]".repeat(1e5)))).toThrow("nested too deeply");
});
