/** The error of a point outside the domain names the end of the axis that it passed, and the coordinate. */
import { expect, it } from "vitest";
import { outsideError } from "../../../src/engine/contract/positions.js";
import type { Axes } from "../../../src/kernels/types.js";

const axis = (periodic: boolean) => ({ nodes: 5, origin: -1, spacing: 0.5, periodic, coordinates: null });
const AXES: Axes = [axis(true), axis(false), axis(false)];

it.each([
  [[9, 2.25, 0], "y", "greater than the largest", "1 (given: 2.25)"],
  [[9, -1.5, 1.25], "y", "smaller than the smallest", "-1 (given: -1.5)"],
  [[9, 0, 7], "z", "greater than the largest", "1 (given: 7)"],
])("of %j: the %s value is %s", (point, name, side, end) => {
  const error = outsideError(AXES, Float64Array.from(point), 0, 4);
  expect(error.message).toBe(`The given ${name} value is ${side} allowed grid value for the ${name} dimension: ${end}`);
  expect(error.context.member).toBe(`points[4].${name}`);
});
