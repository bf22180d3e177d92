/** What Find finds by typing. */
import { expect, it } from "vitest";
import "./page.js";

const { fitOf } = await import("../finder.js");

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
