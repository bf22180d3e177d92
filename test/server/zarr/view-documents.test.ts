/** The documents of a view list what is below a group, by paths from it, and compress all arrays but coordinates. */
import { describe, expect, it } from "vitest";
import type { Content, ZarrArray, ZarrView } from "../../../src/server/zarr/view.js";
import { documentAt } from "../../../src/server/zarr/view-documents.js";

const array = (content: Content): ZarrArray => ({
  ...{ dimensions: ["x"], shape: [8], chunks: [4], attributes: { units: "m" }, content },
});
const VIEW: ZarrView = {
  groups: new Map([
    ["", { title: "a flow" }],
    ["derived", { method: "None_Fd4" }],
  ]),
  arrays: new Map([
    ["x", array({ kind: "coordinates", values: new Float64Array(8) })],
    ["pressure", array({ kind: "field", field: "pressure" })],
    ["derived/x", array({ kind: "coordinates", values: new Float64Array(8) })],
  ]),
};
const read = (path: string, codec: "none" | "zstd" = "none") =>
  documentAt(VIEW, path, codec) as Record<string, unknown>;

describe("what is consolidated", () => {
  it.each([
    ["zarr.json", ["derived", "derived/x", "pressure", "x"]],
    ["derived/zarr.json", ["x"]],
  ])("in %s, of Zarr 3, is all below the group and not the group", (path, members) => {
    const { consolidated_metadata } = read(path) as { consolidated_metadata: { metadata: object } };
    expect(Object.keys(consolidated_metadata.metadata).sort()).toEqual(members);
  });

  it.each([
    [".zmetadata", ["", "derived/"], ["derived/x/", "pressure/", "x/"]],
    ["derived/.zmetadata", [""], ["x/"]],
  ])("in %s, of Zarr 2, is the group with all below it", (path, groups, arrays) => {
    const { metadata } = read(path) as { metadata: object };
    const keys = [...groups.map((one) => `${one}.zgroup`), ...arrays.map((one) => `${one}.zarray`)];
    const attributes = [...groups, ...arrays].map((one) => `${one}.zattrs`);
    expect(Object.keys(metadata).sort()).toEqual([...keys, ...attributes].sort());
  });
});

it("compresses no coordinates, whose elements are twice as long", () => {
  expect(read("x/.zarray", "zstd")).toMatchObject({ dtype: "<f8", compressor: null });
  expect(read("x/zarr.json", "zstd")).toMatchObject({ data_type: "float64", codecs: [{ name: "bytes" }] });
});
