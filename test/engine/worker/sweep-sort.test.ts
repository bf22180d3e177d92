import { describe, expect, it } from "vitest";
import { STENCIL_REACH } from "../../../src/engine/contract/sweep-shape.js";
import { fewBricks, sortSection, sweepTables } from "../../../src/engine/worker/sweep-sort.js";
import type { Axes, Bricking, Triple } from "../../../src/kernels/types.js";
import { fc } from "../../support/property.js";

function grid(nodes: readonly [number, number, number], edge: readonly [number, number, number]) {
  const axes = nodes.map((count) => ({ nodes: count, origin: 0, spacing: 1, periodic: true, coordinates: null }));
  const count = nodes.map((n, a) => Math.ceil(n / (edge[a] as number))) as unknown as [number, number, number];
  return { axes: axes as unknown as Axes, bricking: { edge, count } satisfies Bricking };
}

describe("sweepTables", () => {
  it("finishes a column before the next, a layer of it before the next, and a row of that before the next", () => {
    const size = fc.integer({ min: 1, max: 40 });
    const edges = fc.integer({ min: 1, max: 9 });
    const wide = fc.integer({ min: 1, max: 5 });
    const orders = fc.constantFrom<Triple[]>([0, 1, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]);
    const cases = fc.tuple(fc.tuple(size, size, size), fc.tuple(edges, edges, edges), orders, wide, wide);
    fc.assert(
      fc.property(cases, fc.constantFrom(-STENCIL_REACH, 2, 5), ([nodes, edge, order, first, second], reference) => {
        const { axes, bricking } = grid(nodes, edge);
        const [row, next, along] = order as readonly [0, 1, 2];
        const width: [number, number, number] = [...bricking.count];
        width[row] = Math.min(first, bricking.count[row]);
        width[next] = Math.min(second, bricking.count[next]);
        const tables = sweepTables(axes, bricking, { axes: order, width, reference });
        const brickOf = (cell: number, a: 0 | 1 | 2): number => {
          const node = (cell + reference + nodes[a] * STENCIL_REACH) % nodes[a];
          return Math.floor(node / edge[a]);
        };
        const places: { key: number; rank: number[] }[] = [];
        for (let k = 0; k < nodes[2]; k += 3) {
          for (let j = 0; j < nodes[1]; j += 3) {
            for (let i = 0; i < nodes[0]; i += 3) {
              const brick = [brickOf(i, 0), brickOf(j, 1), brickOf(k, 2)] as const;
              const column = (a: 0 | 1 | 2): number => Math.floor(brick[a] / width[a]);
              const key = ((tables.x[i] as number) | (tables.y[j] as number) | (tables.z[k] as number)) >>> 0;
              places.push({ key, rank: [column(next), column(row), brick[along], brick[next], brick[row]] });
            }
          }
        }
        places.sort((a, b) => a.key - b.key);
        for (let n = 1; n < places.length; n++) {
          const [a, b] = [places[n - 1], places[n]] as [(typeof places)[0], (typeof places)[0]];
          const differing = a.rank.findIndex((value, part) => value !== b.rank[part]);
          if (differing >= 0) expect(b.rank[differing]).toBeGreaterThan(a.rank[differing] as number);
        }
      }),
      { numRuns: 60 },
    );
  });
});

describe("fewBricks", () => {
  it("holds no query for small whose stencils touch more bricks than there is room for", () => {
    const size = fc.integer({ min: 10, max: 60 });
    const place = fc.tuple(fc.nat(59), fc.nat(59), fc.nat(59));
    fc.assert(
      fc.property(
        fc.array(place, { minLength: 1, maxLength: 9 }),
        size,
        fc.integer({ min: 1, max: 40 }),
        (cells, nodes, room) => {
          const { axes, bricking } = grid([nodes, nodes, nodes], [12, 10, 16]);
          const touched = new Set<string>();
          for (const cell of cells)
            for (const i of [-3, 4])
              for (const j of [-3, 4])
                for (const k of [-3, 4]) {
                  const brick = [i, j, k].map((by, a) => {
                    const node = (((cell[a] as number) % nodes) + by + nodes) % nodes;
                    return Math.floor(node / (bricking.edge[a] as number));
                  });
                  touched.add(brick.join());
                }
          const positions = Float64Array.from(cells.flat(), (cell) => (cell % nodes) + 0.5);
          if (fewBricks(axes, bricking, positions, cells.length, room)) expect(touched.size).toBeLessThanOrEqual(room);
        },
      ),
    );
  });

  it("counts eight bricks at a corner, at the seam too, and one when there is one", () => {
    const { axes, bricking } = grid([64, 64, 64], [16, 16, 16]);
    for (const at of [16.5, 63.5, 0.5]) {
      const corner = Float64Array.of(at, at, at);
      expect(fewBricks(axes, bricking, corner, 1, 8)).toBe(true);
      expect(fewBricks(axes, bricking, corner, 1, 7)).toBe(false);
    }
    const lone = grid([16, 16, 16], [16, 16, 16]);
    expect(fewBricks(lone.axes, lone.bricking, Float64Array.of(1, 2, 3), 1, 1)).toBe(true);
  });
});

describe("sortSection", () => {
  /** A section of a query whose points along x are these, on a grid of 32 nodes that ends at both faces of x. */
  function section(along: readonly number[], first: number) {
    const { axes, bricking } = grid([32, 32, 32], [8, 8, 8]);
    const ended = { ...axes[0], periodic: false };
    const count = along.length;
    const task = {
      points: [{ triples: Float32Array.from(along.flatMap((x) => [x, 1, 1])), count }],
      ...{ count, first, shift: [0, 0, 0], bricking, room: 1 },
      shape: { axes: [0, 1, 2], width: [4, 4, 4], reference: -STENCIL_REACH },
      cancel: new Int32Array(1),
      arranged: new Int32Array(1),
      triples: new Float32Array(3 * count),
      order: new Uint32Array(count),
    } as unknown as Parameters<typeof sortSection>[0];
    const dataset = { axes: [ended, axes[1], axes[2]] } as unknown as Parameters<typeof sortSection>[1];
    return { task, run: () => sortSection(task, dataset) };
  }

  it("names the first point outside by its number in the query, before any is moved", () => {
    const { task, run } = section([30, 2, 33, 20, -5], 1000);
    expect(run).toThrow(expect.objectContaining({ code: "OutOfRange", context: { member: "points[1002].x" } }));
    expect(task.arranged[0]).toBe(0);
  });

  it("puts points in sweep order with their numbers in the query", () => {
    const { task, run } = section([30, 2, 21, 10], 1000);
    run();
    expect(task.arranged[0]).toBe(1);
    expect([...task.order]).toEqual([1001, 1003, 1002, 1000]);
    expect([...task.triples].filter((_, i) => i % 3 === 0)).toEqual([2, 10, 21, 30]);
  });
});
