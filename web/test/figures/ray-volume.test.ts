/** Volumes drawn by rays: zero is clear and has the middle of a map of both signs, and holes have no value. */
import { expect, it } from "vitest";
import { COLOUR_STEPS } from "../../../src/shared/colour-map.js";
import type { ColourScale } from "../../figures/colour-scale.js";
import { clarityOf, makeRayVolume, mapPlaces } from "../../figures/ray-volume.js";
import type { Volume } from "../../state/api.js";

/** A scale as the page makes it of a range, centred if it has both signs. */
function scaleOf(low: number, high: number): ColourScale {
  const centred = low < 0 && high > 0;
  const pixels = new Uint32Array(COLOUR_STEPS);
  return {
    name: "PuOr",
    pixels,
    picture: "",
    range: [low, high],
    log: false,
    linear: 0,
    centred,
    beyond: [false, false],
  };
}

it("has zero in the middle of a map of both signs, however far either of them reaches", () => {
  expect([...mapPlaces(Float32Array.of(0, -23.5, 126, Number.NaN), scaleOf(-23.5, 126))]).toEqual([
    ...[128, 255],
    ...[Math.round(127.5 - (127.5 * 23.5) / 126), 255],
    ...[255, 255],
    ...[0, 0],
  ]);
});

it.each([
  ["both signs: zero, and as far on either side", [-23.5, 126], 12.6, false, [-12.6, 63], [0.5, 0.1, 0.5]],
  ["both signs, from a low level", [-4, 2], -1, true, [-3, 1], [0.5, 0.25, 0.75]],
  ["no negative values: the low end", [0, 20], 5, false, [0, 10], [0, 0.25, 0.5]],
  ["no positive values: the high end", [-20, 0], -5, false, [-16, 0], [1, 0.25, 0.8]],
  ["small values looked for: the high end", [10, 20], 15, true, [11, 20], [1, 0.5, 0.9]],
  ["a level beyond all values: everything", [0, 20], 50, false, [0, 90], [0, 1, 1]],
] as const)("is clear of %s", (_, [low, high], level, small, tails, wanted) => {
  const { zero, clear, full } = clarityOf(scaleOf(low, high), level, small, tails);
  expect([zero, clear, full]).toEqual(wanted.map((part) => expect.closeTo(part, 9)));
});

it.each([
  ["from node to node around a period", 0, 0.5],
  ["in the middle of intervals", 0.25, 0],
])("reads samples %s at their places", (_, origin, first) => {
  const axis = { count: 4, origin, spacing: 0.5 };
  const axes = (["x", "y", "z"] as const).map((name) => ({ axis: name, ...axis }));
  const volume: Volume = { axes, values: new Float32Array(64), low: 0, high: 0 };
  const { uniforms } = makeRayVolume(volume, scaleOf(-1, 1), [0, 2, 0, 2, 0, 2], {}).material;
  expect([uniforms.first?.value, uniforms.reach?.value]).toEqual([Array(3).fill(first / 4), [1, 1, 1]]);
});
