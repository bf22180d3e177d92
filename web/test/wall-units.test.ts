/** Wall units of the Profile card and the ruler are those that the service answers. */
import { expect, it, vi } from "vitest";
import type { Axis, Dataset } from "../state/dataset.js";
import { buttonsOf } from "./template.js";

for (const name of ["matchMedia", "addEventListener"])
  vi.stubGlobal(name, () => ({ matches: false, addEventListener: () => undefined }));
vi.stubGlobal("location", { hash: "", pathname: "/", search: "", origin: "http://a" });
vi.stubGlobal("window", globalThis);
const { profile } = await import("../cards/profile.js");
const { scalesQuestion } = await import("../ruler.js");
const { store } = await import("../state/shown.js");
const { keyOf } = await import("../state/answers.js");
const { joint } = await import("../cards/joint.js");
const { budget } = await import("../cards/budget.js");

const axisOf = (name: Axis["name"], faces?: Axis["faces"]) =>
  ({ ...{ name, faces, periodic: faces === undefined }, ...{ nodes: 9, first: -1, last: 1, length: 2 } }) as Axis;
const setOf = (...axes: readonly Axis[]) =>
  ({
    name: "a",
    axes,
    viscosity: 0.02,
    times: [0.5],
    fields: [{ name: "velocity", components: 3 }],
  }) as unknown as Dataset;
const [x, y, z] = [axisOf("x"), axisOf("y", ["wall", "wall"]), axisOf("z")];

const toggleWallUnits = () => buttonsOf(profile.options?.(setOf(x, y, z))).get("Wall units")?.();

it("asks one question for the card of u.x and the ruler", () => {
  const question = profile.question(setOf(x, y, z), "u.x", 0.5);
  expect(question).toMatchObject({ what: ["u.x"], over: ["x", "z"], time: 0.5, units: "plus" });
  expect(scalesQuestion(setOf(x, y, z), 0.5)).toEqual(question);
});

it.each([
  ["another quantity", [x, y, z], "p"],
  ["open ends", [x, axisOf("y", ["open", "open"]), z], "u.x"],
  ["walls along two axes", [x, y, axisOf("z", ["wall", "wall"])], "u.x"],
  ["walls across x", [axisOf("x", ["wall", "wall"]), axisOf("y"), z], "u.x"],
])("asks for no wall units of %s", (_, axes, what) => {
  expect(profile.question(setOf(...axes), what, 0.5)).not.toHaveProperty("units");
});

it("shows the friction velocity of the answer, whatever the first nodes are", () => {
  const at = Array.from({ length: 9 }, (_, j) => -1 + j / 4);
  const result = { coordinates: { y: at }, mean: at.map((y) => 7 * (1 - y * y)) };
  const answer = { results: [result], wall_units: { u_tau: Math.sqrt(0.28), nu: 0.02, y_plus: at.map((y) => y + 1) } };
  const { rows } = profile.content(setOf(x, y, z), "u.x", [[0.5, answer, null]]);
  expect(rows.map(([, value]) => Number.parseFloat(value))).toEqual([0.5292, 26.46]);
});

it("asks without wall units once the service has refused them, as of a fluid at rest", async () => {
  const set = setOf(x, y, { ...z, nodes: 10 });
  const scaled = profile.question(set, "u.x", 0.5);
  expect(scaled.units).toBe("plus");
  store.want([{ key: keyOf(set, scaled), load: () => Promise.reject(new Error("no slope")), priority: 1 }]);
  await vi.waitFor(() => expect(profile.question(set, "u.x", 0.5)).not.toHaveProperty("units"));
  const answer = { results: [{ coordinates: { y: [0] }, mean: [0] }] };
  const said = (what: string) => profile.content(set, what, [[0.5, answer, null]]).rows;
  expect([said("u.x"), said("p")]).toEqual([[], []]);
  toggleWallUnits();
  expect([said("u.x"), said("p")]).toEqual([[["No wall units", "no slope"]], [["No wall units", "of u.x only"]]]);
  toggleWallUnits();
});

it("offers no curves of other times beside a picture of one", () => {
  expect(joint.isOfOneTime).toBe(true);
});

it("has wall units of one wall, and neither a half width nor a budget of two halves", () => {
  const set = setOf(x, axisOf("y", ["wall", "open"]), z);
  expect(profile.question(set, "u.x", 0.25)).toMatchObject({ units: "plus" });
  const answer = {
    results: [{ coordinates: { y: [-1, 0, 1] }, mean: [0, 3, 4] }],
    wall_units: { u_tau: 0.5, nu: 0.02, y_plus: [0, 25, 50] },
  };
  expect(profile.content(set, "u.x", [[0.5, answer, null]]).rows.map(([name]) => name)).toEqual([
    "Friction velocity u_τ",
  ]);
  const withPressure = { ...set, fields: [...set.fields, { name: "pressure", components: 1 }] };
  expect(budget.isAvailable?.(withPressure)).toBe(false);
  expect(budget.isAvailable?.({ ...withPressure, axes: [x, y, z] })).toBe(true);
});

it("draws in wall units every time that is chosen, each by its own friction velocity", () => {
  const at = [-1, -0.5, 0, 0.5, 1];
  const answerOf = (u_tau: number, means: readonly number[]) => ({
    results: [{ coordinates: { y: at }, mean: means }],
    wall_units: { u_tau, nu: 0.02, y_plus: at.map((one) => ((1 - Math.abs(one)) * u_tau) / 0.02) },
  });
  const set = setOf(x, y, z);
  toggleWallUnits();
  const facts = profile.content(set, "u.x", [
    [0.5, answerOf(0.5, [0, 3, 4, 3, 0]), "t 0.5"],
    [0, answerOf(0.25, [0, 2, 5, 2, 0]), "t 0"],
  ]);
  toggleWallUnits();
  const [now, before, ...laws] = facts.chart.curves;
  expect(now).toMatchObject({ label: "t 0.5" });
  for (const [curve, points] of [
    [now, [12.5, 6, 25, 8]],
    [before, [6.25, 8, 12.5, 20]],
  ] as const)
    expect(curve?.points.flat()).toEqual(points);
  expect(laws.map(({ label }) => label)).toEqual(["u⁺ = y⁺", "ln y⁺ / 0.41 + 5.2"]);
  expect(facts.rows[0]?.[1]).toBe("0.5000");
});

it.each([
  ["a moving wall", [-1, -0.9, 0], [1, 1, 2, 10]],
  ["a flow against x", [0, -0.1, -1], [1, 1, 2, 10]],
  ["a plane without values", [0, null, 1], [1, Number.NaN, 2, 10]],
])("draws the velocity relative to the wall of %s", (_, means, points) => {
  const answer = {
    results: [{ coordinates: { y: [-1, -0.9, 0, 0.5, 0.9, 1] }, mean: [...means, 4, 5, 1], infinite: [3, 0, 0, 0, 2] }],
    wall_units: { u_tau: 0.1, nu: 0.02, y_plus: [0, 1, 2, 1.5, 1, 0] },
  };
  toggleWallUnits();
  const { chart, rows } = profile.content(setOf(x, y, z), "u.x", [[0.5, answer, null]]);
  toggleWallUnits();
  expect(chart.curves[0]?.points.flat().map((one) => Math.round(1e9 * one) / 1e9)).toEqual(points);
  expect(rows).toContainEqual(["Infinite, not counted", "5 nodes"]);
});
