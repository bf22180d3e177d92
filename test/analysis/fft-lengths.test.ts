/** The lengths of transforms are products of 2, 3 and 5. */
import { expect, it } from "vitest";
import { isFftLength, nearestFftLengths } from "../../src/analysis/fft-lengths.js";

it("are exactly the products of 2, 3 and 5", () => {
  const products = new Set<number>();
  for (let a = 1; a <= 1000; a *= 2)
    for (let b = a; b <= 1000; b *= 3) for (let c = b; c <= 1000; c *= 5) products.add(c);
  for (let n = 0; n <= 1000; n++) expect([n, isFftLength(n)]).toEqual([n, products.has(n)]);
});

it("are named on both sides of one that is none", () => {
  expect(nearestFftLengths(97)).toEqual([96, 100]);
  expect(nearestFftLengths(7)).toEqual([6, 8]);
  expect(nearestFftLengths(64)).toEqual([64, 64]);
});
