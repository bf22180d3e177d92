/** States of parts have the same bits in whatever order they come, and whoever has merged some of them before. */
import { describe, expect, it } from "vitest";
import { MergedParts, partsOf } from "../../src/analysis/parts.js";
import { type ReductionPlan, reducePart } from "../../src/analysis/plan.js";
import type { AnyReduction } from "../../src/analysis/reductions.js";
import { packStates, placesIn, unpackStates } from "../../src/engine/contract/reduced-parts.js";
import { randomNumbers } from "../support/simd-memory.js";

const random = randomNumbers(33);
const FRAMES = 3;

/** A plan of a region with more parts than branches of the tree have children, and few nodes. */
function planOf(extent: readonly [number, number, number], reductions: readonly AnyReduction[]): ReductionPlan {
  const along = (n: number) => Float64Array.from({ length: n }, (_, i) => i);
  return {
    ...{ columns: ["v", "w"], order: 4, reductions, names: {} as never, extent: [...extent, FRAMES] },
    ...{ kept: [true, false, false, false], coordinates: extent.map(along) as never, periods: [0, 0, 0] },
    ...{ times: [0, 1, 2], weights: [null, null, null], cell: 1 },
  };
}

/** The same plan, with nodes of different widths along z. */
const weighted = (plan: ReductionPlan): ReductionPlan => ({
  ...plan,
  weights: [null, null, Float64Array.from({ length: plan.extent[2] }, () => 0.1 + random())],
});

const SUMS: readonly AnyReduction[] = [
  { kind: "moments", of: 0, order: 4 },
  { kind: "covariance", of: [0, 1] },
  { kind: "histogram", of: 0, bins: 4, range: [0, 1] },
  {
    kind: "joint",
    of: [0, 1],
    bins: [3, 2],
    range: [
      [0, 1],
      [0, 0.9],
    ],
  },
  { kind: "conditional", of: 1, on: [0], bins: [3], range: [[0, 1]] },
  { kind: "extremes", of: 0, count: 3, apart: 0 },
];
const INCREMENTS: readonly AnyReduction[] = [
  { kind: "increments", of: [0], axis: 1, separations: [1, 3], orders: [2, 3], absolute: [2.7], periodic: true },
];

describe.each([
  ["sums", planOf([2, 700, 70], SUMS)],
  ["weighted sums", weighted(planOf([2, 700, 70], SUMS))],
  ["weighted lines", weighted(planOf([2, 5000, 107], INCREMENTS))],
  ["lines", planOf([2, 5000, 107], INCREMENTS)],
])("states of %s", (_, plan) => {
  const parts = partsOf(plan);
  const all = Array.from({ length: FRAMES * parts.total }, (_, i) => {
    const [frame, place] = [Math.floor(i / parts.total), i % parts.total];
    const box = parts.at(place);
    const nodes = box.count[0] * box.count[1] * box.count[2];
    const columns = [0, 1].map(() => Float64Array.from({ length: nodes }, () => random() ** 3));
    return { frame, place, states: reducePart(plan, { ...box, frame }, columns) };
  });
  const shuffled = <T>(list: readonly T[]): T[] =>
    list
      .map((one) => [random(), one] as const)
      .sort(([a], [b]) => a - b)
      .map(([, one]) => one);
  const add = (merged: MergedParts, some: typeof all): MergedParts => {
    for (const { frame, place, states } of structuredClone(some)) merged.add(frame, place, states);
    return merged;
  };
  const told = ({ result: merged }: MergedParts) => plan.reductions.map((_, r) => merged.states(r));
  const expected = told(add(new MergedParts(plan), all));

  it("are those of all parts, once each", () => {
    expect(parts.total).toBeGreaterThan(32);
    const nodes = Array.from({ length: parts.total }, (_, place) => parts.at(place).count).reduce(
      (sum, [x, y, z]) => sum + x * y * z,
      0,
    );
    expect(nodes).toBe(plan.extent[0] * plan.extent[1] * plan.extent[2]);
    expect(expected.every((states) => states.length > 0)).toBe(true);
  });

  it("hold numbers side by side: a list of objects holds the thread that receives it", () => {
    const members = expected.flatMap((states, r) => (plan.reductions[r]?.kind === "extremes" ? [] : states));
    const lists = members.flatMap((state) => Object.values(state)).filter(Array.isArray);
    expect(lists.filter(([first]) => typeof first !== "number")).toEqual([]);
  });

  it("have the same bits in any order", () => {
    expect(told(add(new MergedParts(plan), shuffled(all)))).toStrictEqual(expected);
  });

  it.each([2, 3, 7])("have the same bits if %i others have merged runs of parts", (others) => {
    const merged = new MergedParts(plan);
    const owners = all.map(({ place }) => Math.floor((place * others) / parts.total));
    // One part in the middle of a run belongs to another one.
    owners[5] = others - 1;
    const some = Array.from({ length: others }, (_, owner) => {
      const own = add(new MergedParts(plan, true), shuffled(all.filter((_, i) => owners[i] === owner)));
      return unpackStates([packStates(own.partial())]);
    });
    expect(some.flatMap(({ tree }) => tree).length).toBeLessThan(all.length);
    for (const one of shuffled(some)) merged.addPartial(one);
    expect(told(merged)).toStrictEqual(expected);
  });
});

describe("places of parts", () => {
  it("are those of all runs", () => {
    expect(placesIn({ frames: [0, 1], runs: [3, 2, 9, 1] }, 1, 10)).toEqual([3, 4, 9]);
  });
  it.each([
    [
      [0, 2],
      [0, 1],
    ],
    [
      [-1, 1],
      [0, 1],
    ],
    [
      [0, 1],
      [9, 2],
    ],
    [
      [0, 1],
      [4, 0],
    ],
    [
      [0, 1],
      [Number.NaN, 1],
    ],
  ] as const)("are refused beyond the reduction: frames %j, runs %j", (frames, runs) => {
    expect(() => placesIn({ frames, runs }, 1, 10)).toThrow("no such parts");
  });
});
