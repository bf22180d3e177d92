/** Volumes cut into requests: whatever a request may hold, the parts are those samples and no others. */
import { expect, it } from "vitest";
import { boxAxis, boxFacts } from "../../../test/support/box-facts.js";
import type { Volume } from "../../state/api.js";
import { boxAround, clampBox } from "../../state/domain-box.js";
import { initialState } from "../../state/view-state.js";
import { goesAround, joinVolumes, volumeParts, volumeSide } from "../../state/volume.js";

const FACTS = boxFacts({
  axes: [boxAxis("x", 64, 0, 4), boxAxis("y", 64, -1, 2), boxAxis("z", 64, 10, 8)],
  times: { count: 1, first: 0, last: 0, stored: [0], guardBefore: 0, guardAfter: 0 },
});

/** The places along each axis, one list an axis, of the samples of a request. */
function placesOf(path: string): number[][] {
  const query = new URLSearchParams(path.split("?")[1]);
  const list = (name: string) => (query.get(name) ?? "").split(",").map(Number);
  const [origin, extent, nodes] = [list("region.origin"), list("region.extent"), list("nodes")];
  return nodes.map((count, axis) =>
    Array.from({ length: count }, (_, i) => (origin[axis] as number) + ((i + 0.5) * (extent[axis] as number)) / count),
  );
}

it.each([2_000_000, 40_000, 3_000, 1_500, 700])(
  "samples the same places by requests of at most %i points",
  (points) => {
    const state = { ...initialState(FACTS), volume: "32" as const, box: [0, 4, -1, 1, 10, 11] as const };
    const [whole] = volumeParts(state, { ...FACTS, points: 1e9 }, "ux").map(({ path }) => placesOf(path));
    const [nx = 0, ny = 0, nz = 0] = whole?.map(({ length }) => length) ?? [];
    const seen = new Uint8Array(nx * ny * nz);
    const pieces = volumeParts(state, { ...FACTS, points }, "ux");
    for (const { path, from, counts } of pieces) {
      const places = placesOf(path);
      expect(places.map(({ length }) => length)).toEqual([...counts]);
      expect(counts[0] * counts[1] * counts[2]).toBeLessThanOrEqual(points);
      for (const [axis, list] of places.entries()) {
        for (const [i, place] of list.entries()) {
          expect(place).toBeCloseTo(whole?.[axis]?.[(from[axis] as number) + i] as number, 4);
        }
      }
      for (let z = 0; z < counts[2]; z++) {
        for (let y = 0; y < counts[1]; y++) {
          for (let x = 0; x < counts[0]; x++) {
            const at = from[0] + x + nx * (from[1] + y + ny * (from[2] + z));
            seen[at] = (seen[at] as number) + 1;
          }
        }
      }
    }
    expect(seen.every((count) => count === 1)).toBe(true);
    expect(pieces.length).toBeLessThanOrEqual(64);
  },
);

it.each([1, 10, 63, 1_000, 4_096, 2_000_000])("takes as many samples as usual where %i points admit them", (points) => {
  const state = initialState(FACTS);
  const facts = { ...FACTS, points };
  const side = volumeSide(state, facts);
  expect(side).toBeLessThanOrEqual(64);
  const pieces = volumeParts(state, facts, "ux");
  expect(pieces.length).toBeLessThanOrEqual(64);
  for (const { counts } of pieces) expect(counts[0] * counts[1] * counts[2]).toBeLessThanOrEqual(points);
  // No limit makes the volume coarser than its pieces have to be: another layer would take too many of them.
  if (points >= 8_192) expect(side).toBe(64);
  if (points === 1_000) expect(side).toBeGreaterThan(24);
});

it("leaves the refusal of a volume of too many pieces to the service", () => {
  const state = { ...initialState(FACTS), volume: "128" as const };
  expect(volumeParts(state, { ...FACTS, points: 1_000 }, "ux")).toHaveLength(1);
});

it("samples the nodes around a period if they are as many, and the middles of intervals between faces", () => {
  const wall = boxAxis("y", 33, -1, 2, { periodic: false, last: 1, spacing: 2 / 32 });
  const facts = { ...FACTS, axes: [boxAxis("x", 32, 0, 2), wall, boxAxis("z", 16, 5, 2)] as const };
  const state = { ...initialState(facts), volume: "32" as const };
  const [part] = volumeParts(state, facts, "ux");
  const [x = [], y = [], z = []] = placesOf(part?.path ?? "");
  for (let i = 0; i < 32; i++) {
    expect(x[i]).toBeCloseTo(i / 16, 5);
    expect(y[i]).toBeCloseTo(-1 + (i + 0.5) / 16, 5);
    expect(z[i]).toBeCloseTo(5 + i / 16, 5);
  }
  const boxed = volumeParts({ ...state, box: [0, 1, -1, 1, 5, 6] }, facts, "ux");
  expect(placesOf(boxed[0]?.path ?? "")[0]?.[0]).toBeCloseTo(0.02, 5);
  expect([goesAround(state, facts), goesAround({ box: [0, 1, -1, 1, 5, 6] }, facts)]).toEqual([
    [true, false, true],
    [false, false, false],
  ]);
});

it("joins the parts at their places", () => {
  const part = (counts: readonly [number, number, number], value: number): Volume => ({
    axes: (["x", "y", "z"] as const).map((axis, i) => ({ axis, count: counts[i] as number, origin: 0, spacing: 1 })),
    values: new Float32Array(counts[0] * counts[1] * counts[2]).fill(value),
    low: value,
    high: value,
  });
  const pieces = [
    { from: [0, 0, 0], counts: [2, 1, 1] },
    { from: [0, 1, 0], counts: [2, 1, 1] },
    { from: [0, 0, 1], counts: [2, 2, 2] },
  ] as const;
  const joined = joinVolumes(
    pieces,
    pieces.map(({ counts }, i) => part(counts, [3, -1, 7][i] as number)),
  );
  expect(joined.axes.map(({ count }) => count)).toEqual([2, 2, 3]);
  expect([...joined.values]).toEqual([3, 3, -1, -1, ...Array(8).fill(7)]);
  expect([joined.low, joined.high]).toEqual([-1, 7]);
});

it("keeps a part inside the domain, and makes one around a point", () => {
  expect(clampBox([-5, 1, -0.5, 9, 11, 12], FACTS)).toEqual([0, 1, -0.5, 1, 11, 12]);
  expect(clampBox([3, 1, -0.5, 0.5, 11, 12], FACTS)).toBeNull();
  expect(clampBox([-3, -1, -0.5, 0.5, 11, 12], FACTS)).toBeNull();
  expect(boxAround([0.1, 0, 17.5], FACTS)).toEqual([0, 2, -0.5, 0.5, 14, 18]);
});
