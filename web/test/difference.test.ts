/** A − B is asked at the same samples of both datasets, at the finer nodes, over what their boxes have in common. */
import { expect, it, vi } from "vitest";
import { type Axis, type Dataset, sharedAxes } from "../state/dataset.js";

for (const name of ["matchMedia", "addEventListener"])
  vi.stubGlobal(name, () => ({ matches: false, addEventListener: () => undefined }));
vi.stubGlobal("location", { hash: "", pathname: "/", search: "", origin: "http://a" });
vi.stubGlobal("history", { replaceState: () => undefined });
vi.stubGlobal("window", globalThis);
vi.stubGlobal("document", { createTreeWalker: () => ({}) });
const { dataset, secondDataset, view } = await import("../state/view.js");
const { pixel, planOf } = await import("../state/picture-plan.js");

const axisOf = (name: Axis["name"], nodes: number, first: number, length: number, periodic: boolean): Axis => {
  const spacing = length / (periodic ? nodes : nodes - 1);
  return { name, nodes, first, last: periodic ? first + length - spacing : first + length, length, spacing, periodic };
};
const setOf = (name: string, ...axes: readonly Axis[]) =>
  ({
    ...{ name, axes, digest: name, times: [0, 1], fields: [{ name: "pressure", components: 1 }] },
  }) as unknown as Dataset;
const z = axisOf("z", 8, 0, 4, true);
const A = setOf("a", axisOf("x", 24, 0, 6, true), axisOf("y", 13, 0, 3, false), z);
const B = setOf("b", axisOf("x", 36, -3, 6, true), axisOf("y", 21, 1, 4, false), z);

/** The plans of A and of B, in a view as wide as `window`. */
function plans(window: number, compare: "difference" | "side" = "difference") {
  dataset.value = A;
  secondDataset.value = B;
  pixel.value = window / 400;
  const place = [1, 2, 3] as const;
  const now = { ...view.peek(), ...{ dataset: "a", what: "p", time: 1, show: "compare" as const, compare, b: {} } };
  view.value = { ...now, cross: place, centre: place };
  return [planOf(view.value, "z"), planOf(view.value, "z", true)].map((plan) => plan as NonNullable<typeof plan>);
}

/** Samples of a plan along a side, in the coordinates of the picture. */
const placesOf = ({ box, tiles, ...plan }: ReturnType<typeof plans>[0], side: 0 | 1) => {
  const n = [plan.columns, plan.rows][side] as number;
  return Array.from(
    { length: n },
    (_, i) => box[side] + ((i + (tiles[side] ? 0 : 0.5)) * (box[side + 2] as number)) / n,
  );
};

it.each([20, 1.2])("are the same samples of both in a view of %d", (window) => {
  const [a, b] = plans(window) as [ReturnType<typeof plans>[0], ReturnType<typeof plans>[0]];
  const { dataset: _, ...askedOfA } = a.question;
  const { dataset: __, ...askedOfB } = b.question;
  expect(askedOfA).toEqual(askedOfB);
  expect([a.box, a.tiles, a.columns]).toEqual([b.box, b.tiles, b.columns]);
  // The service answers ranges at the middles of equal intervals.
  for (const [side, name] of (["x", "y"] as const).entries()) {
    const [from, to] = String(a.question[name]).split(":").map(Number) as [number, number];
    const places = placesOf(a, side as 0 | 1);
    for (const [i, place] of places.entries())
      expect(place).toBeCloseTo(from + ((i + 0.5) * (to - from)) / places.length);
    if (name === "y") expect(Math.min(...places)).toBeGreaterThan(1);
    if (name === "y") expect(Math.max(...places)).toBeLessThan(3);
  }
});

it("leaves the pictures of A and of B side by side as they are", () => {
  const [a, b] = plans(20, "side") as [ReturnType<typeof plans>[0], ReturnType<typeof plans>[0]];
  expect([a.question.x, a.question.y, b.question.y]).toEqual([undefined, undefined, undefined]);
});

it("has the finer nodes of what boxes have in common, and none of boxes apart", () => {
  const [x, y, same] = sharedAxes(A, B) as Dataset["axes"];
  expect([x.nodes, x.periodic, x.length]).toEqual([36, true, 6]);
  expect([y.first, y.last, y.periodic, y.nodes]).toEqual([1, 3, false, 11]);
  expect(same).toBe(z);
  expect(sharedAxes(A, setOf("c", A.axes[0], axisOf("y", 5, 3.5, 1, false), z))).toBeNull();
});
