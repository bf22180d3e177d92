/** The view in the address: whatever it is, it comes back; what is bad is named and replaced. */

import { describe, expect, it } from "vitest";
import { withoutNoise } from "../../../src/float32/format.js";
import { DERIVATIVES, INTERPOLATIONS } from "../../../src/shared/operations.js";
import { QUANTITIES } from "../../../src/shared/quantities.js";
import { boxAxis, boxFacts } from "../../../test/support/box-facts.js";
import { fc } from "../../../test/support/property.js";
import { carryState, formatState, initialState, PANELS, parseState } from "../../state/view-state.js";

const axis = (name: "x" | "y" | "z", first: number, length: number) =>
  boxAxis(name, 10, first, length, { last: first + length, spacing: length / 9, periodic: false });
const FACTS = boxFacts({
  axes: [axis("x", 0, 1), axis("y", -1, 2), axis("z", 10, 30)],
  times: { count: 5, first: 0, last: 2, stored: [0, 0.5, 1, 1.5, 2], guardBefore: 0, guardAfter: 0 },
  fields: [{ name: "velocity", components: 3 }],
  operations: [...new Set(QUANTITIES.map((quantity) => quantity.operation))].map((name) => ({
    name,
    available: true,
    spatialInterpolation: [...INTERPOLATIONS, ...DERIVATIVES],
    components: [],
  })),
});

const float = (min: number, max: number) => fc.float({ min: Math.fround(min), max: Math.fround(max), noNaN: true });

describe("the address", () => {
  it("is short for the view one begins with", () => {
    expect(formatState(initialState(FACTS), FACTS)).toBe("dataset=box");
  });

  it("brings back every view", () => {
    const views = fc.record({
      field: fc.constantFrom(...QUANTITIES.map(({ name }) => name).filter((name) => name !== "epsilon")),
      axis: fc.constant("z" as const),
      at: float(10, 40),
      time: float(0, 2).map(withoutNoise),
      values: fc.constantFrom(...INTERPOLATIONS),
      derivatives: fc.constantFrom(...DERIVATIVES),
      temporal: fc.constantFrom("None" as const, "PCHIP" as const),
      range: fc.option(fc.tuple(float(-5, -1), float(0, 9))),
      probe: fc.tuple(float(0, 1), float(-1, 1), float(10, 40)),
      count: fc.integer({ min: 1, max: 1024 }),
      launched: fc.boolean(),
      scene: fc.constantFrom(null, true, false),
      start: float(0, 2).map(withoutNoise),
      open: fc.uniqueArray(fc.constantFrom(...PANELS), { minLength: 0, maxLength: 4 }),
      contours: fc.array(float(-5, 5), { maxLength: 4 }),
      level: fc.option(float(-5, 5)),
      brush: fc.array(
        fc.record({ of: fc.constantFrom("Q" as const, "x" as const), low: float(-9, 0), high: float(1, 9) }),
        {
          maxLength: 2,
        },
      ),
      places: fc.array(fc.tuple(float(0, 1), float(-1, 1), float(10, 40)), { maxLength: 5 }),
      notes: fc.array(fc.record({ at: fc.tuple(float(0, 1), float(-1, 1), float(10, 40)), text: fc.string() }), {
        maxLength: 3,
      }),
      camera: fc.tuple(float(-3, 3), float(-3, 3), float(-3, 3)),
      theme: fc.constantFrom("auto" as const, "dark" as const),
    });
    fc.assert(
      fc.property(views, (view) => {
        const state = { ...initialState(FACTS), ...view };
        const text = formatState(state, FACTS);
        const parsed = parseState(`?${text}`, FACTS);
        expect(parsed.bad).toEqual([]);
        expect(formatState(parsed.state, FACTS)).toBe(text);
        for (const name of [
          "field",
          "at",
          "time",
          "range",
          "launched",
          "scene",
          "start",
          "open",
          "contours",
          "level",
          "notes",
          "theme",
        ] as const) {
          expect(parsed.state[name]).toEqual(state[name]);
        }
        expect(parsed.state.probe.map(Math.abs)).toEqual(state.probe.map(Math.abs));
      }),
    );
  });

  it.each([
    ["at=9", ["at"]],
    ["time=-1", ["time"]],
    ["time=", ["time"]],
    ["probe=0,0", ["probe"]],
    ["probe=0,0,9", ["probe"]],
    ["range=2,1", ["range"]],
    ["window=1,0,0,2", ["window"]],
    ["scaling=cubic", ["scaling"]],
    ["surface=nothing", ["surface"]],
    ["camera=1,2,NaN", ["camera"]],
    ["dt=0", ["dt"]],
    ["count=0&count=5.5", ["count", "count"]],
    ["constructor=1&utm_source=mail&fbclid=2", []],
  ])("names what is bad in %s and keeps the usual", (query, bad) => {
    const parsed = parseState(`?dataset=box&${query}`, FACTS);
    expect(parsed.bad).toEqual(bad);
    expect(parsed.state).toEqual(initialState(FACTS));
  });

  it("refuses what lies outside of a tiny domain far from 0, and takes its ends", () => {
    const axes = [axis("x", 0, 1e-7), axis("y", 0, 1e-7), axis("z", 1000.1, 1e-7)] as const;
    const facts = { ...FACTS, axes, times: { ...FACTS.times, last: 1e-7, stored: [0, 1e-7] } };
    const read = (query: string) => parseState(`?dataset=box&${query}`, facts).bad;
    expect(read("axis=x&at=5e-7")).toEqual(["at"]);
    expect(read("axis=x&at=1e-7")).toEqual([]);
    expect(read("time=-9e-7")).toEqual(["time"]);
    expect(read("time=1e-7")).toEqual([]);
    expect(read("probe=0,0,1000.1")).toEqual([]);
    expect(read("probe=0,3e-7,1000.1")).toEqual(["probe"]);
  });

  it("puts plane and probe of another dataset into its middle, whatever is valid there", () => {
    const other = { ...FACTS, name: "other", axes: [axis("x", 0, 1), axis("y", -1, 2), axis("z", 20, 40)] as const };
    const moved = parseState("?dataset=box&at=39&probe=0.25,0,39&pins=0.5,0,30&field=p&window=0,1,0,1", FACTS);
    expect(moved.bad).toEqual([]);
    const { field, at, probe, pins, window } = carryState(moved.state, FACTS, other);
    expect({ field, at, probe, pins, window }).toEqual({
      ...{ field: "p", at: 40, probe: [0.5, 0, 40], pins: [], window: null },
    });
    expect(carryState({ ...moved.state, axis: "y", at: 0.5 }, FACTS, other)).toMatchObject({ axis: "y", at: 0 });
  });

  it("shows only quantities that the dataset has", () => {
    const available = (name: string) => name === "GetVelocityGradient";
    const operations = FACTS.operations.map((row) => ({ ...row, available: available(row.name) }));
    const facts = { ...FACTS, operations };
    expect(initialState(facts).field).toBe("vorticity");
    expect(parseState("?dataset=box&field=p", facts)).toEqual({ state: initialState(facts), bad: ["field"] });
    expect(parseState("?dataset=box&field=Q", facts).state.field).toBe("Q");
  });
});

it("takes the place of a link with three planes to the probe, which links then carry", () => {
  const { state, bad } = parseState("?dataset=box&layout=three&axis=x&at=0.5", FACTS);
  expect([bad, state.probe[0]]).toEqual([[], 0.5]);
  const link = formatState(state, FACTS);
  expect(link).not.toContain("&at=");
  expect(parseState(link, FACTS).state.probe).toEqual(state.probe);
});
