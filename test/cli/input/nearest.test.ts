/** A mistyped name finds the one that was meant, and nothing where no name is like it. */
import { expect, it } from "vitest";
import { nearest } from "../../../src/cli/input/nearest.js";

const NAMES = ["GetVelocity", "GetPressure", "GetForce", "NullOp"];

it.each([
  ["GetVelocty", "GetVelocity"],
  ["GetPsure", "GetPressure"],
  ["GetForcexyz", "GetForce"],
  ["NullOpwxyz", null],
  ["getpressure", "GetPressure"],
  ["GetForces", "GetForce"],
  ["NulOp", "NullOp"],
  ["GetTemperature", null],
  ["", null],
])("takes %j for %j", (text, meant) => {
  expect(nearest(text, NAMES)).toBe(meant);
});
