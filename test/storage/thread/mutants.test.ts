/**
 * 200 damaged stores, lists of references, cache entries and answers of S3 each: no crash, no hang, no wrong number.
 */
import { expect, it } from "vitest";
import { MUTANT_KINDS, tryMutants } from "../../support/store-mutants.js";

it.each(MUTANT_KINDS)("reads or refuses each mutant: %s", { timeout: 120_000 }, async (kind) => {
  const { read, refused } = await tryMutants(kind, 200, 20_261_123);
  expect(read + refused).toBe(200);
  expect(refused).toBeGreaterThan(20);
});
