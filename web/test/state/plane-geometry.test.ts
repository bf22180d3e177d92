/** Windows of a plane stay inside it, sample it evenly, and zoom and pan about what they show. */
import { describe, expect, it } from "vitest";
import type { DatasetFacts } from "../../state/facts.js";
import {
  clampWindow,
  fittingSide,
  fitWindow,
  isWhole,
  nodeAxis,
  type PlaneWindow,
  panWindow,
  revealPoint,
  sampleWindow,
  sidesOf,
  wholePlane,
  windowAround,
  zoomWindow,
} from "../../state/plane-geometry.js";

const axis = (name: "x" | "y" | "z", first: number, length: number, nodes: number, periodic: boolean) => ({
  ...{ name, nodes, first, last: first + length, length, periodic },
  spacing: nodes === 1 ? 0.5 : length / (periodic ? nodes : nodes - 1),
});
const FACTS = {
  axes: [axis("x", 0, 8, 64, true), axis("y", -1, 2, 33, false), axis("z", 5, 0, 1, false)],
  points: 10_000,
} as unknown as DatasetFacts;
const WHOLE: PlaneWindow = [0, 8, -1, 1];

describe("a window", () => {
  it("of the whole plane spans its axes, and one spacing of a single node", () => {
    expect(sidesOf("y")).toEqual(["x", "z"]);
    expect(wholePlane(FACTS, "z")).toEqual(WHOLE);
    expect(wholePlane(FACTS, "y")).toEqual([0, 8, 4.75, 5.25]);
  });

  it.each([
    [
      [-3, -5, 2, 1],
      [0, 2, -1, 0],
    ],
    [
      [7, 0.5, 2, 1],
      [6, 8, 0, 1],
    ],
    [[2, 0, 20, 9], WHOLE],
    [
      [2, -0.5, 2, 1],
      [2, 4, -0.5, 0.5],
    ],
  ] as const)("at %j is moved inside, or cut to the plane", ([left, bottom, width, height], inside) => {
    expect(clampWindow(WHOLE, left, bottom, width, height)).toEqual(inside);
  });

  it("pans up to the edges and keeps its size", () => {
    expect(panWindow(WHOLE, [2, 4, -0.5, 0.5], 1, -0.25)).toEqual([3, 5, -0.75, 0.25]);
    expect(panWindow(WHOLE, [2, 4, -0.5, 0.5], 9, 9)).toEqual([6, 8, 0, 1]);
  });

  it.each([
    [
      [2, 3, -0.5, 0],
      [2, 1],
      [2, 3, -0.5, 0],
    ],
    [
      [2, 3, -0.5, 0.5],
      [2, 1],
      [1.5, 3.5, -0.5, 0.5],
    ],
    [
      [2, 4, 0, 0.25],
      [2, 1],
      [2, 4, -0.375, 0.625],
    ],
    [
      [0, 1, -1, 1],
      [2, 1],
      [0, 4, -1, 1],
    ],
    [
      [2, 8, -0.5, 0.5],
      [2, 1],
      [2, 8, -1, 1],
    ],
  ] as [PlaneWindow, [number, number], PlaneWindow][])(
    "about %j in a viewport of %j is %j",
    (box, viewport, window) => {
      expect(windowAround(WHOLE, box, viewport)).toEqual(window);
    },
  );

  it("moves to a point outside of it, and stays for one inside or on its edge", () => {
    const window: PlaneWindow = [2, 4, -0.5, 0.5];
    for (const point of [
      [3, 0],
      [2, -0.5],
      [4, 0.5],
    ] as const)
      expect(revealPoint(WHOLE, window, point)).toBe(window);
    expect(revealPoint(WHOLE, window, [6, 0])).toEqual([5, 7, -0.5, 0.5]);
    expect(revealPoint(WHOLE, window, [3, 0.75])).toEqual([2, 4, 0, 1]);
  });

  it("is whole within rounding only", () => {
    expect(isWhole(WHOLE, [0, 8.00005, -1, 1])).toBe(true);
    expect(isWhole(WHOLE, [0, 7.9, -1, 1])).toBe(false);
  });
});

describe("samples", () => {
  it("are nodes of uniform axes, the window moved to the edges between them", () => {
    const { window, counts } = sampleWindow(FACTS, "z", [1, 2, -1, 1], "grid");
    expect(counts).toEqual([9, 33]);
    expect(window).toEqual([0.9375, 2.0625, -1.03125, 1.03125]);
  });

  it.each([
    ["64", [128, 32]],
    ["auto", [199, 49]],
  ])("of %s have square cells, no more than the service admits", (nodes, counts) => {
    expect(sampleWindow({ ...FACTS, points: 9_999 }, "z", WHOLE, nodes).counts).toEqual(
      nodes === "auto" ? [198, 49] : counts,
    );
    expect(sampleWindow(FACTS, "z", WHOLE, nodes).counts).toEqual(nodes === "auto" ? [200, 50] : counts);
  });

  it("of a side fit the points of one request", () => {
    expect([fittingSide({ points: 99 }, 64), fittingSide({ points: 100 }, 64), fittingSide({ points: 0 }, 64)]).toEqual(
      [9, 10, 1],
    );
  });
});

describe("on the screen", () => {
  it("a window is as large as fits, in the middle", () => {
    expect(fitWindow(WHOLE, [800, 240])).toEqual({ left: 0, top: 20, width: 800, height: 200 });
    expect(fitWindow([0, 1, 0, 1], [800, 240])).toEqual({ left: 280, top: 0, width: 240, height: 240 });
  });

  it("a zoom keeps its point in place and ends at the plane and at four cells", () => {
    const near = zoomWindow(FACTS, "z", WHOLE, [800, 200], 2, [2, 0.5]);
    expect(near).toEqual([1, 5, -0.25, 0.75].map(Math.fround));
    expect(zoomWindow(FACTS, "z", near, [800, 200], 0.01, [2, 0.5])).toEqual(WHOLE);
    const [left, right, bottom, top] = zoomWindow(FACTS, "z", WHOLE, [800, 200], 1e6, [4, 0]);
    expect(top - bottom).toBeCloseTo(4 * (2 / 33), 5);
    expect(right - left).toBeCloseTo(16 * (2 / 33), 5);
  });
});

describe("the nodes of a stretched axis", () => {
  const stretched = { ...axis("y", -1, 2, 5, false), coordinates: [-1, -0.75, 0, 0.75, 1] };

  it.each([
    [-1, 1, [-1, -0.75, 0, 0.75, 1]],
    [-0.75, 0.75, [-0.75, 0, 0.75]],
    [-0.7, 0.7, [0]],
    [0.3, 0.5, [0.75]],
  ])("from %d to %d are those between, ends included, or the nearest one", (low, high, coordinates) => {
    expect(nodeAxis(stretched, low, high)).toMatchObject({
      ...{ axis: "y", coordinates },
      ...{ count: coordinates.length, origin: coordinates[0] },
    });
  });
});
