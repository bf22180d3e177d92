/** What Find finds by typing. */
import { expect, it } from "vitest";
import { axisOf, model, setOf, show } from "./page.js";

const { finder, fitOf } = await import("../finder.js");
const { openFind } = await import("../commands.js");

it.each([
  ["t=2", ["t = 2"]],
  ["t = 2.0", ["t = 2"]],
  ["t = -2.2", ["t = −2.2"]],
  ["t=0.5", []],
  ["vort", ["vorticity"]],
])("finds by %s", (typed, found) => {
  const offered = ["t = −2.2", "t = −0.5", "t = 2", "t = 2.5", "vorticity"];
  expect(offered.filter((one) => fitOf(typed, one) !== null)).toEqual(found);
});

it.each(["t = 0.00001", "t=1e-5", "t = 1.0e-5"])("finds a stored time that is written with a power: %s", (typed) => {
  show(setOf("short", [1e-5, 2e-5]), {});
  openFind();
  const fits = finder.peek()?.items.filter(({ name, words = "" }) => fitOf(typed, name) ?? fitOf(typed, words));
  expect(fits?.map(({ name }) => name)).toEqual(["t = 1·10⁻⁵"]);
});

it.each([
  ["1 2 2.5", [1, 2, 2.5], ""],
  ["1, 9, -2", [1, 3, 2], "Outside of the box, so at its face: y 9."],
  ["0 -1e3 0", [0, 0, 0], "Outside of the box, so at its face: y -1000."],
  ["0 3.0000001 0", [0, 3, 0], ""],
])("puts the crosshair at %s, and says what is outside of the box", (typed, cross, said) => {
  const set = setOf("open", [0]);
  show({ ...set, axes: [axisOf("x"), { ...axisOf("y"), periodic: false, length: 3 }, axisOf("z")] }, {});
  openFind();
  finder.peek()?.typed?.(typed)?.run();
  expect([model.cross.peek(), model.ignoredLinkMembers.peek()]).toEqual([cross, said]);
});
