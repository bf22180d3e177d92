/** A query is swept if it reads stored frames that do not fit the cache together. */
import { describe, expect, it } from "vitest";
import { checkQuery } from "../../../src/engine/check-query.js";
import { exceedsCache } from "../../../src/engine/plan/by-sweep.js";
import type { Dataset } from "../../../src/storage/dataset.js";

const MIB = 1024 * 1024;
const axis = { nodes: 64, origin: 0, spacing: 1, periodic: true, coordinates: null };

/** A snapshot of a force of 3 MiB, which is either what drives the flow or not. */
function forced(kind: "stored" | "taylorGreen"): Dataset {
  return {
    axes: [axis, axis, axis],
    time: { count: 1, origin: 0, step: 1, values: null, guardBefore: 0, guardAfter: 0 },
    fields: { force: { components: 3, bricking: { edge: [16, 16, 16], count: [4, 4, 4] }, parts: [] } },
    forcing: { kind, amplitude: 1, wavenumber: 1 },
  } as unknown as Dataset;
}

const QUERY = {
  operation: "GetForce",
  dataset: "",
  time: 0,
  spatialInterpolation: "Lag4",
  temporalInterpolation: "None",
} as const;

describe("exceedsCache", () => {
  it("compares the stored frames with the cache", () => {
    const checked = checkQuery(QUERY, () => forced("stored"));
    expect([2, 3].map((mib) => exceedsCache(checked, mib * MIB))).toEqual([true, false]);
  });

  it("knows that a force in closed form reads none, though the dataset stores one too", () => {
    const checked = checkQuery(QUERY, () => forced("taylorGreen"));
    expect(exceedsCache(checked, MIB)).toBe(false);
  });
});
