/** Sorting by brick: a stable permutation, bricks together, neighbours together, every size of grid. */
import { describe, expect, it } from "vitest";
import { sortByBrick, sortTables } from "../../src/kernels/brick-order.js";
import type { Axes, Triple } from "../../src/kernels/types.js";
import { fc } from "../support/property.js";
import { brickingOf, cosineAxis, endedAxis, periodicAxis } from "./fields.js";

function sorted(axes: Axes, edge: Triple, points: readonly Triple[]): number[] {
  const count = points.length;
  const keys = new Uint32Array(2 * count);
  const order = new Uint32Array(2 * count);
  const positions = Float64Array.from(points.flat());
  const moved = new Float64Array(3 * count);
  sortByBrick(axes, sortTables(axes, brickingOf(axes, edge)), positions, count, keys, order, moved);
  const indices = [...order.subarray(0, count)];
  expect([...moved]).toEqual(indices.flatMap((i) => [...positions.subarray(3 * i, 3 * i + 3)]));
  return indices;
}

/** Cells of a point by counting nodes at or below it: no division. */
function cellsOf(axes: Axes, point: Triple): Triple {
  return axes.map((axis, a) => {
    let x = point[a] as number;
    const length = axis.nodes * axis.spacing;
    while (axis.periodic && x < axis.origin) x += length;
    while (axis.periodic && x >= axis.origin + length) x -= length;
    const at = (i: number) => axis.coordinates?.[i] ?? axis.origin + i * axis.spacing;
    let cell = 0;
    while (cell + 1 < axis.nodes - (axis.coordinates ? 1 : 0) && at(cell + 1) <= x) cell++;
    return cell;
  }) as unknown as Triple;
}

const AXES: Axes = [periodicAxis(40, 40), cosineAxis(30), endedAxis(25, 24)];
const EDGE: Triple = [16, 8, 10];

function cloud(count: number, seed: number): Triple[] {
  return Array.from({ length: count }, (_, n) => {
    const r = (s: number) => Math.abs((Math.sin((n + 1) * s + seed) * 43758.5453) % 1);
    return [200 * r(12.9) - 100, 2 * r(78.2) - 1, 24 * r(37.7)];
  });
}

describe("sortByBrick", () => {
  it("permutes, keeps bricks together and blocks of 8 nodes together in them", () => {
    const points = cloud(5000, 1);
    const order = sorted(AXES, EDGE, points);
    expect([...order].sort((a, b) => a - b)).toEqual(points.map((_, i) => i));
    for (const nodes of [EDGE, [8, 8, 8] as Triple]) {
      const visited = new Set<string>();
      let previous = "";
      for (const i of order) {
        const cells = cellsOf(AXES, points[i] as Triple);
        const brick = cells.map((cell, a) => Math.floor(cell / (EDGE[a] as number)));
        const inner = cells.map((cell, a) => Math.floor((cell % (EDGE[a] as number)) / (nodes[a] as number)));
        const group = [...brick, ...inner].join(" ");
        if (group !== previous) expect(visited.has(group)).toBe(false);
        visited.add(group);
        previous = group;
      }
      expect(visited.size).toBeGreaterThan(20);
    }
  });

  it("visits bricks in Morton order, x fastest", () => {
    const axes: Axes = [periodicAxis(16, 16), periodicAxis(16, 16), periodicAxis(16, 16)];
    const corners: Triple[] = [
      [8, 8, 8],
      [0, 8, 8],
      [8, 0, 8],
      [0, 0, 8],
      [8, 8, 0],
      [0, 8, 0],
      [8, 0, 0],
      [0, 0, 0],
    ];
    expect(sorted(axes, [8, 8, 8], corners)).toEqual([7, 6, 5, 4, 3, 2, 1, 0]);
  });

  it("is stable and independent of the order of other points", () => {
    const count = fc.integer({ min: 0, max: 400 });
    fc.assert(
      fc.property(count, fc.nat(1000), (size, seed) => {
        const points = cloud(size, seed);
        const twice = [...points, ...points];
        const order = sorted(AXES, EDGE, twice);
        const once = sorted(AXES, EDGE, points);
        const firsts = order.filter((i) => i < size);
        const seconds = order.filter((i) => i >= size).map((i) => i - size);
        expect(firsts).toEqual(once);
        expect(seconds).toEqual(once);
      }),
      { numRuns: 30 },
    );
  });

  it("keeps the order of points in one block", () => {
    const points: Triple[] = Array.from({ length: 50 }, (_, i) => [1 + ((7 * i) % 50) / 100, 0, 3]);
    expect(sorted(AXES, EDGE, points)).toEqual(points.map((_, i) => i));
  });
});

describe("sortTables", () => {
  const span = (nodes: number) => ({ ...periodicAxis(nodes, nodes) });

  it.each([
    [
      [1024, 1024, 1024],
      [64, 64, 64],
    ],
    [
      [10240, 1536, 7680],
      [64, 64, 64],
    ],
    [
      [8192, 8192, 8192],
      [16, 16, 16],
    ],
    [
      [3, 1, 2],
      [64, 64, 64],
    ],
    [
      [100, 7, 33],
      [9, 7, 1],
    ],
  ] as [Triple, Triple][])("gives bricks of a %j grid in %j distinct keys within 32 bits", (nodes, edge) => {
    const axes = nodes.map(span) as unknown as Axes;
    const tables = sortTables(axes, brickingOf(axes, edge));
    const all = [tables.x, tables.y, tables.z];
    // Axes use disjoint bits, and the keys of an axis never decrease from brick to brick.
    const used = all.map((table) => table.reduce((bits, key) => (bits | key) >>> 0, 0));
    expect(((used[0] as number) & (used[1] as number)) | ((used[0] as number) & (used[2] as number))).toBe(0);
    expect((used[1] as number) & (used[2] as number)).toBe(0);
    all.forEach((table, a) => {
      const size = edge[a] as number;
      for (let node = size; node < table.length; node += size) {
        expect((table[node] as number) > (table[node - 1] as number)).toBe(true);
      }
    });
  });
});
