/** Missing values of netCDF variables without `_FillValue`: those that netCDF4-python masks. */
import { describe, expect, it } from "vitest";
import { openHdf5 } from "../../../src/storage/hdf5/file.js";
import "../../support/hdf5-library.js";
import { netcdfFill } from "../../../src/storage/hdf5-bytes/netcdf-fill.js";
import { unpackFixture } from "../../support/fixture-file.js";
import { scratchFolder } from "../../support/scratch.js";

const SCRATCH = scratchFolder();
/** Of four numbers 1 and 2 were written. `off` is not filled, and its third number is the default fill value. */
const PARTLY = [1, 2, Number.NaN, Number.NaN];
const TYPES = ["f4", "f8", "i2", "i4", "u2", "u4", "i1", "u1", "be"];

describe.each([
  ["of today", "netcdf-default-fill.nc", [1, 2, Number.NaN, 4]],
  // Nothing says that netCDF wrote it but the fill values that it states.
  ["of an old release", "netcdf-unmarked.nc", [1, 2, Math.fround(9.969209968386869e36), 4]],
])("a file of netCDF %s", (_, name, off) => {
  it("has no values where nothing was written", async () => {
    const file = openHdf5(unpackFixture(import.meta.url, name, SCRATCH));
    for (const type of [...TYPES, "own"]) expect([...file.numbers(`/${type}`)], type).toEqual(PARTLY);
    expect([...file.numbers("/off")]).toEqual(off);
    expect(file.attributes("/own").get("_FillValue")).toEqual(Float64Array.of(-1));
    file.close();
  });
});

it("leaves the fill values of other programs alone", () => {
  const stored = { element: "float", size: 4, signed: false } as Parameters<typeof netcdfFill>[0];
  for (const stated of [0, null]) expect(netcdfFill(stored, stated, false)).toBeNull();
  expect(netcdfFill(stored, -5, true)).toBe(-5);
});

it("keeps every number of unfilled bytes and of unsigned ones, as netCDF4-python does", async () => {
  const file = openHdf5(unpackFixture(import.meta.url, "netcdf-bytes-not-filled.nc", SCRATCH));
  const names = ["filled", "i1", "u1", "i2", "unsigned", "unsigned16", "unsigned32"];
  const numbers = names.map((name) => [...file.numbers(`/${name}`)]);
  expect(numbers).toEqual([
    [Number.NaN, 1, 2, 3],
    [-127, 1, 2, 3],
    [255, 1, 2, 3],
    [Number.NaN, 1, 2, 3],
    [129, 1, 2, 3],
    [32_769, 65_535, 1, 2],
    [2_147_483_649, 4_294_967_295, 1, 2],
  ]);
  file.close();
});
