/** The kept wavenumbers, and the packing of two real fields in one complex cube. */
import { describe, expect, it } from "vitest";
import { cubeTransforms } from "../../../tools/generate/fourier.js";
import { pack, retainedModes, spectral, unpack } from "../../../tools/generate/modes.js";
import { randomAt, randomStream } from "../../../tools/generate/random.js";
import { indexOf, transformOf } from "../../support/dft.js";

const NODES = 8;
const CELLS = NODES ** 3;

describe("retainedModes", () => {
  it("keeps one of each pair of wavenumbers whose products do not alias back", () => {
    const { k, count, kmax } = retainedModes(NODES);
    expect(kmax).toBe(2);
    expect(count).toBe(((2 * kmax + 1) ** 3 - 1) / 2);
    // The sum of two kept wavenumbers, reduced to the cube's range, is the sum itself or is not kept.
    expect(2 * kmax - NODES).toBeLessThan(-kmax);
    const rows = Array.from({ length: count }, (_, m) => [...k.subarray(3 * m, 3 * m + 3)]);
    const both = new Set([...rows.map(String), ...rows.map((row) => String(row.map((component) => 0 - component)))]);
    expect(both.size).toBe(2 * count);
    expect(both.has("0,0,0")).toBe(false);
  });
});

describe("pack and unpack", () => {
  it("take two real fields to the nodes and back", () => {
    const modes = retainedModes(NODES);
    const from = spectral(modes, 2);
    from.values.forEach((_, e) => {
      from.values[e] = randomAt(randomStream(12, 0), e) - 0.5;
    });
    const cube = new Float64Array(2 * CELLS);
    const { forward, inverse } = cubeTransforms(NODES);
    pack(modes, from, 0, 1, cube);
    inverse(cube);
    const fields = [0, 1].map((part) => Float64Array.from({ length: CELLS }, (_, n) => cube[2 * n + part] as number));
    fields.forEach((field, f) => {
      const expected = transformOf(NODES, field);
      for (let m = 0; m < modes.count; m++) {
        const k = [...modes.k.subarray(3 * m, 3 * m + 3)] as [number, number, number];
        expect(from.values[4 * m + 2 * f]).toBeCloseTo(expected.re[indexOf(NODES, k)] as number, 13);
        expect(from.values[4 * m + 2 * f + 1]).toBeCloseTo(expected.im[indexOf(NODES, k)] as number, 13);
      }
    });
    forward(cube);
    const back = spectral(modes, 2);
    unpack(modes, cube, back, 0, 1);
    expect(back.values.every((value, e) => Math.abs(value - (from.values[e] as number)) < 1e-14)).toBe(true);
  });
});
