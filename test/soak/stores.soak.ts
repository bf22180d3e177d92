/** 2000 damaged stores, lists of references, cache entries and answers of S3 each, from SOAK_SEED. */
import { expect, it } from "vitest";
import { MUTANT_KINDS, tryMutants } from "../support/store-mutants.js";

const SEED = Number(process.env.SOAK_SEED ?? 20_261_124);

it.each(MUTANT_KINDS)("reads or refuses each mutant: %s", async (kind) => {
  const { read, refused } = await tryMutants(kind, 2000, SEED);
  expect(read + refused).toBe(2000);
});
