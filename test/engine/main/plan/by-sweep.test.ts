/** A query is swept if it reads stored frames that do not fit the cache together; several are combined. */
import { describe, expect, it } from "vitest";
import type { BatchTask, SortTask } from "../../../../src/engine/contract/task.js";
import { BufferPool } from "../../../../src/engine/main/buffers.js";
import { checkQuery } from "../../../../src/engine/main/check-query.js";
import { exceedsCache, planBySweep } from "../../../../src/engine/main/plan/by-sweep.js";
import type { Plan, PlanContext } from "../../../../src/engine/main/plan/plan.js";
import type { Dataset } from "../../../../src/storage/dataset/dataset.js";

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
  dataset: "flow",
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

function moving(files: readonly object[]): Dataset {
  return {
    axes: [axis, axis, axis],
    time: { count: 8, origin: 0, step: 1, values: null, guardBefore: 0, guardAfter: 0 },
    fields: { velocity: { components: 3, bricking: { edge: [16, 16, 16], count: [4, 4, 4] }, parts: [] } },
    frameVelocity: [0, 0, 0],
    files,
  } as unknown as Dataset;
}

function firstBatch(dataset: Dataset): BatchTask {
  const query = { ...QUERY, operation: "GetVelocity", time: 3.5, temporalInterpolation: "PCHIP" } as const;
  const points = { count: 128, slabs: [{ triples: new Float32Array(384), count: 128 }] };
  const plan = planBySweep(
    {
      checked: checkQuery(query, () => dataset),
      points,
      velocities: { count: 0, slabs: [] },
      buffers: new BufferPool(),
      parallelism: 2,
      source: 0,
      numberCombination: () => -100,
      mostValues: 1 << 20,
      cancel: new Int32Array(1),
    } as unknown as PlanContext,
    6 * MIB,
  ) as Plan;
  const { arranged } = plan.next(true, 0) as SortTask;
  arranged[0] = 1;
  return plan.next(true, 0) as BatchTask;
}

describe("planBySweep", () => {
  it("combines frames of files and of stores", () => {
    const file = { path: "/data/a.h5", bytes: 1, modifiedMs: 0, inode: 1 };
    expect(firstBatch(moving([file])).combined).toBeDefined();
    expect(firstBatch(moving([{ ...file, newestMs: 0 }])).combined).toBeDefined();
  });
});
