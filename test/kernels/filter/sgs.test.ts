/**
 * Sub-grid-scale stress: no cancellation under a strong mean flow, positive semi-definite, zero where the flow is
 * uniform.
 */
import { describe, expect, it } from "vitest";
import { createBoxFilter } from "../../../src/kernels/filter/box-filter.js";
import { SYMMETRIC } from "../../support/symmetric.js";
import { type Analytic, fieldOf, T16 } from "../fields.js";
import { readerOf } from "./filter-support.js";

const H = T16.axes[0].spacing;

function stress(velocity: Analytic, length: number, nlayers: number): number[][] {
  const filter = createBoxFilter("boxStress", T16.axes, length, nlayers);
  const out = new Float64Array(filter.itemsPerPoint * 6);
  const reader = readerOf([fieldOf(T16.axes, 3, velocity, [8, 8, 8])]);
  filter.evaluate([reader], { frames: [0], weights: [1] }, Float64Array.from(T16.point), 0, 1, out);
  return Array.from({ length: filter.itemsPerPoint }, (_, i) => [...out.subarray(6 * i, 6 * i + 6)]);
}

describe("createStress", () => {
  it("does not lose digits when a mean flow of 1e6 is added", () => {
    const still = stress(T16.velocity, 7 * H, 2);
    const carried = stress((x, y, z) => T16.velocity(x, y, z).map((u, c) => u + 1e6 * (c - 1.5)), 7 * H, 2);
    still.flat().forEach((value, i) => {
      expect(Math.abs((carried.flat()[i] as number) - value)).toBeLessThan(1e-8);
    });
  });

  it("vanishes in uniform flow, exactly", () => {
    expect(stress(() => [0.5, -2, 8], 5 * H, 1)[0]?.every((value) => Math.abs(value) < 1e-29)).toBe(true);
  });

  it("has no negative principal stress at any level", () => {
    for (const [xx = 0, yy = 0, zz = 0, xy = 0, xz = 0, yz = 0] of stress(T16.velocity, 12 * H, 4)) {
      const scale = xx + yy + zz;
      expect(Math.min(xx, yy, zz)).toBeGreaterThanOrEqual(0);
      for (const minor of [xx * yy - xy * xy, xx * zz - xz * xz, yy * zz - yz * yz]) {
        expect(minor).toBeGreaterThanOrEqual(-1e-12 * scale ** 2);
      }
      const determinant = xx * (yy * zz - yz * yz) - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz);
      expect(determinant).toBeGreaterThanOrEqual(-1e-12 * scale ** 3);
    }
  });

  // A cube of 20 spacings has 32 leaves an edge: each octant is a block of its own.
  it.each([8, 20])(
    "of a cube of %d spacings is the mean stress of its octants plus the stress of their means",
    (spacings) => {
      const [whole, ...octants] = stress(T16.velocity, spacings * H, 2) as [number[], ...number[][]];
      const box = createBoxFilter("boxVelocity", T16.axes, spacings * H, 2);
      const means = new Float64Array(27);
      const reader = readerOf([fieldOf(T16.axes, 3, T16.velocity)]);
      box.evaluate([reader], { frames: [0], weights: [1] }, Float64Array.from(T16.point), 0, 1, means);
      SYMMETRIC.forEach(([a, b], p) => {
        let sum = 0;
        octants.forEach((octant, o) => {
          const change = (c: number) => (means[3 * (o + 1) + c] as number) - (means[c] as number);
          sum += ((octant[p] as number) + change(a) * change(b)) / 8;
        });
        expect(whole[p]).toBeCloseTo(sum, 12);
      });
    },
  );
});
