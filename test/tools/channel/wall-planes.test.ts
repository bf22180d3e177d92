import { describe, expect, it } from "vitest";
import { WallPlanes, wallModes } from "../../../tools/channel/wall-planes.js";
import { randomNumbers } from "../../support/simd-memory.js";

const GRID = { nodes: [16, 8], lengths: [3, 2] } as const;
const HEIGHTS = 2;

describe("WallPlanes", () => {
  const modes = wallModes(GRID);
  const random = randomNumbers(4);
  const field = () => {
    const values = Float64Array.from({ length: 2 * HEIGHTS * modes.count }, () => random() - 0.5);
    // The mean of a real field is real.
    values.fill(0, HEIGHTS, 2 * HEIGHTS);
    return values;
  };

  it("sum modes at the nodes as their definition says, and find them again", () => {
    const [first, second] = [field(), field()];
    const planes = new WallPlanes(GRID, HEIGHTS);
    const plane = new Float64Array(2 * 16 * 8);
    const found = [new Float64Array(first.length), new Float64Array(first.length)] as const;
    for (let j = 0; j < HEIGHTS; j++) {
      planes.toNodes(first, second, j, plane);
      for (const [x, z] of [
        [0, 0],
        [5, 3],
        [15, 7],
      ] as const)
        for (const [part, values] of [first, second].entries()) {
          let sum = 0;
          for (let m = 0; m < modes.count; m++) {
            const angle = ((modes.kx[m] as number) * x * 3) / 16 + ((modes.kz[m] as number) * z * 2) / 8;
            const re = values[2 * m * HEIGHTS + j] as number;
            const im = values[(2 * m + 1) * HEIGHTS + j] as number;
            sum += (m === 0 ? 1 : 2) * (re * Math.cos(angle) - im * Math.sin(angle));
          }
          expect(plane[2 * (z * 16 + x) + part]).toBeCloseTo(sum, 12);
        }
      planes.toModes(plane, j, ...found);
    }
    for (const [part, values] of [first, second].entries())
      values.forEach((value, at) => {
        expect(found[part]?.[at]).toBeCloseTo(value, 13);
      });
  });
});
