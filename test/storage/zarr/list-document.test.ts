/** Lists of references, read a few entries at a time, against lists that JavaScript parses as a whole. */
import { expect, it } from "vitest";
import { DocumentReader } from "../../../src/storage/dataset/documents.js";
import { readList } from "../../../src/storage/zarr/list-document.js";

const read = (text: string) => {
  const { rest, entries } = readList("list", Buffer.from(text), new DocumentReader(1e8, 1e7, 1e7));
  return { rest, entries: [...entries] };
};
const many = Object.fromEntries(
  Array.from({ length: 5000 }, (_, i) => [
    `u/${i}.é"\\`,
    i % 7 === 0 ? '{"a":[1,2,{}],"refs":{"b":"]}"}}' : ["f,{", i, 9],
  ]),
);
const SPACED = JSON.stringify({ version: 1, templates: { refs: "x" }, refs: many, gen: [{ refs: { a: 1 } }] }, null, 2);

it.each([
  ["after the version", JSON.stringify({ version: 1, refs: many })],
  ["before it", JSON.stringify({ refs: many, version: 1 })],
  ["with spaces, among others of that name", SPACED],
  ["none", '{"version":1,"refs":{}}'],
  ["none at all", '{"version":1}'],
  ["by a name with an escape", '{"version":1,"r\\u0065fs":{"a":"b"}}'],
])("reads references %s", (_, text) => {
  const { refs = {}, ...others } = JSON.parse(text);
  const { rest, entries } = read(text);
  expect(entries).toEqual(Object.entries(refs));
  expect({ ...rest, refs: {} }).toEqual({ ...others, refs: {} });
});

it("reads a list without a version, whose members are its references", () => {
  expect(read(JSON.stringify(many))).toEqual({ rest: {}, entries: Object.entries(many) });
});

const thousand = Array.from({ length: 1024 }, (_, i) => `"a${i}":"b"`).join(",");
it.each([
  ["a comma at the end", `{"version":1,"refs":{${thousand},}}`],
  ["two commas", `{"version":1,"refs":{${thousand},,"c":"d"}}`],
  ["a brace too few", `{"version":1,"refs":{${thousand}}`],
  ["another bracket", `{"version":1,"refs":{${thousand}]}`],
  ["text behind the end", `{"version":1,"refs":{${thousand}}} x`],
])("refuses a list with %s", (_, text) => {
  expect(() => JSON.parse(text)).toThrow();
  expect(() => read(text)).toThrow("list is not readable as JSON");
});
