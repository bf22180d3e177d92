/** Long double in attributes and tables: the numbers that numpy and the HDF5 library convert to float64. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { openHdf5 } from "../../../src/storage/hdf5/file.js";
import { loadHdf5 } from "../../../src/storage/hdf5/library.js";
import type { Hdf5File } from "../../../src/storage/hdf5-bytes/hdf5-file.js";
import { unpackFixture } from "../../support/fixture-file.js";
import { scratchFolder } from "../../support/scratch.js";

const SCRATCH = scratchFolder();
let file: Hdf5File;

beforeAll(async () => {
  await loadHdf5();
  file = openHdf5(unpackFixture(import.meta.url, "long-double.h5", SCRATCH));
});
afterAll(() => file.close());

it.each(["x86", "x86-big-endian", "quad", "quad-big-endian"])("reads numbers of %s", (name) => {
  expect([...file.numbers(`/${name}`)]).toEqual([...file.numbers("/double")]);
});

it("rounds numbers between two of float64 to the nearest", () => {
  // 1 + 2^-60, 1 + 2^-53 + 2^-60, 1e4000, -1e-4000, 2^53 + 1, 2^53 + 3
  expect([...file.numbers("/between")]).toEqual([
    ...[1, 1 + Number.EPSILON, Number.POSITIVE_INFINITY],
    ...[-0, 2 ** 53, 2 ** 53 + 4],
  ]);
});

it("reads attributes", () => {
  const attributes = file.attributes("/");
  expect(attributes.get("spacing")).toBe(1 / 3);
  expect(attributes.get("quad")).toBe(0.1);
});
