/** Parts in the order of a sweep: each once, and few reads of bricks by a least-recently-used cache. */
import { describe, expect, it } from "vitest";
import { partsOf } from "../../../../src/analysis/parts.js";
import type { ReductionPlan } from "../../../../src/analysis/plan.js";
import type { NodeRegion } from "../../../../src/engine/contract/node-region.js";
import { placesInSweep } from "../../../../src/engine/main/plan/parts-in-sweep.js";
import type { Dataset } from "../../../../src/storage/dataset/dataset.js";

type Three = readonly [number, number, number];
const cube = (n: number): Three => [n, n, n];

/** Nodes beyond a part that differences of order four read. */
const REACH = 2;

interface Case {
  readonly nodes: Three;
  readonly edge: Three;
  readonly cacheMiB: number;
}

/** A reduction of gradients over a whole periodic frame. */
function setting({ nodes, edge, cacheMiB }: Case) {
  const count = nodes.map((n, a) => n / (edge[a] as number)) as unknown as Three;
  const plan = {
    columns: ["tr(A)"],
    names: { fields: { velocity: 3 } },
    extent: [...nodes, 1],
    reductions: [],
    kept: [],
  };
  const axes = nodes.map((n) => ({ nodes: n, periodic: true }));
  const dataset = { axes, fields: { velocity: { components: 3, bricking: { edge, count } } } } as unknown as Dataset;
  const region = { first: [0, 0, 0], count: nodes, stride: [1, 1, 1] } as unknown as NodeRegion;
  const parts = partsOf(plan as unknown as ReductionPlan);
  const places = Array.from({ length: parts.total }, (_, place) => place);
  const cache = cacheMiB * 2 ** 20;
  const order = placesInSweep(places, parts, plan as unknown as ReductionPlan, region, dataset, cache);
  return { count, parts, places, order, room: Math.floor(cache / (12 * edge[0] * edge[1] * edge[2])) };
}

function reads(one: Case): number {
  const { count, parts, order, room } = setting(one);
  const held = new Set<number>();
  let read = 0;
  const along = (from: number, length: number, a: number): number[] => {
    const edge = one.edge[a] as number;
    const n = count[a] as number;
    const [low, high] = [Math.floor((from - REACH) / edge), Math.floor((from + length - 1 + REACH) / edge)];
    const found = Array.from({ length: high - low + 1 }, (_, i) => (low + i + n) % n);
    return [...new Set(found)];
  };
  for (const place of order) {
    const { from, count: size } = parts.at(place);
    const [xs, ys, zs] = [0, 1, 2].map((a) => along(from[a] as number, size[a] as number, a)) as [
      number[],
      number[],
      number[],
    ];
    for (const z of zs)
      for (const y of ys)
        for (const x of xs) {
          const brick = (z * count[1] + y) * count[0] + x;
          if (!held.delete(brick)) read++;
          held.add(brick);
          if (held.size > room) held.delete(held.values().next().value as number);
        }
  }
  return read / (count[0] * count[1] * count[2]);
}

describe("placesInSweep", () => {
  it.each([
    { nodes: cube(1024), edge: cube(32), cacheMiB: 512, most: 1.26 },
    { nodes: cube(1024), edge: [64, 32, 32], cacheMiB: 512, most: 1.26 },
    { nodes: cube(512), edge: cube(32), cacheMiB: 512, most: 1.13 },
    { nodes: cube(256), edge: cube(32), cacheMiB: 96, most: 1.25 },
    // In the order of their merging these parts read 3.8, 4.3 and 3.3 times the frame.
    { nodes: cube(1024), edge: cube(32), cacheMiB: 256, most: 1.5 },
    { nodes: cube(512), edge: cube(64), cacheMiB: 256, most: 2.4 },
    { nodes: cube(256), edge: cube(32), cacheMiB: 48, most: 2.4 },
  ] as const)("reads $nodes nodes in bricks of $edge at most $most times with $cacheMiB MiB", ({ most, ...one }) => {
    expect(reads(one)).toBeLessThanOrEqual(most);
  });

  it("has every part once", () => {
    const { order, places } = setting({ nodes: [192, 256, 320], edge: cube(32), cacheMiB: 8 });
    expect(order).not.toEqual(places);
    expect([...order].sort((a, b) => a - b)).toEqual(places);
  });

  it("keeps the order of merging if the cache holds the field", () => {
    const { order, places } = setting({ nodes: cube(128), edge: cube(32), cacheMiB: 24 });
    expect(order).toBe(places);
  });
});
