/** Regions cover a grid once, keep owners' regions together, and move little when a peer goes. */
import { describe, expect, it } from "vitest";
import { ownersOf, readsPerBrick, regionsIn, regionsOf, worthwhileRanks } from "../../src/cluster/regions.js";
import type { Axes, Axis, Bricking } from "../../src/kernels/types.js";

const axis = (nodes: number, periodic = true): Axis => ({ nodes, origin: 0, spacing: 1, periodic, coordinates: null });
const cube = (nodes: number): Axes => [axis(nodes), axis(nodes), axis(nodes)];
const bricked = (nodes: number, edge: number): Bricking => {
  const count = Math.ceil(nodes / edge);
  return { edge: [edge, edge, edge], count: [count, count, count] };
};
const ranks = (count: number, lost: readonly number[] = []) =>
  Array.from({ length: count }, (_, rank) => !lost.includes(rank));

describe("regions", () => {
  it.each([
    [32, 16, 1],
    [64, 32, 1],
    [128, 32, 8],
    [256, 32, 64],
    [256, 16, 64],
    [1024, 64, 512],
  ])("of %i nodes in bricks of %i are %i", (nodes, edge, size) => {
    expect(regionsOf(cube(nodes), bricked(nodes, edge)).size).toBe(size);
  });

  it("take a point by the lowest brick of its stencil, across the seam of a periodic axis", () => {
    const { tables, count } = regionsOf([axis(256), axis(256, false), axis(256)], bricked(256, 32));
    expect(count).toEqual([4, 4, 4]);
    expect([tables[0][3], tables[0][4], tables[0][67], tables[0][68]]).toEqual([3, 0, 0, 1]);
    expect([tables[1][3], tables[1][255]]).toEqual([0, 12]);
    // The stencil of a cell reaches four nodes down, on an axis with ends as well.
    expect([tables[1][67], tables[1][68]]).toEqual([0, 4]);
  });

  it("are among some bricks if these are more than half of theirs", () => {
    const bricking = bricked(256, 32);
    const regions = regionsOf(cube(256), bricking);
    /** The eight bricks of the first region, two along each axis. */
    const first = [0, 1, 8, 9, 64, 65, 72, 73];
    expect(regionsIn(regions, bricking, first)).toEqual([0]);
    expect(regionsIn(regions, bricking, first.slice(3))).toEqual([0]);
    expect(regionsIn(regions, bricking, first.slice(4))).toEqual([]);
    expect(regionsIn(regions, bricking, [...first.slice(4), 73, 73])).toEqual([]);
    expect(regionsIn(regions, bricking, [...first, 510, 511, 503, 502, 447, 446])).toEqual([0, 63]);
  });

  it("of one peer are as many as of another, and neighbours", () => {
    const regions = regionsOf(cube(256), bricked(256, 32));
    for (const peers of [2, 4, 8]) {
      const owners = ownersOf(regions, ranks(peers), "");
      const blocks = new Map<number, Set<number>[]>();
      owners.forEach((owner, region) => {
        const spread = blocks.get(owner) ?? [new Set(), new Set(), new Set()];
        for (const [a, at] of [region % 4, (region >> 2) % 4, region >> 4].entries()) spread[a]?.add(at);
        blocks.set(owner, spread);
      });
      expect(blocks.size).toBe(peers);
      // Each peer's regions fill a box.
      for (const spread of blocks.values())
        expect(spread.reduce((product, { size }) => product * size, 1)).toBe(64 / peers);
    }
  });

  it("of any number of processes differ by half at most", () => {
    const regions = regionsOf(cube(1024), bricked(1024, 64));
    for (let peers = 1; peers <= 32; peers++) {
      const counts = new Array<number>(peers).fill(0);
      for (const owner of ownersOf(regions, ranks(peers), "")) counts[owner] = (counts[owner] as number) + 1;
      expect(Math.max(...counts) / Math.min(...counts), `${peers} processes`).toBeLessThan(1.53);
    }
  });

  it("move by 1.5 / N at most when one joins N", () => {
    const regions = regionsOf(cube(2048), bricked(2048, 64));
    for (let peers = 1; peers <= 64; peers++) {
      const [before, after] = [peers, peers + 1].map((count) => ownersOf(regions, ranks(count), ""));
      const moved = before?.filter((owner, region) => after?.[region] !== owner).length as number;
      expect(moved / regions.size, `${peers} and one more`).toBeLessThanOrEqual(1.5 / peers);
    }
  });

  it("move from a lost peer to others, and nothing else does", () => {
    const regions = regionsOf(cube(1024), bricked(1024, 64));
    const before = ownersOf(regions, ranks(7), "set");
    const after = ownersOf(regions, ranks(7, [3]), "set");
    const heirs = new Set<number>();
    before.forEach((owner, region) => {
      if (owner === 3) heirs.add(after[region] as number);
      else expect(after[region]).toBe(owner);
    });
    expect([...heirs].sort()).toEqual([0, 1, 2, 4, 5, 6]);
  });

  /** By counting: marks each brick that a stencil of eight nodes around each cell needs with the owner of its point. */
  const countReads = (axes: Axes, bricking: Bricking, peers: number): number => {
    const regions = regionsOf(axes, bricking);
    const owners = ownersOf(regions, ranks(peers), "");
    const { count } = bricking;
    const needed = axes.map(({ nodes, periodic }, a) =>
      Array.from({ length: nodes }, (_, cell) => {
        const around = Array.from({ length: 9 }, (_, i) => cell + i - 4);
        const inside = around.flatMap((at) => (periodic ? (at + nodes) % nodes : at < 0 || at >= nodes ? [] : at));
        return [...new Set(inside.map((at) => Math.floor(at / bricking.edge[a as 0 | 1 | 2])))];
      }),
    );
    const readers = new Uint32Array(count[0] * count[1] * count[2]);
    const [inX, inY, inZ] = needed as [number[][], number[][], number[][]];
    for (const [z, planes] of inZ.entries())
      for (const [y, rows] of inY.entries())
        for (const [x, columns] of inX.entries()) {
          const [ofX, ofY, ofZ] = regions.tables as [Uint16Array, Uint16Array, Uint16Array];
          const owner = owners[(ofX[x] as number) + (ofY[y] as number) + (ofZ[z] as number)] as number;
          for (const k of planes)
            for (const j of rows)
              for (const i of columns) {
                const brick = (k * count[1] + j) * count[0] + i;
                readers[brick] = (readers[brick] as number) | (1 << owner);
              }
        }
    const reads = readers.reduce((sum, mask) => sum + mask.toString(2).replaceAll("0", "").length, 0);
    return reads / readers.length;
  };

  it.each([
    [cube(128), 32, 1, 1],
    [cube(128), 32, 2, 1.5],
    [cube(128), 32, 4, 2.25],
    [cube(128), 32, 8, 3.375],
    [cube(128), 16, 3, null],
    [cube(128), 4, 4, null],
    [[axis(128, false), axis(96), axis(64, false)] as const, 16, 4, null],
  ])("let bricks be read as often as owners of points around them (case %#)", (axes, edge, peers, known) => {
    const count = axes.map(({ nodes }) => nodes / edge) as [number, number, number];
    const bricking: Bricking = { edge: [edge, edge, edge], count };
    const regions = regionsOf(axes as Axes, bricking);
    const reads = readsPerBrick(regions, bricking, ownersOf(regions, ranks(peers), ""));
    expect(reads).toBeCloseTo(countReads(axes as Axes, bricking, peers), 12);
    if (known !== null) expect(reads).toBe(known);
  });

  it.each([
    [128, 32, [1, 2, 2, 2, 2]],
    [256, 32, [1, 2, 2, 4, 4]],
    [512, 16, [1, 2, 3, 4, 8]],
    [64, 64, [1, 2, 3, 4, 8]],
  ])("of %i nodes in bricks of %i are divided among as many as pay", (nodes, edge, expected) => {
    const bricking = bricked(nodes, edge);
    const regions = regionsOf(cube(nodes), bricking);
    expect([1, 2, 3, 4, 8].map((count) => worthwhileRanks(regions, bricking, count))).toEqual(expected);
  });

  it("that are fewer than the processes are spread by their dataset, and little moves", () => {
    const regions = regionsOf(cube(64), bricked(64, 32));
    const of = (count: number) => Array.from({ length: 200 }, (_, i) => ownersOf(regions, ranks(count), `set ${i}`)[0]);
    const [before, after] = [of(8), of(9)];
    expect(new Set(before).size).toBe(8);
    expect(before.filter((owner, i) => after[i] !== owner).length).toBeLessThan((1.5 / 8) * 200);
  });

  it("have no owner if there is no process", () => {
    const regions = regionsOf(cube(256), bricked(256, 32));
    for (const usable of [[], [false, false]]) expect(new Set(ownersOf(regions, usable, ""))).toEqual(new Set([255]));
  });
});
