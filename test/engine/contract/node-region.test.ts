/** A box of a region takes the nodes that it names, and goes to its place; one that leaves the region is refused. */
import { expect, it } from "vitest";
import { type NodeRegion, partOf, placeBox } from "../../../src/engine/contract/node-region.js";

const REGION: NodeRegion = {
  ...{ field: "pressure", frame: 0, width: 1, criterion: "norm" },
  ...{ first: [5, 7, 11], count: [20, 30, 40], stride: [2, 1, 3] },
};

it("a box of a region takes its nodes", () => {
  const part = partOf(REGION, { from: [3, 0, 2], count: [4, 30, 1] });
  expect(part).toEqual({ ...REGION, first: [11, 7, 17], count: [4, 30, 1] });
});

it.each([
  [
    [-1, 0, 0],
    [1, 1, 1],
  ],
  [
    [0, 0, 40],
    [1, 1, 1],
  ],
  [
    [0, 29, 0],
    [1, 2, 1],
  ],
  [
    [0, 0, 0],
    [0, 1, 1],
  ],
] as const)("a box from %j with %j nodes is refused", (from, count) => {
  expect(() => partOf(REGION, { from, count })).toThrow(/box/);
});

it("the values of a box go to its rows, in whatever parts they come", () => {
  const around = { from: [1, 1, 1], count: [3, 4, 5] } as const;
  const box = { from: [2, 3, 4], count: [2, 2, 2] } as const;
  const out = new Float32Array(2 * 3 * 4 * 5);
  const values = Float32Array.from({ length: 16 }, (_, i) => i + 1);
  placeBox([values.subarray(0, 4), values.subarray(4)], box, around, 2, out);
  let next = 0;
  for (let k = 0; k < 5; k++)
    for (let j = 0; j < 4; j++)
      for (let i = 0; i < 3; i++) {
        const isInside = i >= 1 && j >= 2 && k >= 3;
        const found = out.subarray(2 * ((k * 4 + j) * 3 + i)).subarray(0, 2);
        expect([...found]).toEqual(isInside ? [next + 1, next + 2] : [0, 0]);
        if (isInside) next += 2;
      }
  expect(next).toBe(16);
});
