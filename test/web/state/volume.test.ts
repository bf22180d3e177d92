/** Volumes cut into requests: whatever a request may hold, the parts are those samples and no others. */
import { expect, it } from "vitest";
import type { Volume } from "../../../src/web/state/api.js";
import { boxAround, clampBox } from "../../../src/web/state/domain-box.js";
import type { DatasetFacts } from "../../../src/web/state/facts.js";
import { initialState } from "../../../src/web/state/view-state.js";
import { joinVolumes, volumePathsOf } from "../../../src/web/state/volume.js";

const axis = (name: "x" | "y" | "z", first: number, length: number) => ({
  ...{ name, nodes: 64, first, last: first + length, length, spacing: length / 64, periodic: true },
});
const FACTS: DatasetFacts = {
  ...{ name: "box", title: "", aliases: [], digest: "", source: "", warnings: [], units: {}, forcing: "none" },
  axes: [axis("x", 0, 4), axis("y", -1, 2), axis("z", 10, 8)],
  times: { count: 1, first: 0, last: 0, stored: [0], guardBefore: 0, guardAfter: 0 },
  fields: [],
  dnsStep: null,
  operations: [],
  points: 2_000_000,
};

/** First sample, distance and number of samples along each axis of a request. */
function layoutOf(path: string) {
  const query = new URLSearchParams(path.split("?")[1]);
  const list = (name: string) => (query.get(name) ?? "").split(",").map(Number);
  const counts = list("nodes");
  const spacing = list("extent").map((length, i) => length / (counts[i] as number));
  return { counts, spacing, origin: list("origin").map((edge, i) => edge + (spacing[i] as number) / 2) };
}

it.each([2_000_000, 40_000, 6_000])("samples the same places by requests of at most %i points", (points) => {
  const state = { ...initialState(FACTS), volume: "48" as const };
  const [whole] = volumePathsOf(state, { ...FACTS, points: 1e9 }, "ux").map(layoutOf);
  const parts = volumePathsOf(state, { ...FACTS, points }, "ux").map(layoutOf);
  if (whole === undefined) throw new Error("no request");
  const [nx = 0, ny = 0] = whole.counts;
  const heights: number[] = [];
  for (const { counts, origin, spacing } of parts) {
    expect((counts[0] as number) * (counts[1] as number) * (counts[2] as number)).toBeLessThanOrEqual(points);
    expect(counts.slice(0, 2)).toEqual([nx, ny]);
    expect([origin[0], origin[1]]).toEqual([whole.origin[0], whole.origin[1]]);
    heights.push(
      ...Array.from({ length: counts[2] as number }, (_, k) => (origin[2] as number) + k * (spacing[2] as number)),
    );
  }
  expect(heights).toHaveLength(whole.counts[2] as number);
  for (const [k, z] of heights.entries()) {
    expect(z).toBeCloseTo((whole.origin[2] as number) + k * (whole.spacing[2] as number), 4);
    expect(z).toBeGreaterThan(10);
    expect(z).toBeLessThan(18);
  }
});

it("joins the parts in their order", () => {
  const slab = (count: number, value: number): Volume => ({
    axes: (["x", "y", "z"] as const).map((name) => ({
      axis: name,
      count: name === "z" ? count : 2,
      origin: 0,
      spacing: 1,
    })),
    values: new Float32Array(4 * count).fill(value),
    low: value,
    high: value,
  });
  const joined = joinVolumes([slab(1, 3), slab(2, -1)]);
  expect(joined.axes.map(({ count }) => count)).toEqual([2, 2, 3]);
  expect([...joined.values]).toEqual([...Array(4).fill(3), ...Array(8).fill(-1)]);
  expect([joined.low, joined.high]).toEqual([-1, 3]);
});

it("keeps a part inside the domain, and makes one around a point", () => {
  expect(clampBox([-5, 1, -0.5, 9, 11, 12], FACTS)).toEqual([0, 1, -0.5, 1, 11, 12]);
  expect(clampBox([3, 1, -0.5, 0.5, 11, 12], FACTS)).toBeNull();
  expect(clampBox([-3, -1, -0.5, 0.5, 11, 12], FACTS)).toBeNull();
  expect(boxAround([0.1, 0, 17.5], FACTS)).toEqual([0, 2, -0.5, 0.5, 14, 18]);
});
