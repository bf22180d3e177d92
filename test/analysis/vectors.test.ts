/** Tests reductions against published numbers of frame 4 of isotropic32, and on cases with known answers. */
import h5wasm, { type Dataset } from "h5wasm/node";
import { beforeAll, describe, expect, it } from "vitest";
import { binned, binOf, edgeOf } from "../../src/analysis/histogram.js";
import { mergeMoments, momentsOf, NO_MOMENTS, shapeOf } from "../../src/analysis/moments.js";

const N = 32;
const velocity: Float64Array[] = [];

beforeAll(async () => {
  await h5wasm.ready;
  const file = new h5wasm.File("data/isotropic32/isotropic32.h5", "r");
  const values = (file.get("velocity") as Dataset).slice([[4, 5]]) as Float32Array;
  file.close();
  for (let c = 0; c < 3; c++)
    velocity.push(Float64Array.from({ length: N ** 3 }, (_, i) => values[3 * i + c] as number));
});

function near(value: number, expected: number, relative: number): void {
  expect(Math.abs(value / expected - 1)).toBeLessThan(relative);
}

describe("moments", () => {
  it.each([1, 7, 512, N ** 3])("of ux are those published, in bricks of %i nodes", (size) => {
    const ux = velocity[0] as Float64Array;
    let moments = NO_MOMENTS;
    for (let i = 0; i < ux.length; i += size) moments = mergeMoments(moments, momentsOf(ux.subarray(i, i + size)));
    const { variance, skewness, flatness } = shapeOf(moments);
    near(variance, 0.29170524860974173, 1e-12);
    near(skewness, -0.138838522165, 5e-12); // printed to twelve digits
    near(flatness, 2.69488020799, 5e-12);
    expect(moments.count).toBe(N ** 3);
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
  it("of ux is the one published", () => {
    const histogram = binned([velocity[0] as Float64Array], [{ bins: 20, range: [-2, 2] }], null);
    const counts = "0 1 123 336 680 1576 2193 2680 3560 4653 4888 4223 3693 1946 1309 639 230 38 0 0";
    expect(histogram.counts.join(" ")).toBe(counts);
  });

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
