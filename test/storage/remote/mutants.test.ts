/**
 * 200 damaged stores, lists of references, cache entries and answers of S3 each: no crash, no hang, no wrong number.
 */
import { expect, it } from "vitest";
import { tryMutants } from "../../support/mutants.js";
import { STORE_MUTANTS } from "../../support/store-mutants.js";

it.each(Object.keys(STORE_MUTANTS))("reads or refuses each mutant: %s", { timeout: 120_000 }, async (kind) => {
  const { read, refused } = await tryMutants(STORE_MUTANTS, kind, 200, 20_261_123);
  expect(read + refused).toBe(200);
  expect(refused).toBeGreaterThan(20);
});
