/**
 * 200 damaged headers of HDF5 and NetCDF-4 files, descriptors, scan indexes, iCalendar files, bodies and token files
 * each: no crash, no hang, no wrong number, no stack trace.
 */
import { expect, it } from "vitest";
import { INPUT_MUTANTS } from "../support/input-mutants.js";
import { tryMutants } from "../support/mutants.js";

it.each(Object.keys(INPUT_MUTANTS))("reads or refuses each mutant: %s", { timeout: 120_000 }, async (kind) => {
  const { read, refused } = await tryMutants(INPUT_MUTANTS, kind, 200, 20_261_123);
  expect(read + refused).toBe(200);
  expect(refused).toBeGreaterThan(20);
});
