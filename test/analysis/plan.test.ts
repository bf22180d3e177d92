/** Groups are the nodes with the same place on the axes that are kept; nodes keep their weights and numbers. */
import { describe, expect, it } from "vitest";
import type { Extremes } from "../../src/analysis/extremes.js";
import type { Moments } from "../../src/analysis/moments.js";
import { Merged, type ReductionPlan, reducePart } from "../../src/analysis/plan.js";

const EXTENT = [4, 3, 5, 2] as const;
const [NX, NY, NZ] = EXTENT;
/** A value that no two nodes of the region share. */
const valueAt = (x: number, y: number, z: number, t: number) => 1000 * t + 100 * z + 10 * y + x;

function planOf(kept: ReductionPlan["kept"]): ReductionPlan {
  const along = (n: number) => Float64Array.from({ length: n }, (_, i) => i);
  return {
    ...{ columns: ["v"], order: 4, reductions: [{ kind: "moments", of: 0, order: 4 }], names: {} as never },
    ...{ extent: EXTENT, kept, coordinates: [along(NX), along(NY), along(NZ)], periods: [0, 0, 0] },
    ...{ times: [0, 1], weights: [null, null, null], cell: 1 },
  };
}

/** Reduces the region in boxes that do not divide it evenly. */
function reduced(plan: ReductionPlan): Merged {
  const merged = new Merged(plan);
  for (let frame = 0; frame < 2; frame++)
    for (let z = 0; z < NZ; z += 2)
      for (let x = 0; x < NX; x += 3) {
        const [from, count] = [[x, 0, z] as const, [Math.min(3, NX - x), NY, Math.min(2, NZ - z)] as const];
        const column = Float64Array.from({ length: count[0] * count[1] * count[2] }, (_, n) => {
          const row = Math.floor(n / count[0]);
          return valueAt(x + (n % count[0]), row % NY, z + Math.floor(row / NY), frame);
        });
        merged.add(reducePart(plan, { from, count, frame }, [column]));
      }
  return merged;
}

function meansOf(plan: ReductionPlan): readonly (readonly [mean: number, count: number])[] {
  return reduced(plan)
    .states(0)
    .map((state) => [(state as Moments).mean, (state as Moments).count] as const);
}

describe("reducePart", () => {
  it.each([
    [[false, false, false, false]],
    [[true, false, false, false]],
    [[false, true, false, false]],
    [[true, false, true, false]],
    [[false, true, false, true]],
    [[true, true, true, true]],
  ] as const)("groups nodes by the axes kept: %s", (kept) => {
    const groups = new Map<string, number[]>();
    for (let t = 0; t < 2; t++)
      for (let z = 0; z < NZ; z++)
        for (let y = 0; y < NY; y++)
          for (let x = 0; x < NX; x++) {
            const group = [t, z, y, x].map((n, a) => (kept[3 - a] ? n : 0)).join();
            groups.set(group, [...(groups.get(group) ?? []), valueAt(x, y, z, t)]);
          }
    const wanted = [...groups.values()].map((values) => [
      values.reduce((sum, value) => sum + value) / values.length,
      values.length,
    ]);
    const found = meansOf(planOf(kept));
    expect(found.map(([, count]) => count)).toEqual(wanted.map(([, count]) => count));
    for (const [i, [mean]] of found.entries()) expect(mean).toBeCloseTo(wanted[i]?.[0] as number, 9);
  });

  it("weighs nodes by their places on all axes", () => {
    const weights = [NX, NY, NZ].map((n, a) => Float64Array.from({ length: n }, (_, i) => (i + 1) ** a)) as never;
    const found = meansOf({ ...planOf([true, false, false, false]), weights });
    for (const [x, [mean]] of found.entries()) {
      let [sum, weight] = [0, 0];
      for (let t = 0; t < 2; t++)
        for (let z = 0; z < NZ; z++)
          for (let y = 0; y < NY; y++) {
            sum += (y + 1) * (z + 1) ** 2 * valueAt(x, y, z, t);
            weight += (y + 1) * (z + 1) ** 2;
          }
      expect(mean).toBeCloseTo(sum / weight, 9);
    }
  });

  it.each([false, true])("numbers nodes in the region, with planes kept: %s", (planes) => {
    const extremes = { kind: "extremes", of: 0, count: 1, apart: 0 } as const;
    const states = reduced({ ...planOf([false, false, planes, false]), reductions: [extremes] }).states(0);
    const last = ({ highest }: Extremes) => highest[0];
    const node = (z: number) => (z * NY + NY - 1) * NX + NX - 1;
    expect(states.map((state) => last(state as Extremes))).toEqual(
      (planes ? [0, 1, 2, 3, 4] : [4]).map((z) => ({ value: valueAt(3, 2, z, 1), node: node(z), frame: 1 })),
    );
  });
});
