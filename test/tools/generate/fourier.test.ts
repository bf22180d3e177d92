/** The cube transforms against the transform by definition. */
import { describe, expect, it } from "vitest";
import { cubeTransforms } from "../../../tools/generate/fourier.js";
import { randomAt, randomStream } from "../../../tools/generate/random.js";
import { dft } from "../../support/dft.js";

const NODES = 8;
const CELLS = NODES ** 3;
const noise = (stream: number) =>
  Float64Array.from({ length: CELLS }, (_, n) => randomAt(randomStream(11, stream), n) - 0.5);
const interleave = (re: Float64Array, im: Float64Array) =>
  Float64Array.from({ length: 2 * CELLS }, (_, e) => (e % 2 === 0 ? re : im)[e >> 1] as number);
const largestDifference = (a: Float64Array, b: Float64Array) =>
  a.reduce((worst, value, e) => Math.max(worst, Math.abs(value - (b[e] as number))), 0);

describe("cubeTransforms", () => {
  const { forward, inverse } = cubeTransforms(NODES);
  it.each([
    ["forward", forward, -1, CELLS],
    ["inverse", inverse, 1, 1],
  ] as const)("%s is the transform by definition", (_, transform, sign, scale) => {
    const [re, im] = [noise(0), noise(1)];
    const cube = interleave(re, im);
    transform(cube);
    const expected = dft(NODES, { re, im }, sign);
    const scaled = interleave(expected.re, expected.im).map((value) => scale * value);
    expect(largestDifference(cube, scaled)).toBeLessThan(1e-12);
  });
});
