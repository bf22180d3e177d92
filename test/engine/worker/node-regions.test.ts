/**
 * Cutouts in time slices: nodes with strides and over seams, means, and forces in closed form are those of one slice.
 * Searches by an expression: only what is greater than the threshold, as float32.
 */
import { describe, expect, it } from "vitest";
import { cutNodes, searchNodes } from "../../../src/engine/worker/node-regions.js";
import { SumsScratch } from "../../../src/kernels/filter/node-sums.js";
import { taylorGreenForce } from "../../../src/kernels/forcing.js";
import type { Axes } from "../../../src/kernels/types.js";
import { fieldByNode, nodeAt, periodicAxis, rough } from "../../kernels/fields.js";
import { readerOf } from "../../support/isotropic.js";

const AXES: Axes = [periodicAxis(20), periodicAxis(12), periodicAxis(16)];
const FORCING = { kind: "taylorGreen", amplitude: 0.5, wavenumber: 2 } as const;
const REGION = { frame: 0, first: [15, 3, 14], count: [6, 5, 7], stride: [3, 2, 1], width: 1, criterion: "norm" };

function cut(region: object, sliced: boolean): { out: Float32Array; slices: number } {
  const out = new Float32Array(3 * 6 * 5 * 7);
  const task = { region: { ...REGION, ...region }, out, cancel: new Int32Array(1) };
  const fields = { velocity: { components: 3 }, pressure: { components: 1 } };
  const open = { dataset: { axes: AXES, forcing: FORCING, fields }, source: () => null };
  const reader = () => readerOf(fieldByNode(AXES, 3, rough, [8, 8, 8]));
  const sampler = { reader, sumsScratch: new SumsScratch() };
  const run = (progress: object | null) =>
    cutNodes(
      { ...task, ...(progress ? { progress } : {}) } as never,
      open as never,
      sampler as never,
      () => sliced,
      null as never,
    );
  let slices = 1;
  for (let progress = run(null); progress !== null; progress = run(progress)) slices++;
  return { out, slices };
}

/** The value `f` of each component at each node of the region, x fastest. */
function expected(f: (i: number, j: number, k: number, c: number) => number): Float32Array {
  const values: number[] = [];
  for (let k = 0; k < 7; k++) {
    for (let j = 0; j < 5; j++) {
      for (let i = 0; i < 6; i++) for (let c = 0; c < 3; c++) values.push(f(15 + 3 * i, 3 + 2 * j, 14 + k, c));
    }
  }
  return Float32Array.from(values);
}

const stored = (i: number, j: number, k: number, c: number): number => rough(i % 20, j % 12, k % 16, c);

describe.each([false, true])("a cutout, in a slice for every plane: %s", (sliced) => {
  it("takes every so many nodes, over the seams", () => {
    const { out, slices } = cut({ field: "velocity" }, sliced);
    expect(out).toEqual(expected(stored));
    expect(slices).toBe(sliced ? 7 : 1);
  });

  it("evaluates a force in closed form at coordinates that are float32", () => {
    const { out, slices } = cut({ field: "force" }, sliced);
    const force = new Float64Array(3);
    const value = (i: number, j: number, k: number, c: number): number => {
      const at = [i, j, k].map((node, a) => Math.fround(nodeAt(AXES[a as 0 | 1 | 2], node)));
      taylorGreenForce(AXES, 0.5, 2, Float64Array.from(at), 1, force);
      return force[c] as number;
    };
    expect(out).toEqual(expected(value));
    expect(slices).toBe(sliced ? 7 : 1);
  });
});

it("means over cubes around nodes", () => {
  const { out } = cut({ field: "velocity", width: 3 }, true);
  const mean = (i: number, j: number, k: number, c: number): number => {
    let sum = 0;
    for (let n = 0; n < 27; n++) {
      sum += Math.fround(stored(i - 1 + (n % 3), j - 1 + (Math.floor(n / 3) % 3), k - 1 + Math.floor(n / 9), c));
    }
    return sum / 27;
  };
  expected(mean).forEach((value, i) => {
    expect(out[i]).toBeCloseTo(value, 6);
  });
});

describe("a search by an expression", () => {
  const search = (values: readonly number[]) => {
    const region = { frame: 0, first: [4, 5, 6], count: [2, 2, 1], criterion: { expression: "p" } };
    const task = { region, threshold: 0.5, method: "None_Fd4", most: 10, cancel: new Int32Array(1) };
    const dataset = { time: { values: [0] }, fields: {}, forcing: { kind: "none" } };
    const reductions = { evaluate: () => [Float64Array.from(values)] };
    return searchNodes(task as never, { dataset } as never, null as never, reductions as never);
  };

  it("takes nodes above the threshold, and none that equals it as float32", () => {
    const { count, unknown, nodes, values } = search([0.5, 0.5 + 1e-9, 0.75, 7]);
    expect({ count, unknown, nodes: [...nodes.subarray(0, 6)], values: [...values.subarray(0, 2)] }).toEqual({
      ...{ count: 2, unknown: 0, values: [0.75, 7] },
      nodes: [4, 6, 6, 5, 6, 6],
    });
  });

  it("refuses values on neither side of the threshold", () => {
    expect(() => search([1, Number.NaN, 1, Number.NaN])).toThrow(/^Some values in the box are missing/);
  });
});
