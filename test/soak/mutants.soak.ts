/** 2000 damaged inputs of every kind, from SOAK_SEED: no crash, no hang, no wrong number, no stack trace. */
import { expect, it } from "vitest";
import { INPUT_MUTANTS } from "../support/input-mutants.js";
import { tryMutants } from "../support/mutants.js";
import { STORE_MUTANTS } from "../support/store-mutants.js";

const SEED = Number(process.env.SOAK_SEED ?? 20_261_124);
const KINDS = { ...STORE_MUTANTS, ...INPUT_MUTANTS };

it.each(Object.keys(KINDS))("reads or refuses each mutant: %s", async (kind) => {
  const { read, refused } = await tryMutants(KINDS, kind, 2000, SEED);
  process.stdout.write(`${JSON.stringify({ kind, read, refused })}\n`);
  expect(read + refused).toBe(2000);
});
