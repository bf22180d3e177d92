/** The layout of box filter answers. */
import { describe, expect, it } from "vitest";
import { gatherBits, itemsPerPoint, spreadBits } from "../../../src/kernels/filter/octree.js";
import { fc } from "../../support/property.js";

describe("octree", () => {
  it("numbers the eight octants x fastest, bit 0 for the upper half along x", () => {
    const s = spreadBits(2);
    const codes = [0, 1].flatMap((k) =>
      [0, 1].flatMap((j) => [0, 1].map((i) => (s[i] as number) | ((s[j] as number) << 1) | ((s[k] as number) << 2))),
    );
    expect(codes).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  it("keeps the sub-cubes of a cube together: the code of a cube is an eighth of theirs", () => {
    const s = spreadBits(16);
    for (let i = 0; i < 16; i++) expect((s[i] as number) >> 3).toBe(s[i >> 1]);
  });

  it("gathers what it spread, axis by axis", () => {
    const s = spreadBits(512);
    const index = fc.nat(511);
    fc.assert(
      fc.property(index, index, index, (i, j, k) => {
        const code = (s[i] as number) | ((s[j] as number) << 1) | ((s[k] as number) << 2);
        expect([0, 1, 2].map((axis) => gatherBits(code, axis))).toEqual([i, j, k]);
      }),
    );
  });

  it("counts the records of all layers", () => {
    expect([0, 1, 2, 3, 9].map(itemsPerPoint)).toEqual([0, 1, 9, 73, 19_173_961]);
  });
});
