/** Chunks of JSON answers are together what JSON.stringify says, and none of them is long. */
import { expect, it } from "vitest";
import { jsonChunks } from "../../../../src/server/ask/formats/json-chunks.js";

const LONG = Array.from({ length: 100_000 }, (_, i) => i / 7);

it.each([
  ["nothing", null],
  ["a text", 'a "quoted" text'],
  ["an empty object", {}],
  ["an empty list", []],
  ["members without a value", { a: undefined, b: 1, c: undefined }],
  ["what is not finite", { a: [Number.NaN, Number.POSITIVE_INFINITY, undefined, null], b: Number.NaN }],
  ["names in quotation marks", { 'a"b': [{ "\n": [] }, [[]], [1, "x", true, null]] }],
  ["a long list", { values: LONG }],
  ["a list of lists", [LONG.slice(0, 3000), LONG.slice(0, 1024), LONG.slice(0, 1025), [LONG.slice(0, 5)]]],
  ["many objects", LONG.map((x) => ({ nodes: x, box: [[x], [x, x]], name: `s${x}` }))],
])("writes %s", (_, value) => {
  const chunks = [...jsonChunks(value)];
  expect(Buffer.concat(chunks).toString()).toBe(JSON.stringify(value));
  expect(Math.max(...chunks.map(({ length }) => length))).toBeLessThan(64 * 1024);
});
