/** Tests reductions on cases with known answers; statistics.test.ts has the published numbers. */
import { describe, expect, it } from "vitest";
import { binned, binOf, edgeOf } from "../../src/analysis/histogram.js";
import { mergeMoments, momentsOf, NO_MOMENTS, scaledMoments } from "../../src/analysis/moments.js";

describe("moments", () => {
  it.each([1, 7, 512])("of bricks of %i nodes are those of all", (size) => {
    const values = Float64Array.from({ length: 5000 }, (_, i) => 3 + Math.sin(i * i));
    let moments = NO_MOMENTS;
    for (let i = 0; i < 5000; i += size) moments = mergeMoments(moments, momentsOf(values.subarray(i, i + size)));
    const all = Object.entries(scaledMoments(momentsOf(values))).map(([name, one]) => [name, expect.closeTo(one, 11)]);
    expect(scaledMoments(moments)).toEqual(Object.fromEntries(all));
    expect(moments.count).toBe(5000);
  });

  it("count NaN and infinities and leave them out", () => {
    const moments = mergeMoments(
      momentsOf(Float64Array.of(NaN, NaN, -Infinity)),
      mergeMoments(momentsOf(Float64Array.of(1, NaN, Infinity)), momentsOf(Float64Array.of(3))),
    );
    expect(moments).toMatchObject({ count: 2, missing: 3, infinite: 2, mean: 2, m2: 2, min: 1, max: 3 });
  });
});

describe("histogram", () => {
  it("puts every edge into the bin that it opens, and the last into the last", () => {
    for (const bins of [1, 3, 7, 49])
      for (let i = 0; i <= bins; i++)
        expect(binOf(-0.1, 0.3, bins, edgeOf(-0.1, 0.3, bins, i))).toBe(Math.min(i, bins - 1));
  });

  it("counts and weighs what lies outside, and leaves out what is not finite", () => {
    const values = Float64Array.of(-1, 0, 0.5, 1, 2, 3, NaN, Infinity, -Infinity);
    const weights = Float64Array.of(1, 2, 4, 8, 16, 32, 64, 128, 256);
    expect(binned([values], [{ bins: 2, range: [0, 1] }], weights)).toEqual({
      ...{ below: 1, above: 2, missing: 1, infinite: 2, weight: 63 },
      ...{ counts: Float64Array.of(1, 2), weights: Float64Array.of(2, 12) },
    });
  });
});
