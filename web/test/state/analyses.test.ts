/** The calls behind the statistics panel, computed on small records of facts. */
import { expect, it } from "vitest";
import { boxFacts } from "../../../test/support/box-facts.js";
import { discriminantCurve } from "../../figures/joint-figure.js";
import {
  analysisCall,
  analysisChoice,
  analysisFile,
  centreInside,
  extremesCall,
  incrementAxis,
  inertialRange,
  nodeNear,
  partText,
  resolvedSpectrum,
  storedTime,
} from "../../state/analyses.js";
import type { AxisFacts, DatasetFacts } from "../../state/facts.js";
import { formatState, initialState, parseState, type ShownAnalysis, type ViewState } from "../../state/view-state.js";

const axis = (name: AxisFacts["name"], more: Partial<AxisFacts> = {}): AxisFacts => ({
  ...{ name, nodes: 8, first: 1, last: 4.5, length: 4, spacing: 0.5, periodic: true },
  ...more,
});
const facts = { axes: [axis("x"), axis("y", { periodic: false, length: 3.5 }), axis("z")] } as unknown as DatasetFacts;

it("takes the stored time and the node that are nearest", () => {
  const times = { stored: [0, 0.2, 0.5] } as unknown as DatasetFacts["times"];
  expect(storedTime({ ...facts, times }, 0.36)).toBe(0.5);
  expect(nodeNear(axis("x"), 2.3)).toBe(2.5);
  expect(nodeNear(axis("y", { coordinates: [-1, -0.9, 0, 0.9, 1] }), -0.93)).toBe(-0.9);
});

it("shows no wavenumber beyond Nyquist, nor the mean, and of planes those nearest to the probe", () => {
  const shells = { frames: [], formulas: {}, k: [0, 1, 2, 3, 4], E: [9, 5, 3, 2, 1], nyquist: 3 };
  expect(resolvedSpectrum(shells, () => 0)).toEqual({ k: [1, 2, 3], E: [5, 3, 2], at: "" });
  const E = [
    [0, 1],
    [0, 2],
    [0, 4],
  ];
  const planes = { frames: [], formulas: {}, k: [0, 1], E, nyquist: 1, coordinates: { y: [-1, 0, 1] } };
  expect(resolvedSpectrum(planes, (name) => (name === "y" ? 0.8 : -1))).toEqual({ k: [1], E: [4], at: "y = 1" });
});

it("names the plane of a spectrum between walls by its place, which is 0 up to rounding", () => {
  const near = -6.12e-17;
  const coordinates = [-1, -0.5, near, 0.5, 1];
  const walled = axis("y", { periodic: false, first: -1, last: 1, length: 2, nodes: 5, coordinates });
  const all = { axes: [axis("x"), walled, axis("z")] } as unknown as DatasetFacts;
  const choice = { show: "energy", part: "frame", frames: "one", along: "y", on: "ux" } as const;
  const state = { probe: [1, 0.1, 1], axis: "z", at: 1, window: null } as unknown as ViewState;
  expect(partText(state, all, choice, "0")).toBe("Frame t = 0: nodes of the plane y = 0 through the probe");
  const planes = { frames: [], formulas: {}, k: [0, 1], E: coordinates.map(() => [0, 1]), nyquist: 1 };
  expect(resolvedSpectrum({ ...planes, coordinates: { y: coordinates } }, () => 0.1).at).toBe("y = 0");
});

it("has an inertial range at high Reynolds numbers only", () => {
  // Of the public isotropic set of 1024^3 nodes: integral length 1.364, Kolmogorov length 0.00280, Re 418.
  const [low = 0, high = 0] = inertialRange({ integral: 1.364, kolmogorov: 0.0028 }) ?? [];
  expect([low, high].map((k) => Math.round(k))).toEqual([28, 37]);
  expect(inertialRange({ integral: 1.66, kolmogorov: 0.06 })).toBeNull();
  expect(inertialRange({ integral: 1.66 })).toBeNull();
});

it("turns centres back into the period, and leaves those between walls", () => {
  expect(centreInside([5.5, 2, 0.5], facts)).toEqual([1.5, 2, 4.5]);
});

it("draws the curve on which the discriminant of the velocity gradient vanishes", () => {
  const curve = discriminantCurve(-4);
  for (const [r, q] of curve) expect((27 / 4) * r * r + q ** 3).toBeCloseTo(0, 9);
  const rs = curve.map(([r]) => r);
  expect([Math.min(...rs), Math.max(...rs)]).toEqual([-Math.sqrt(256 / 27), Math.sqrt(256 / 27)]);
});

it("takes increments along an axis whose nodes are equally far apart", () => {
  const stretched = axis("y", { coordinates: [0, 1, 3, 6, 10, 15, 21, 28] });
  const some = { axes: [axis("x", { nodes: 4 }), stretched, axis("z")] } as unknown as DatasetFacts;
  expect(incrementAxis(some, "z").name).toBe("z");
  expect(incrementAxis(some, "y").name).toBe("z");
  expect(incrementAxis(some, "x").name).toBe("z");
});

it("asks for separations up to half of the axis, that one included", () => {
  const of = (nodes: number) => {
    const facts = {
      axes: [axis("x", { nodes }), axis("y"), axis("z")],
      times: { stored: [0] },
    } as unknown as DatasetFacts;
    const state = { time: 0, field: "ux", derivatives: "None_Fd4" } as unknown as ViewState;
    const choice = { show: "increments", along: "x", part: "frame", frames: "one", on: "p" } as const;
    return (analysisCall(state, facts, choice).body as { separations: unknown }).separations;
  };
  expect(of(16)).toEqual({ nodes: [1, 2, 3, 4, 6, 8] });
  expect(of(15)).toEqual({ nodes: [1, 2, 3, 4, 6] });
});

it("names files by analysis, quantity and time, those of the velocity by no quantity", () => {
  const state = { dataset: "box", field: "vorticity" } as unknown as ViewState;
  const some = { ...facts, times: { first: 0, last: 1 }, operations: [] } as unknown as DatasetFacts;
  const named = (show: ShownAnalysis, inWallUnits = false) =>
    analysisFile(state, some, { show, along: "y", part: "frame", frames: "one", on: "p" }, 0.4000000059, inWallUnits);
  expect(named("energy")).toBe("box-energy-t0.4");
  expect(named("spectrum")).toBe("box-spectrum-vorticity-t0.4");
  expect(named("conditional")).toBe("box-conditional-vorticity-on-p-t0.4");
  expect(named("profile", true)).toBe("box-profile-vorticity-along-y-wall-units-t0.4");
});

it("takes spectra and profiles over all stored times if they are few enough", () => {
  const times = { count: 3, first: 0, last: 1, stored: [0, 0.5, 1] };
  const some = { ...facts, times, operations: [] } as unknown as DatasetFacts;
  const many = { ...some, times: { ...times, count: 1e6 } } as unknown as DatasetFacts;
  const state = { dataset: "box", time: 0.5, field: "p", derivatives: "None_Fd4" } as unknown as ViewState;
  const choice = { show: "profile", along: "y", part: "frame", frames: "all", on: "p" } as const;
  expect(analysisCall(state, some, choice).body).toMatchObject({ times: [0, 0.5, 1], over: ["x", "z", "t"] });
  expect(partText(state, some, choice, "0.5")).toBe("All 3 stored times: all nodes of the volume");
  expect(analysisFile(state, some, choice, 0, false)).toBe("box-profile-p-along-y-t0-1");
  for (const one of [{ ...choice, frames: "one" } as const, { ...choice, show: "distribution" } as const])
    expect(analysisCall(state, some, one).body).toMatchObject({ time: 0.5 });
  expect(analysisCall(state, many, choice).body).toMatchObject({ time: 0.5, over: ["x", "z"] });
});

it("asks for extremes of what is stored, not of a force in closed form", () => {
  const times = { count: 2, first: 0, last: 1, stored: [0, 1] };
  const of = (field: string, ...fields: string[]) => {
    const some = {
      ...facts,
      times,
      fields: fields.map((name) => ({ name, components: 3 })),
    } as unknown as DatasetFacts;
    const state = { field, axis: "z", at: 1.2, compare: "none", derivatives: "None_Fd4" } as unknown as ViewState;
    return extremesCall(state, some);
  };
  expect(of("ux", "velocity")).toMatchObject({ times: [0, 1], reduce: [{ moments: "ux" }] });
  expect(of("fx", "velocity")).toBeNull();
  expect(of("fx", "velocity", "force")).toMatchObject({ reduce: [{ moments: "fx" }] });
});

const FLOW = boxFacts({
  axes: [axis("x"), axis("y"), axis("z")],
  fields: [
    { name: "velocity", components: 3 },
    { name: "pressure", components: 1 },
  ],
  operations: ["GetVelocity", "GetVelocityAndPressure", "GetVelocityGradient"].map((name) => ({
    ...{ name, available: true, spatialInterpolation: [], components: [] },
  })) as unknown as DatasetFacts["operations"],
});

/** What the panel asks for of a view. */
function asked(state: ViewState): unknown {
  const choice = analysisChoice(state, FLOW);
  return choice && analysisCall(state, FLOW, choice).body;
}

it.each([
  ["distribution", { part: "plane" }],
  ["profile", { frames: "all" }],
  ["profile", { profileAxis: "x" }],
  ["conditional", { condition: "uy" }],
  ["conditional", { part: "plane" }],
  ["increments", { profileAxis: "z" }],
  ["structures", { structure: "Q" }],
  ["structures", { structure: "p", above: 1.5 }],
] as const)("asks for the same numbers behind a link: %s of %o", (analysis, choice) => {
  const usual = { ...initialState(FLOW), analysis, field: "ux" };
  const chosen = { ...usual, ...choice };
  const link = parseState(`?${formatState(chosen, FLOW)}`, FLOW);
  expect(link.bad).toEqual([]);
  expect(asked(link.state)).toEqual(asked(chosen));
  expect(asked(link.state)).not.toEqual(asked(usual));
});

it("conditions means on another quantity than the one averaged, unless that is asked for", () => {
  const on = (field: string, condition: string | null = null) =>
    analysisChoice({ ...initialState(FLOW), analysis: "conditional", field, condition }, FLOW)?.on;
  expect([on("vorticity"), on("Q"), on("vorticity", "vorticity"), on("ux", "boxux")]).toEqual([
    "Q",
    "ux",
    "vorticity",
    "Q",
  ]);
});

it("takes structures of pressure below a value", () => {
  const body = asked({ ...initialState(FLOW), analysis: "structures", structure: "p", above: 1.5 });
  expect(body).toMatchObject({ of: "p", below: { rms: -1.5 } });
  expect(body).not.toHaveProperty("above");
});
