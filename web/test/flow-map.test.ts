/** Questions about `ftle(T)` become flow maps over an interval that is stored. */
import { expect, it } from "vitest";
import { asFlowMap, durationOf } from "../state/flow-map.js";
import { quantityOf } from "../state/quantities.js";

const SET = { dataset: "a", times: [0, 0.5, 1, 1.5, 2] };

it("reads durations", () => {
  expect(["ftle(0.5)", "ftle(-1e-1)", "ftle", "ftle(x)", "norm(u)"].map(durationOf)).toEqual([
    0.5,
    -0.1,
    null,
    null,
    null,
  ]);
});

it("asks the whole interval from the time shown, also beyond the stored times", () => {
  const plane = { dataset: "a", call: "grid", what: "ftle(0.5)", z: 3, time: 1, method: "Lag6", samples: [64, 64] };
  expect(asFlowMap(SET, plane)).toEqual({
    ...{ dataset: "a", call: "flow_map", what: "ftle", z: 3, time: "1:1.5", method: "Lag6", samples: [64, 64] },
    step: 0.125,
  });
  expect(asFlowMap(SET, { ...plane, what: "ftle(3)" }).time).toBe("1:4");
  expect(asFlowMap(SET, { ...plane, what: "ftle(-3)" }).time).toBe("1:-2");
});

it.each([
  [[0, 0.1, 0.2, 1, 5], 2, 0.025],
  [[0, 0.001, 1, 2], 2, 0.01],
  [[0, 0.001, 1, 2], 200, 0.166667],
])("steps by parts of the shortest interval of %o over %d", (times, duration, step) => {
  const plane = { dataset: "a", call: "grid", what: `ftle(${duration})`, time: 0 };
  expect(asFlowMap({ dataset: "a", times }, plane).step).toBe(step);
});

it("names flow maps by their duration", () => {
  expect(["ftle(0.4)", "ftle(-0.4)", "ftle(0.123456)"].map((what) => quantityOf(what).symbol)).toEqual([
    ...["FTLE +0.4", "FTLE −0.4", "FTLE +0.123456"],
  ]);
});

it("asks a point as a flow map without samples, and leaves other questions alone", () => {
  const value = { dataset: "a", call: "values", what: ["ftle(1)"], points: [[1, 2, 3]], time: 0, method: "Lag8" };
  expect(asFlowMap(SET, value)).toEqual({
    ...{ dataset: "a", call: "flow_map", what: "ftle", x: 1, y: 2, z: 3, time: "0:1", step: 0.125, method: "Lag8" },
  });
  expect(asFlowMap(SET, { ...value, what: ["Q"] })).toEqual({ ...value, what: ["Q"] });
});
