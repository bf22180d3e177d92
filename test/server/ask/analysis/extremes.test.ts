/** Extremes that must be apart are those that a search through all nodes finds, however the region is divided. */
import { describe, expect, it } from "vitest";
import { Merged, type PartBox, reducePart } from "../../../../src/analysis/plan.js";
import type { Dataset } from "../../../../src/engine/contract/dataset.js";
import { keptAxes, reductionOf, regionNodes, regrouped } from "../../../../src/server/ask/analysis/analysed-nodes.js";
import type { Analysis } from "../../../../src/server/ask/analysis/analysis.js";
import { computeReductions } from "../../../../src/server/ask/analysis/reductions.js";
import { randomNumbers } from "../../../support/simd-memory.js";

const N = 24;
const axis = { nodes: N, origin: 0, spacing: 1, periodic: true, coordinates: null };
const dataset = {
  name: "cube",
  axes: [axis, axis, { ...axis, periodic: false }],
  time: { origin: 0, step: 1, count: 1, values: null, guardBefore: 0, guardAfter: 0 },
  fields: { velocity: {} },
  ...{ units: {}, forcing: { kind: "none" } },
} as unknown as Dataset;

interface Found {
  readonly value: number;
  readonly at: readonly number[];
}

/** Runs extremes of values at the nodes, reduced in parts of some nodes along each axis. */
async function extremes(
  values: Float64Array,
  edge: number,
  asked: object,
  over: ("x" | "y" | "z")[] = ["x", "y", "z"],
) {
  let passes = 0;
  const reduce: Analysis["reduce"] = async (nodes, parts) => {
    passes++;
    const { plan } = reductionOf(nodes, parts);
    const merged = new Merged(plan);
    const starts = Array.from({ length: Math.ceil(N / edge) }, (_, i) => i * edge);
    for (const z of starts)
      for (const y of starts)
        for (const x of starts) {
          const from = [x, y, z] as const;
          const count = from.map((first) => Math.min(edge, N - first)) as unknown as PartBox["count"];
          const column = new Float64Array(count[0] * count[1] * count[2]);
          for (let i = 0; i < column.length; i++) {
            const [a, b, c] = [i % count[0], Math.floor(i / count[0]) % count[1], Math.floor(i / count[0] / count[1])];
            column[i] = values[((z + c) * N + y + b) * N + x + a] as number;
          }
          merged.add(reducePart(plan, { from, count, frame: 0 }, [column]));
        }
    return merged;
  };
  const each = async (count: number, use: (from: number, to: number) => void) => use(0, count);
  const slices = { each, pause: async () => undefined };
  const nodes = regrouped(regionNodes({}, dataset, [0]), keptAxes(over, 1));
  const analysis = { reduce, slices, nodes, dataset, maxNumbers: 1e6 } as unknown as Analysis;
  const plainly = { fold: null, onlyNamed: new Set<never>(), members: [] };
  const { results } = await computeReductions([{ extremes: "x", ...asked }], analysis, plainly);
  const [{ highest, lowest }] = results as [{ highest: Found[]; lowest: Found[] }];
  return { highest, lowest, passes };
}

/** The extremes by their definition: from the most extreme value on, each that is not close to one before. */
function searched(
  values: Float64Array,
  sign: 1 | -1,
  count: number,
  apart: number,
  keep = (_: number) => true,
): Found[] {
  const placeOf = (node: number) => [node % N, Math.floor(node / N) % N, Math.floor(node / N ** 2)];
  const nodes = [...values.keys()].filter(keep).sort((a, b) => {
    const [left, right] = [values[a] as number, values[b] as number];
    return sign * (right - left) || a - b;
  });
  const picked: Found[] = [];
  for (const node of nodes) {
    if (picked.length === count) break;
    const at = placeOf(node);
    const isClose = picked.some((other) => {
      const d = other.at.map((place, a) => Math.abs(place - (at[a] as number)));
      return Math.hypot(...d.map((one, a) => (a < 2 ? Math.min(one, N - one) : one))) < apart;
    });
    if (!isClose) picked.push({ value: values[node] as number, at });
  }
  return picked;
}

const strip = (list: readonly Found[]) => list.map(({ value, at }) => ({ value, at: [...at] }));
const random = randomNumbers(20261124);
const rough = Float64Array.from({ length: N ** 3 }, () => random() - 0.5);
const smooth = rough.map((_, i) => {
  const [x, y, z] = [i % N, Math.floor(i / N) % N, Math.floor(i / N ** 2)];
  return Math.sin((2 * Math.PI * x) / N) + Math.cos((4 * Math.PI * y) / N + 1) - ((z - 11) / 12) ** 2;
});
const steps = smooth.map((value) => Math.round(2 * value));

describe.each([
  ["rough", rough],
  ["smooth", smooth],
  ["with many equal values", steps],
])("extremes of values that are %s", (_, values) => {
  it.each([
    [5, 0],
    [12, 3],
    [40, 6.5],
    [9, 14],
    [120, 2],
  ])("are the %i of a search, at least %d apart, in parts of any size", async (count, apart) => {
    for (const edge of [24, 9]) {
      const { highest, lowest } = await extremes(values, edge, { count, apart });
      expect(strip(highest)).toEqual(searched(values, 1, count, apart));
      expect(strip(lowest)).toEqual(searched(values, -1, count, apart));
    }
  });
});

describe("extremes of groups", () => {
  it("are apart within their group only", async () => {
    const { highest } = await extremes(smooth, 9, { count: 3, apart: 5 }, ["x", "y"]);
    for (const [z, list] of (highest as unknown as Found[][]).entries()) {
      const expected = searched(smooth, 1, 3, 5, (node) => Math.floor(node / N ** 2) === z);
      expect(strip(list)).toEqual(expected);
    }
  });

  it("take one pass unless candidates run out", async () => {
    expect((await extremes(smooth, 9, { count: 7, apart: 0 })).passes).toBe(1);
    expect((await extremes(rough, 9, { count: 12, apart: 3 })).passes).toBe(1);
    expect((await extremes(smooth, 9, { count: 9, apart: 14 })).passes).toBeGreaterThan(1);
  });
});
