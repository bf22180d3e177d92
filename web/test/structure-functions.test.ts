/** Structure functions have no values that are only rounding, which would stretch their logarithmic axis. */
import { expect, it } from "vitest";
import { setOf } from "./page.js";

const { structureFunctions: card } = await import("../cards/structure-functions.js");

/** The answer for separations with their moments: S₂ along and across, and S₃. */
const answerOf = (...rows: readonly (readonly [number, number, number])[]) => ({
  separations: rows.map(([along, across, third], i) => ({
    ...{ axis: "x", length: i + 1 },
    ...{ longitudinal: { "2": along, "3": third }, transverse: { "2": across } },
  })),
});
const curvesOf = (answer: ReturnType<typeof answerOf>) => {
  const { chart, rows } = card.content(setOf("a", [0]), "", [[0, answer, null]]);
  return { lengths: chart.curves.map(({ points }) => points.map(([r]) => r)), said: rows.map(([, value]) => value) };
};

it("leaves out odd moments that cancel at half a period, and all where the flow repeats", () => {
  const answer = answerOf([0.1, 0.2, -1e-3], [0.4, 0.5, 2e-9], [0.7, 0.9, 4e-17], [3e-33, 1e-32, 1e-49]);
  expect(curvesOf(answer)).toEqual({
    lengths: [
      [1, 2, 3],
      [1, 2, 3],
      [1, 2],
    ],
    said: ["4", "1"],
  });
});

it("keeps what is small beside another length, however slow the flow is", () => {
  const slow = answerOf([1e-14, 1e-14, -1e-24], [4e-10, 5e-10, 1e-15]);
  expect(curvesOf(slow)).toEqual({
    lengths: [
      [1, 2],
      [1, 2],
      [1, 2],
    ],
    said: ["1"],
  });
});

it("averages over axes that have pairs of known values", () => {
  const of = (axis: string, along: number | null, third: number | null) => ({
    ...{ axis, length: 1 },
    ...{ longitudinal: { "2": along, "3": third }, transverse: { "2": along } },
  });
  const answer = { separations: [of("x", 0.5, -0.02), of("y", null, null)] };
  const { chart } = card.content(setOf("a", [0]), "", [[0, answer, null]]);
  expect(chart.curves.map(({ points }) => points)).toEqual([[[1, 0.5]], [[1, 0.5]], [[1, 0.02]]]);
});

it("asks for no separations along an axis of one node", () => {
  const { axes, ...set } = setOf("plane", [0]);
  const [x, y, z] = axes;
  const flat = { ...set, axes: [x, y, { ...z, nodes: 1 }] as const };
  expect([setOf("box", [0]), flat].map((one) => card.question(one, "", 0).axis)).toEqual([
    ["x", "y", "z"],
    ["x", "y"],
  ]);
});
