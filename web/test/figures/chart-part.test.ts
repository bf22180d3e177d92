/** Charts in files: gaps break a curve, and a value between two gaps is drawn too. */
import { expect, it } from "vitest";
import { chartPart } from "../../figures/chart-part.js";

/** The steps of the first curve, each a letter and a place. */
function stepsOf(y: readonly number[], log: boolean | "up"): string[] {
  const shown = { x: y.map((_, i) => i), curves: [{ name: "density", y }], xLabel: "x", yLabel: "y", mark: null, log };
  const [, path = ""] = /<path d="([^"]*)" fill="none"/.exec(chartPart(shown).svg) ?? [];
  return path.match(/[ML][^ML]*/g) ?? [];
}

it("draws a value between gaps as a short line about its place", () => {
  const steps = stepsOf([1, 2, Number.NaN, 3, Number.NaN, 2, 1], false);
  expect(steps.map(([letter]) => letter).join("")).toBe("MLMLML");
  const [from = [], to = []] = steps.slice(2, 4).map((step) => step.slice(1).split(" ").map(Number));
  expect([((from[0] as number) + (to[0] as number)) / 2, from[1]]).toEqual([76 + 664 / 2, 14]);
  expect(to[1]).toBe(from[1]);
});

it("has decades equally far apart on a logarithmic axis up, and leaves out zeros", () => {
  const steps = stepsOf([1, 10, 100, 0, 100], "up");
  expect(steps.slice(0, 3).map((step) => Number(step.split(" ")[1]))).toEqual([344, 179, 14]);
  expect(steps).toHaveLength(5);
});
