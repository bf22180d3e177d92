import { describe, expect, it } from "vitest";
import { pointsIn } from "../state/points.js";

describe("points of a text", () => {
  it.each([
    ["1 2 3", [[1, 2, 3]]],
    [
      "x, y, z\n1,2,3\n\n-4e-1; .5;6\r\n",
      [
        [1, 2, 3],
        [-0.4, 0.5, 6],
      ],
    ],
    ["\t1\t2\t3", [[1, 2, 3]]],
  ])("are read from %j", (text, points) => {
    expect(pointsIn(text, 10)).toEqual({ points, problem: null });
  });

  it.each([
    ["", "There is no point."],
    ["a b c", "There is no point."],
    ["1 2 3\n4 5", "Line 2 should have three numbers: 4 5"],
    ["1 2 3\nx y z", "Line 2 should have three numbers: x y z"],
    ["1 2 3\n4 5 NaN", "Line 2 should have three numbers: 4 5 NaN"],
    ["1 2 3 4", "Line 1 should have three numbers: 1 2 3 4"],
    ["1 2 3\n4 5 6\n7 8 9", "There are more than 2 points."],
  ])("are refused in %j", (text, problem) => {
    expect(pointsIn(text, 2).problem).toBe(problem);
  });
});
