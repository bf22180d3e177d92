import { describe, expect, it } from "vitest";
import { placementFigures } from "../../../bench/cluster-model.js";
import { holders, place, SLOTS, shares, slotOf } from "../../../src/cluster/gateway/placement.js";

const names = (count: number): string[] => Array.from({ length: count }, (_, i) => `worker-${i}`);

describe("placement", () => {
  it.each([1, 2, 3, 5, 16, 128])("puts each slot on two different nodes of %i, evenly", (count) => {
    const placement = place(names(count), 2);
    const width = Math.min(2, count);
    for (let slot = 0; slot < SLOTS; slot++) expect(new Set(holders(placement, slot)).size).toBe(width);
    const loads = [...shares(placement).values()];
    expect(loads.reduce((sum, load) => sum + load, 0)).toBe(width * SLOTS);
    expect(Math.max(...loads)).toBeLessThanOrEqual((1.2 * width * SLOTS) / count);
    expect(Math.min(...loads)).toBeGreaterThanOrEqual(32);
  });

  it("depends on the names alone, not on their order", () => {
    expect(place(names(9).toReversed(), 2)).toEqual(place(names(9), 2));
  });

  it("moves little more than a lost node's share, and the same back", () => {
    const { moved, maxToMean } = placementFigures(128, 2);
    expect(moved).toBeGreaterThan(0.5 / 128);
    expect(moved).toBeLessThanOrEqual(0.012);
    expect(maxToMean).toBeLessThanOrEqual(1.2);
  });

  it("sends neighbouring ranges, chunks and datasets to unrelated slots", () => {
    const slots = new Set<number>();
    for (let range = 0; range < 20; range++)
      for (let chunk = 0; chunk < 10; chunk++) for (const dataset of [1, 2]) slots.add(slotOf(dataset, chunk, range));
    // 400 draws from 4096 leave about 381 different ones.
    expect(slots.size).toBeGreaterThan(360);
  });
});
