/** Thresholds: published answers, agreement with differences at nodes, parts, NaN, limits and sorting. */
import { describe, expect, it } from "vitest";
import { createScheme } from "../../src/kernels/index.js";
import { invariantsOf, secondInvariantOf, vorticityOf } from "../../src/kernels/invariant.js";
import {
  createHits,
  createThresholdSearch,
  type Hits,
  sortHits,
  type ThresholdQuantity,
} from "../../src/kernels/threshold.js";
import type { Axes, BrickField, Triple } from "../../src/kernels/types.js";
import { readerOf, readTurbulence } from "../support/isotropic.js";
import { cosineAxis, endedAxis, fieldByNode, nodeAt, periodicAxis, rough, valuesAt } from "./fields.js";

const turbulence = await readTurbulence(0.4);

interface Hit {
  readonly node: Triple;
  readonly value: number;
}

function sorted(hits: Hits): Hit[] {
  return [...sortHits(hits, hits.count)].map((i) => ({
    node: [...hits.nodes.subarray(3 * i, 3 * i + 3)] as unknown as Triple,
    value: hits.values[i] as number,
  }));
}

function search(
  axes: Axes,
  field: BrickField,
  quantity: ThresholdQuantity,
  threshold: number,
  start: Triple = [0, 0, 0],
  length = axes.map(({ nodes }) => nodes) as unknown as Triple,
): Hits {
  const hits = createHits(2 ** 20);
  createThresholdSearch(axes, quantity).search(readerOf(field), 0, start, length, threshold, hits);
  return hits;
}

describe("on the shipped turbulence", () => {
  it.each([
    [{ kind: "vorticity", order: 4 }, 1.5, 59, "3 8 3 2.103288 2 8 3 2.097415 2 8 4 2.092661 3 8 2 2.030399"],
    [{ kind: "q", order: 4 }, 0.5, 56, "3 8 3 1.027046 2 8 3 0.983172"],
    [{ kind: "norm", size: 3 }, 1, 23, "1 1 8 1.132098 2 1 8 1.110986"],
  ] as const)("finds the published nodes of %j above %d", (quantity, threshold, count, printed) => {
    const hits = sorted(search(turbulence.axes, turbulence.velocity, quantity, threshold, [0, 0, 0], [8, 8, 8]));
    expect(hits).toHaveLength(count);
    const found = hits.flatMap(({ node, value }) => [...node.map((i) => i + 1), value]);
    const expected = printed.split(" ").map(Number);
    expected.forEach((value, i) => {
      expect(Math.abs((found[i] as number) - value), `number ${i}`).toBeLessThan(1e-6);
    });
  });
});

const GRIDS: readonly (readonly [string, Axes])[] = [
  ["periodic", [periodicAxis(37), periodicAxis(11, 3), periodicAxis(34, 5)]],
  ["channel", [periodicAxis(12), cosineAxis(40), periodicAxis(10)]],
  ["cutout", [endedAxis(13, 2), endedAxis(35, 3), endedAxis(12, 1)]],
];

describe.each(GRIDS)("on a %s grid", (_name, axes) => {
  const field = fieldByNode(axes, 3, (i, j, k, c) => Math.fround(rough(i, j, k, c)), [7, 6, 9]);
  const nodes: Triple[] = [];
  for (let k = 0; k < axes[2].nodes; k++)
    for (let j = 0; j < axes[1].nodes; j++) for (let i = 0; i < axes[0].nodes; i++) nodes.push([i, j, k]);
  const positions = nodes.map((node) => axes.map((axis, a) => nodeAt(axis, node[a] as number)) as unknown as Triple);

  it.each([4, 6, 8] as const)("values are those of the gradient by None_Fd%d at the nodes", (order) => {
    const gradients = valuesAt(
      createScheme("velocityGradient", `None_Fd${order}`, axes, { fd8Legacy: false }),
      [field],
      positions,
    );
    for (const [kind, of] of [
      ["vorticity", vorticityOf],
      ["q", secondInvariantOf],
    ] as const) {
      const values = gradients.map((gradient) => Math.fround(of(gradient, 0)));
      const threshold = [...values].sort((a, b) => a - b)[Math.floor(0.8 * values.length)] as number;
      const expected = nodes.flatMap((node, i) =>
        (values[i] as number) > threshold ? [{ node, value: values[i] as number }] : [],
      );
      const hits = search(axes, field, { kind, order }, threshold);
      expect(hits.unknown).toBe(0);
      const found = new Map(sorted(hits).map(({ node, value }) => [node.join(), value]));
      expect(found.size).toBe(expected.length);
      for (const { node, value } of expected) expect(found.get(node.join()), node.join()).toBe(value);
    }
  });

  it("a box in parts gives what the whole gives", () => {
    const quantity = { kind: "vorticity", order: 6 } as const;
    const whole = sorted(search(axes, field, quantity, 5));
    const [nx, ny, nz] = axes.map((axis) => axis.nodes) as [number, number, number];
    const parts = createHits(2 ** 20);
    const threshold = createThresholdSearch(axes, quantity);
    for (const [x, width] of [
      [0, 5],
      [5, nx - 5],
    ] as const) {
      for (const [z, depth] of [
        [0, 9],
        [9, nz - 9],
      ] as const)
        threshold.search(readerOf(field), 0, [x, 0, z], [width, ny, depth], 5, parts);
    }
    expect(sorted(parts)).toEqual(whole);
    expect(whole.length).toBeGreaterThan(100);
  });
});

it("counts nodes whose value is not a number, and those for which there is no room", () => {
  const [, axes] = GRIDS[0] as readonly [string, Axes];
  const field = fieldByNode(axes, 3, (i, j, k, c) =>
    i === 20 && j === 5 && k === 6 && c === 1 ? Number.NaN : rough(i, j, k, c),
  );
  // The node itself is in the stencil of none of its own derivatives; its neighbours on each axis are.
  expect(search(axes, field, { kind: "q", order: 4 }, 0).unknown).toBe(12);
  expect(search(axes, field, { kind: "norm", size: 3 }, 0).unknown).toBe(1);
  const few = createHits(10);
  createThresholdSearch(axes, { kind: "norm", size: 3 }).search(readerOf(field), 0, [0, 0, 0], [10, 10, 10], -1, few);
  expect(few.count).toBe(1000);
  expect(few.values).toHaveLength(10);
});

it("takes the magnitude of scalars, and only what is greater as float32", () => {
  const axes: Axes = [periodicAxis(8), periodicAxis(8), periodicAxis(8)];
  const field = fieldByNode(axes, 1, (i) => -i);
  const hits = sorted(search(axes, field, { kind: "norm", size: 1 }, 6));
  expect(hits).toHaveLength(64);
  expect(hits.every(({ node, value }) => node[0] === 7 && value === 7)).toBe(true);
});

it("sorts from large to small, negative numbers too, and equal values by node", () => {
  const values = Float32Array.of(-1, 3, -0.5, 3, 0, 3, 1e-30, -1e30);
  const nodes = Int32Array.from([0, 0, 0, 5, 1, 2, 0, 0, 0, 4, 1, 2, 0, 0, 0, 9, 9, 1, 0, 0, 0, 0, 0, 0]);
  expect([...sortHits({ nodes, values }, 8)]).toEqual([5, 3, 1, 6, 4, 2, 0, 7]);
});

it("invariants are squared strain and rotation, half their difference, and Q where the trace vanishes", () => {
  const gradient = [0.3, 1.1, -0.4, 0.7, 0.5, 0.2, -1.3, 0.6, -0.8];
  const out = new Float64Array(3);
  invariantsOf(gradient, 0, out, 0);
  let [strain, rotation] = [0, 0];
  for (let i = 0; i < 3; i++) {
    for (let j = 0; j < 3; j++) {
      const [a, b] = [gradient[3 * i + j] as number, gradient[3 * j + i] as number];
      strain += ((a + b) / 2) ** 2;
      rotation += ((a - b) / 2) ** 2;
    }
  }
  [strain, rotation, (rotation - strain) / 2].forEach((value, i) => {
    expect(out[i]).toBeCloseTo(value, 14);
  });
  expect(secondInvariantOf(gradient, 0)).toBeCloseTo((rotation - strain) / 2, 14);
});

it("invariants on the shipped turbulence are the published ones", async () => {
  const { axes, velocity } = await readTurbulence(0.4);
  const scheme = createScheme("velocityGradient", "Fd4Lag4", axes, { fd8Legacy: false });
  const out = new Float64Array(3);
  invariantsOf(valuesAt(scheme, [velocity], [[1, 2, 3]])[0] as number[], 0, out, 0);
  [2.4590163, 1.9827752, -0.2381206].forEach((value, i) => {
    expect(Math.abs((out[i] as number) - value)).toBeLessThan(1e-6);
  });
});
