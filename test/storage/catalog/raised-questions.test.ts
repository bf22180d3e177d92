/** Frames that float32 cannot tell apart are asked about, and rough ones are warned about; others pass. */
import { expect, it } from "vitest";
import { raisedQuestions, warningsOfTimes } from "../../../src/storage/catalog/raised-questions.js";
import type { Dataset, TimeAxis } from "../../../src/storage/file/dataset.js";

function datasetAt(time: Partial<TimeAxis>, assumed: Dataset["assumed"] = []): Dataset {
  const axis = { nodes: 8, origin: 0, spacing: 1, periodic: false, coordinates: null };
  const whole = { origin: 0, step: 1, count: 4, values: null, guardBefore: 0, guardAfter: 0, ...time };
  return { axes: [axis, axis, axis], time: whole, assumed } as unknown as Dataset;
}

const asked = (time: Partial<TimeAxis>) => raisedQuestions(datasetAt(time)).map(({ about }) => about);

it("asks if a step is lost in the rounding of times", () => {
  expect(asked({ origin: 1e5, step: 1e-3 })).toEqual(["times"]);
  expect(asked({ origin: 2000, step: 2e-4 })).toEqual(["times"]);
  expect(asked({ values: Float64Array.of(0, 1, 1e6, 1e6 + 1e-3), step: 1 })).toEqual(["times"]);
  expect(raisedQuestions(datasetAt({ origin: 1e5, step: 1e-3 }, [{ about: "times", question: "" }]))).toEqual([]);
});

it("warns if a step is rounded by more than a hundredth", () => {
  expect(warningsOfTimes(datasetAt({ origin: 100, step: 1e-3 }))).toEqual([expect.stringMatching(/0\.012 of a step/)]);
  expect(asked({ origin: 100, step: 1e-3 })).toEqual([]);
});

it("says nothing of times that float32 tells apart, nor of a snapshot", () => {
  for (const time of [{}, { origin: 10, step: 2e-3 }, { origin: 1e9, count: 1 }]) {
    expect(asked(time)).toEqual([]);
    expect(warningsOfTimes(datasetAt(time))).toEqual([]);
  }
});
