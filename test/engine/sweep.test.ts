import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { columnWidth, sweepTables } from "../../src/engine/sweep.js";
import type { Axes, Bricking } from "../../src/kernels/field.js";

function grid(nodes: readonly [number, number, number], edge: readonly [number, number, number]) {
  const axes = nodes.map((count) => ({ nodes: count, origin: 0, spacing: 1, periodic: true, coordinates: null }));
  const count = nodes.map((n, a) => Math.ceil(n / (edge[a] as number))) as unknown as [number, number, number];
  return { axes: axes as unknown as Axes, bricking: { edge, count } satisfies Bricking };
}

describe("sweep", () => {
  it("makes columns as wide as three of their layers, neighbours included, fit the cache", () => {
    for (let bricks = 27; bricks < 5000; bricks += 7) {
      const width = columnWidth(bricks);
      if (width > 1) expect(3 * (width + 2) ** 2).toBeLessThanOrEqual(bricks);
      expect(3 * (width + 3) ** 2).toBeGreaterThan(bricks);
    }
  });

  it("finishes a column before the next, and a layer of it before the next", () => {
    const size = fc.integer({ min: 1, max: 40 });
    const edges = fc.integer({ min: 1, max: 9 });
    fc.assert(
      fc.property(
        fc.tuple(size, size, size),
        fc.tuple(edges, edges, edges),
        fc.integer({ min: 1, max: 5 }),
        (nodes, edge, width) => {
          const { axes, bricking } = grid(nodes, edge);
          const { x, y, z } = sweepTables(axes, bricking, width);
          const places: { key: number; column: number; layer: number }[] = [];
          for (let k = 0; k < nodes[2]; k += 3) {
            for (let j = 0; j < nodes[1]; j += 3) {
              for (let i = 0; i < nodes[0]; i += 3) {
                const columnX = Math.floor(Math.floor(i / edge[0]) / width);
                const columnY = Math.floor(Math.floor(j / edge[1]) / width);
                const key = ((x[i] as number) | (y[j] as number) | (z[k] as number)) >>> 0;
                places.push({ key, column: columnY * 1000 + columnX, layer: Math.floor(k / edge[2]) });
              }
            }
          }
          places.sort((a, b) => a.key - b.key);
          for (let n = 1; n < places.length; n++) {
            const [a, b] = [places[n - 1], places[n]] as [(typeof places)[0], (typeof places)[0]];
            expect(b.column).toBeGreaterThanOrEqual(a.column);
            if (a.column === b.column) expect(b.layer).toBeGreaterThanOrEqual(a.layer);
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});
