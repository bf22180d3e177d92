/** The sort of the SIMD module against the plain one: the same order, entry by entry. */
import { describe, expect, it } from "vitest";
import { type SortTables, sortByBrick, sortTables } from "../../../src/kernels/brick-order.js";
import type { Axes, Axis, Triple } from "../../../src/kernels/types.js";
import { Arena, bricking, periodicAxes, randomNumbers } from "../../support/simd-memory.js";

const SEED = 5_081;

function shared(arena: Arena, table: Uint32Array): Uint32Array {
  const copy = arena.words(table.length);
  copy.set(table);
  return copy;
}

/** Orders of the same points by both sorts. */
function orders(axes: Axes, edge: Triple, points: readonly number[]): { plain: Uint32Array; simd: Uint32Array } {
  const arena = new Arena(2 ** 22);
  const count = points.length / 3;
  const nodes = axes.map((axis) => axis.nodes) as unknown as Triple;
  const tables = sortTables(axes, bricking(nodes, edge));
  const positions = arena.doubles(points.length);
  positions.set(points);
  const [x, y, z] = [tables.x, tables.y, tables.z].map((table) => shared(arena, table)) as [
    Uint32Array,
    Uint32Array,
    Uint32Array,
  ];
  const inMemory: SortTables = { x, y, z };
  const plain = new Uint32Array(2 * count);
  const moved = new Float64Array(3 * count);
  sortByBrick(axes, tables, positions, count, new Uint32Array(2 * count), plain, moved);
  const simd = arena.words(2 * count).fill(0xdeadbeef);
  const sorted = arena.doubles(3 * count);
  arena.accelerator().sortByBrick(axes, inMemory, positions, count, arena.words(2 * count), simd, sorted);
  expect([...sorted]).toEqual([...moved]);
  return { plain: plain.slice(0, count), simd: simd.slice(0, count) };
}

function scattered(count: number, scale: number): number[] {
  const random = randomNumbers(SEED);
  return Array.from({ length: 3 * count }, () => Math.fround((random() - 0.3) * scale));
}

describe("sortByBrick in SIMD", () => {
  const cube = periodicAxes([64, 64, 64], [0.1, 0.1, 0.1], [0, 0, 0]);

  it.each([
    { name: "one key", axes: cube, edge: [64, 64, 64] as Triple, points: scattered(50, 0.01) },
    { name: "one digit", axes: cube, edge: [64, 64, 64] as Triple, points: scattered(3_000, 10) },
    { name: "two digits", axes: cube, edge: [4, 4, 4] as Triple, points: scattered(3_000, 10) },
    {
      name: "three digits",
      axes: periodicAxes([1024, 512, 2048], [0.01, 0.02, 0.005], [-1, 2, 0.5]),
      edge: [32, 16, 64] as Triple,
      points: scattered(20_000, 40),
    },
    { name: "bricks that do not fit", axes: cube, edge: [7, 9, 5] as Triple, points: scattered(3_000, 100) },
    { name: "far points", axes: cube, edge: [16, 16, 16] as Triple, points: scattered(300, 1e30) },
    { name: "a single point", axes: cube, edge: [16, 16, 16] as Triple, points: [1, 2, 3] },
    { name: "no points", axes: cube, edge: [16, 16, 16] as Triple, points: [] },
  ])("equals the plain sort: $name", ({ axes, edge, points }) => {
    const { plain, simd } = orders(axes, edge, points);
    expect(simd).toEqual(plain);
    expect([...simd].sort((a, b) => a - b)).toEqual(Array.from(plain, (_, i) => i));
  });

  it("equals the plain sort on axes with ends and on tabulated ones", () => {
    const ended: Axis = { nodes: 40, origin: -1, spacing: 0.1, periodic: false, coordinates: null };
    const table = Float64Array.from({ length: 33 }, (_, j) => -Math.cos((Math.PI * j) / 32));
    const walls: Axis = { nodes: 33, origin: -1, spacing: 0.0048, periodic: false, coordinates: table };
    const points = scattered(3_000, 4);
    for (const axes of [[cube[0], ended, cube[2]] as const, [cube[0], walls, ended] as const]) {
      const { plain, simd } = orders(axes, [8, 8, 8], points);
      expect(simd).toEqual(plain);
    }
  });

  it("keeps points of one block in the order given", () => {
    const { simd } = orders(
      cube,
      [16, 16, 16],
      Array.from({ length: 300 }, (_, i) => 0.001 * (i % 7)),
    );
    expect(simd).toEqual(Uint32Array.from({ length: 100 }, (_, i) => i));
  });
});
