/** Queries of the page: a profile ends at the ends of the domain, a series at the ends of time, within one request. */
import { expect, it } from "vitest";
import { boxAxis, boxFacts } from "../../../test/support/box-facts.js";
import {
  comparedView,
  describePlane,
  planePaths,
  profileQueries,
  readView,
  seriesQueries,
  shownName,
  shownTitle,
  shownUnit,
  stepsMade,
  tracking,
} from "../../state/queries.js";
import { initialState } from "../../state/view-state.js";

const FACTS = boxFacts({
  axes: [boxAxis("x", 64, 0, 4), boxAxis("y", 64, -1, 2), boxAxis("z", 64, 10, 8)],
  times: { count: 3, first: 1, last: 2, stored: [1, 1.5, 2], guardBefore: 0, guardAfter: 0 },
});

it.each([
  [2_000_000, 257],
  [100, 100],
  [1, 2],
])("a profile with %i points a request has %i points from end to end", (points, count) => {
  const state = { ...initialState(FACTS), line: "z" as const, probe: [1, 0.5, 12] as const };
  const [{ query } = { query: null }] = profileQueries(state, { ...FACTS, points });
  const places = query?.points ?? new Float32Array();
  expect(places.length).toBe(3 * count);
  expect([...places.subarray(0, 3)]).toEqual([1, 0.5, 10]);
  expect([...places.subarray(-3)]).toEqual([1, 0.5, 18]);
  const steps = Array.from(
    { length: count - 1 },
    (_, i) => (places[3 * i + 5] as number) - (places[3 * i + 2] as number),
  );
  for (const step of steps) expect(step).toBeCloseTo(8 / (count - 1), 5);
});

it.each([
  [2_000_000, 17],
  [10, 10],
])(
  "a series with %i points a request has %i times, eight for each step, from the first to the last",
  (points, count) => {
    const [{ query } = { query: null }] = seriesQueries(initialState(FACTS), { ...FACTS, points });
    const times = query?.parameters.time as readonly number[];
    expect([times.length, times[0], times.at(-1)]).toEqual([count, 1, 2]);
    for (const [i, time] of times.entries()) expect(time).toBeCloseTo(1 + i / (count - 1), 6);
  },
);

it.each([
  [{ steps: 5 }, 5],
  [{ steps: 500 }, 10],
  [{ steps: 500, start: 1.5 }, 5],
  [{ steps: 500, release: 0.3 }, 7],
  [{ steps: 500, start: 2 }, 1],
])("makes %o as many steps as there are data for: %i", (set, made) => {
  const state = { ...initialState(FACTS), dt: 0.1, ...set };
  expect(stepsMade(state, FACTS)).toBe(made);
  expect(tracking(state, FACTS).query.parameters.nt).toBe(made);
});

it.each([
  [{ time: 1 }, "t = 1 to 1.5", 1.5],
  [{ time: 1.8 }, "t = 1.8 to 2", 2],
  [{ time: 2 }, "t = 2 back to 1.5", 1.5],
])("calls stretching at %o by its name, over %s, whatever it is compared with", (set, interval, end) => {
  const wanted = { overlay: "ftle", compare: "time", dt: 0.1, steps: 5, at: 14 } as const;
  const state = { ...initialState(FACTS), ...wanted, ...set };
  const facts = { ...FACTS, units: { time: "s" } };
  expect(describePlane(state, facts)).toBe(`Finite-time Lyapunov exponent at z = 14, ${interval}`);
  expect([shownTitle(state), shownName(state), shownUnit(state, facts), shownUnit(state, FACTS)]).toEqual([
    ...["Finite-time Lyapunov exponent", "ftle"],
    ...["1/s", ""],
  ]);
  const { other, stretching } = planePaths(state, facts);
  expect([other, stretching?.body.start, stretching?.body.end]).toEqual([null, set.time, end]);
});

it("reads a comparison with a method that the quantity does not have as one with another that it has", () => {
  const spatialInterpolation = ["None_Fd4", "Fd4Lag4", "M2Q8"];
  const facts = {
    ...FACTS,
    operations: [{ name: "GetVelocityGradient", available: true, spatialInterpolation, components: [] }],
  };
  const { state, bad } = readView("?dataset=box&field=vorticity&compare=method&otherMethod=Lag4", facts);
  expect(bad).toEqual(["otherMethod"]);
  expect(comparedView(state)?.derivatives).toBe("M2Q8");
  expect(describePlane(state, facts)).toMatch(/^Difference of vorticity magnitude from /);
});

it("draws several times in their order, the one shown among them", () => {
  const state = { ...initialState(FACTS), curves: "times", time: 1.7 } as const;
  expect(profileQueries(state, FACTS).map(({ name }) => name)).toEqual(["t = 1", "t = 1.5", "t = 1.7", "t = 2"]);
});

it("spreads particles over the part of the plane that is shown, across a seam too", () => {
  const state = { ...initialState(FACTS), count: 4, window: [3, 5, 0, 0.5] } as const;
  const { points } = tracking(state, FACTS).query;
  const across = Array.from({ length: 4 }, (_, i) => [points[3 * i], points[3 * i + 1]]);
  expect(across).toEqual([
    [3.5, 0.125],
    [0.5, 0.125],
    [3.5, 0.375],
    [0.5, 0.375],
  ]);
});
