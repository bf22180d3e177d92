/** Random numbers by position: uniform, free of correlation along and across streams, past 2^32 too. */
import { describe, expect, it } from "vitest";
import { randomAt, randomStream } from "../../../tools/generate/random.js";

const COUNT = 1 << 16;

describe("randomAt", () => {
  it.each([0, 2 ** 32 - COUNT / 2, 2 ** 45])("fills 64 bins evenly from index %d on", (first) => {
    const stream = randomStream(1, 0);
    const bins = new Array<number>(64).fill(0);
    for (let i = 0; i < COUNT; i++) {
      const bin = Math.floor(64 * randomAt(stream, first + i));
      bins[bin] = (bins[bin] as number) + 1;
    }
    expect(bins).toHaveLength(64);
    const mean = COUNT / 64;
    const chiSquare = bins.reduce((sum, n) => sum + (n - mean) ** 2 / mean, 0);
    // Chi-square of 63 degrees of freedom: outside this range once in 10^5 times on either side.
    expect(chiSquare).toBeGreaterThan(27);
    expect(chiSquare).toBeLessThan(124);
  });

  it.each([
    ["the next index", (i: number) => randomAt(randomStream(1, 0), i + 1)],
    ["the same index 2^32 on", (i: number) => randomAt(randomStream(1, 0), i + 2 ** 32)],
    ["the next stream", (i: number) => randomAt(randomStream(1, 1), i)],
    ["the next seed", (i: number) => randomAt(randomStream(2, 0), i)],
  ])("is uncorrelated with %s", (_, other) => {
    const stream = randomStream(1, 0);
    let sum = 0;
    for (let i = 0; i < COUNT; i++) sum += (randomAt(stream, i) - 0.5) * (other(i) - 0.5);
    // The product's standard deviation is 1/12; four of the mean's.
    expect(Math.abs(sum / COUNT)).toBeLessThan(4 / 12 / Math.sqrt(COUNT));
  });
});
