/** A colour scale shows the range and the sign of the values, linear or logarithmic. */
import { expect, it } from "vitest";
import { colourTable } from "../../../src/shared/colour-map.js";
import { type ColourScale, joinRanges, mapName, positionOn, rangeFor, rangeOf } from "../../figures/colour-scale.js";
import { signedLogTicks } from "../../figures/ticks.js";

const samples = (list: readonly number[]) => ({
  values: Float32Array.from(list),
  ...{ low: Math.min(...list), high: Math.max(...list) },
});
const scale = (members: Partial<ColourScale>): ColourScale => ({
  ...{ name: "viridis", pixels: new Uint32Array(256), picture: "", range: [0, 1], log: false, linear: 0 },
  ...{ centred: false, beyond: [false, false] },
  ...members,
});
const follow = (scaling: "auto" | "picture", shape: "linear" | "symmetric" | "log" = "linear") => ({
  ...{ range: null, scaling, shape },
});
const held = (low: number, high: number, least = 0) => ({ low, high, least });

it("takes a diverging map only if the values have both signs", () => {
  expect(mapName("auto", [-1, 5], false)).toBe("RdBu");
  expect(mapName("auto", [-1, 5], true)).toBe("RdBu-dark");
  expect(mapName("auto", [0, 5], true)).toBe("viridis");
  expect(mapName("auto", [-5, -1], false)).toBe("viridis");
  expect(mapName("PuOr", [0, 5], true)).toBe("PuOr");
});

it("follows all times seen or this picture, and keeps a fixed range", () => {
  const picture = samples([-1, 0, 2]);
  expect(rangeFor("RdBu", follow("auto"), held(-3, 4), picture)).toEqual([-3, 4]);
  expect(rangeFor("RdBu", follow("auto", "symmetric"), held(-3, 4), picture)).toEqual([-4, 4]);
  expect(rangeFor("RdBu", follow("picture"), held(-3, 4), picture)).toEqual([-1, 2]);
  expect(rangeFor("RdBu", follow("picture", "symmetric"), held(-3, 4), picture)).toEqual([-2, 2]);
  const fixed = { ...follow("auto", "log"), range: [0, 1] as const };
  expect(rangeFor("RdBu", fixed, held(-3, 4), picture)).toEqual([0, 1]);
});

it("ends an automatic range at round values beyond the extremes of nodes, unless it is logarithmic", () => {
  const picture = samples([0.0324, 1]);
  const auto = (low: number, high: number) => rangeFor("viridis", follow("auto"), held(low, high), picture);
  expect(auto(0.0324, 19.7)).toEqual([0, 20]);
  expect(auto(Math.fround(-0.3), Math.fround(0.1))).toEqual([-0.3, 0.1].map(Math.fround));
  expect(auto(1000.013, 1000.297)).toEqual([1000, 1000.3].map(Math.fround));
  expect(auto(-0.25, -0.25)).toEqual([-0.25, -0.25]);
  expect(rangeFor("RdBu", follow("auto", "symmetric"), held(-9.33, 18.63), picture)).toEqual([-20, 20]);
  expect(rangeFor("RdBu", follow("auto"), held(-9.33, 18.63), picture)).toEqual([-10, 20]);
});

it("spans as many decades as the values have, but for the smallest hundredth", () => {
  const decades = samples(Array.from({ length: 1001 }, (_, i) => 10 ** (-5 + i / 200)));
  const [low, high] = rangeFor("viridis", follow("picture", "log"), held(0, 1), decades);
  expect([low, high]).toEqual([expect.closeTo(10 ** -4.95, 6), 1]);
  expect(positionOn(scale({ range: [1e-4, 1], log: true }), 1e-2)).toBeCloseTo(0.5, 12);
  expect(rangeFor("RdBu", follow("picture", "log"), held(0, 1), samples([-2, 0, 1]))).toEqual([-2, 2]);
  expect(rangeFor("viridis", follow("auto", "log"), held(0, 50, 0.2), decades)).toEqual([0.2, 50]);
  expect(joinRanges([held(-1, 2, 0.5), rangeOf(samples([0.1, 7]), true)])).toEqual(held(-1, 7, expect.closeTo(0.1)));
});

it("is symmetric about zero and monotonic for the logarithm of values of both signs", () => {
  const signed = scale({ range: [-10, 10], log: true, linear: 0.01 });
  expect([-10, 0, 10].map((value) => positionOn(signed, value))).toEqual([0, 0.5, 1]);
  const places = [-10, -1, -0.1, -0.001, 0.001, 0.1, 1, 10].map((value) => positionOn(signed, value));
  expect(places).toEqual([...places].sort((a, b) => a - b));
  expect(positionOn(signed, 0.3) + positionOn(signed, -0.3)).toBeCloseTo(1, 12);
  expect(signedLogTicks(0.01, 10, 8).map(({ text }) => text)).toContain("−0.1");
});

it("is black in the middle of the diverging map for dark surroundings, and light at its ends", () => {
  const table = colourTable("RdBu-dark");
  const light = (step: number) => Math.max(...table.subarray(3 * step, 3 * step + 3));
  expect(light(127)).toBeLessThan(24);
  expect(Math.min(light(0), light(255))).toBeGreaterThan(200);
  const [red, , blue] = table.subarray(3 * 200);
  expect(red).toBeGreaterThan(blue as number);
});
