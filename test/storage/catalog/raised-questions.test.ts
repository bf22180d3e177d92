/** Times that float32 rounds noticeably, or does not tell apart, are warned about; others pass. */
import { expect, it } from "vitest";
import { raisedQuestions, warningsOfPlaces, warningsOfTimes } from "../../../src/storage/catalog/raised-questions.js";
import type { Dataset, TimeAxis } from "../../../src/storage/dataset/dataset.js";

function datasetAt(time: Partial<TimeAxis>): Dataset {
  const axis = { nodes: 8, origin: 0, spacing: 1, periodic: false, coordinates: null };
  const whole = { origin: 0, step: 1, count: 4, values: null, guardBefore: 0, guardAfter: 0, ...time };
  return { axes: [axis, axis, axis], time: whole, assumed: [] } as unknown as Dataset;
}

const warnings = (time: Partial<TimeAxis>) => warningsOfTimes(datasetAt(time));

it("says if float32 does not tell frames apart, without a question: other interfaces do", () => {
  const lost = { values: Float64Array.of(0, 1, 1e6, 1e6 + 1e-3), step: 1 };
  for (const time of [{ origin: 1e5, step: 1e-3 }, { origin: 2000, step: 2e-4 }, lost]) {
    expect(warnings(time)).toEqual([expect.stringMatching(/cannot tell frames apart: it is refused/)]);
    expect(raisedQuestions(datasetAt(time))).toEqual([]);
  }
});

it("warns if a step is rounded by more than a hundredth", () => {
  expect(warnings({ origin: 100, step: 1e-3 })).toEqual([expect.stringMatching(/0\.012 of the shortest step off/)]);
});

it("says nothing of times that float32 tells apart, nor of a snapshot", () => {
  for (const time of [{}, { origin: 10, step: 2e-3 }, { origin: 1e9, count: 1 }]) expect(warnings(time)).toEqual([]);
});

it("warns of positions that float32 rounds by more than a hundredth of a spacing", () => {
  const warned = (origin: number, spacing: number) =>
    warningsOfPlaces({ axes: [{ ...datasetAt({}).axes[0], origin, spacing }] as never }).join();
  expect(warned(5.8e6, 0.5)).toMatch(/along x are taken as float32, up to 0\.69 of a spacing/);
  for (const spacing of [1e-4, 0.5, 1e9]) expect(warned(-1, spacing)).toBe("");
});
