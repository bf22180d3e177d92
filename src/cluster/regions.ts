/**
 * Regions: boxes of bricks, each owned by one peer, which caches it. The regions of an owner are neighbours as far as
 * possible, because bricks along a boundary are cached on both sides.
 */
import { createHash } from "node:crypto";
import { STENCIL_REACH } from "../engine/contract/sweep-shape.js";
import { sortTables } from "../kernels/brick-order.js";
import { wrap } from "../kernels/stencil.js";
import type { Axes, Bricking, Triple } from "../kernels/types.js";

/** Most and least nodes along an edge of a region; edges are shorter where a grid would have few regions. */
const EDGE = { most: 128, least: 64 } as const;
const FEWEST = 64;
const MOST = 32_768;
/** Average reads of a brick above which fewer processes divide a query. */
const MAX_READS = 1.6;

/** The regions of a grid. Region (i, j, k) has number `(k * count[1] + j) * count[0] + i`. */
export interface Regions {
  readonly axes: Axes;
  readonly count: Triple;
  /** Nodes of a region; those at the far faces may have fewer. */
  readonly edge: Triple;
  readonly size: number;
  /**
   * By axis and cell of the grid, its term of the region number; the three terms are added. The cell past the end is
   * the first of the next period.
   */
  readonly tables: readonly [Uint16Array, Uint16Array, Uint16Array];
  /** Position of each region on the Morton curve. */
  readonly places: Uint16Array;
}

/** Divides a grid. A point belongs to the region of the lowest brick of its stencil. */
export function regionsOf(axes: Axes, bricking: Bricking): Regions {
  const bricks = bricksOfRegion(bricking);
  const edge = bricks.map((n, a) => n * bricking.edge[a]) as [number, number, number];
  const count = bricking.count.map((n, a) => Math.ceil(n / bricks[a])) as [number, number, number];
  const strides = [1, count[0], count[0] * count[1]];
  const table = (a: 0 | 1 | 2): Uint16Array => {
    const { nodes, periodic } = axes[a];
    return Uint16Array.from({ length: nodes + 1 }, (_, cell) => {
      const lowest = periodic ? wrap(cell - STENCIL_REACH, nodes) : Math.max(0, cell - STENCIL_REACH);
      return Math.floor(lowest / edge[a]) * strides[a];
    });
  };
  const size = count[0] * count[1] * count[2];
  return { axes, count, edge, size, tables: [table(0), table(1), table(2)], places: placesOf(count, size) };
}

/** Regions with more than half of their bricks in a set, ascending. */
export function regionsIn({ edge, count, size }: Regions, bricking: Bricking, bricks: Iterable<number>): number[] {
  const along = (a: 0 | 1 | 2, brick: number): number => Math.floor((brick * bricking.edge[a]) / edge[a]);
  const regionOf = (brick: number): number => {
    const [x, y] = bricking.count;
    const row = Math.floor(brick / x);
    return (along(2, Math.floor(row / y)) * count[1] + along(1, row % y)) * count[0] + along(0, brick % x);
  };
  const all = bricking.count[0] * bricking.count[1] * bricking.count[2];
  const [wholes, parts] = [new Uint32Array(size), new Uint32Array(size)];
  for (let brick = 0; brick < all; brick++) wholes[regionOf(brick)]++;
  for (const brick of new Set(bricks)) parts[regionOf(brick)]++;
  return Array.from(wholes.keys()).filter((region) => 2 * parts[region] > wholes[region]);
}

function bricksOfRegion({ edge, count }: Bricking): [number, number, number] {
  const bricks = edge.map((nodes) => Math.max(1, Math.round(EDGE.most / nodes))) as [number, number, number];
  const regions = (): number => bricks.reduce((product, n, a) => product * Math.ceil(count[a] / n), 1);
  const nodes = (a: number): number => bricks[a] * edge[a];
  while (regions() < FEWEST) {
    const wide = [2, 1, 0].filter((a) => bricks[a] > 1 && nodes(a) > EDGE.least);
    if (wide.length === 0) break;
    const widest = wide.reduce((best, a) => (nodes(a) > nodes(best) ? a : best));
    bricks[widest] = Math.ceil(bricks[widest] / 2);
  }
  while (regions() > MOST) for (const a of [0, 1, 2]) bricks[a] *= 2;
  return bricks;
}

/** Ranks that divide queries beyond one cache: all, or the largest power of two whose halos pay. */
export function worthwhileRanks(regions: Regions, bricking: Bricking, ranks: number): number {
  const isWorth = (some: number): boolean =>
    some <= 1 || readsPerBrick(regions, bricking, ownersOf(regions, Array(some).fill(true), "")) <= MAX_READS;
  if (isWorth(ranks)) return ranks;
  let some = 1;
  while (2 * some < ranks && isWorth(2 * some)) some *= 2;
  return some;
}

/** Average reads of a brick, if each owner reads once what its points need: their brick and its lower neighbours. */
export function readsPerBrick(regions: Regions, bricking: Bricking, owners: Uint8Array): number {
  const { count } = regions;
  const [x, y, z] = [
    belowBricks(regions, bricking, 0),
    belowBricks(regions, bricking, 1),
    belowBricks(regions, bricking, 2),
  ];
  let reads = 0;
  for (const [planes, deep] of z)
    for (const [rows, high] of y)
      for (const [columns, wide] of x) {
        const readers = new Set<number>();
        for (const k of planes)
          for (const j of rows) for (const i of columns) readers.add(owners[(k * count[1] + j) * count[0] + i]);
        reads += readers.size * deep * high * wide;
      }
  return reads / (bricking.count[0] * bricking.count[1] * bricking.count[2]);
}

function belowBricks(
  { axes, edge }: Regions,
  bricking: Bricking,
  a: 0 | 1 | 2,
): (readonly [readonly number[], number])[] {
  const bricks = bricking.count[a];
  const reach = Math.ceil((2 * STENCIL_REACH) / bricking.edge[a]);
  const found = new Map<string, readonly [readonly number[], number]>();
  for (let brick = 0; brick < bricks; brick++) {
    const below = Array.from({ length: reach + 1 }, (_, i) =>
      axes[a].periodic ? wrap(brick - i, bricks) : Math.max(0, brick - i),
    );
    const some = [...new Set(below.map((at) => Math.floor((at * bricking.edge[a]) / edge[a])))];
    found.set(some.join(), [some, (found.get(some.join())?.[1] ?? 0) + 1]);
  }
  return [...found.values()];
}

function placesOf(count: Triple, size: number): Uint16Array {
  const axes = count.map((nodes) => ({ nodes }));
  const { x, y, z } = sortTables(axes, { edge: [1, 1, 1], count });
  const codes = Float64Array.from({ length: size }, (_, region) => {
    const row = Math.floor(region / count[0]);
    return (x[region % count[0]] | y[row % count[1]] | z[Math.floor(row / count[1])]) >>> 0;
  });
  const places = new Uint16Array(size);
  const curve = Array.from(codes.keys()).sort((one, other) => codes[one] - codes[other]);
  for (const [place, region] of curve.entries()) places[region] = place;
  return places;
}

/**
 * The rank that owns each region, 255 if none is usable. Every rank has a run of the curve: of N ranks, one more takes
 * at most 1.5/N of all regions from two or three others. Regions of a rank that is not usable, and all if they are
 * fewer than the ranks, are assigned by a hash. @param usable by rank @param seed text for the hash if there are fewer
 * regions than ranks
 */
export function ownersOf({ size, places }: Regions, usable: readonly boolean[], seed: string): Uint8Array {
  const owners = new Uint8Array(size);
  const groups = groupsOf(usable.length);
  const salt = size < usable.length ? createHash("sha256").update(seed).digest().readUInt32LE() : 0;
  for (let region = 0; region < size; region++) {
    const along = (places[region] * groups.length) / size;
    const group = groups[Math.floor(along)];
    const owner = group[Math.floor((along % 1) * group.length)];
    owners[region] = size >= usable.length && usable[owner] ? owner : substitute(usable, salt, region);
  }
  return owners;
}

/** Ranks in the order of their runs: groups, a power of two, share the curve; a further rank splits the smallest. */
function groupsOf(ranks: number): number[][] {
  let groups: number[][] = [[]];
  for (let rank = 0; rank < ranks; rank++) {
    if (rank >= 4 * groups.length) groups = groups.flatMap((group) => [group.slice(0, 2), group.slice(2)]);
    const least = Math.min(...groups.map(({ length }) => length));
    const group = groups.find(({ length }) => length === least) as number[];
    group.splice(Math.ceil(group.length / 2), 0, rank);
  }
  return groups;
}

function substitute(usable: readonly boolean[], salt: number, region: number): number {
  const score = (rank: number): number => scramble(scramble(rank + 1) ^ salt ^ Math.imul(region + 1, 0x9e37_79b1));
  const scores = usable.map((isUsable, rank) => (isUsable ? score(rank) : -1));
  const highest = Math.max(...scores);
  return highest < 0 ? -1 : scores.indexOf(highest);
}

/** Finaliser of MurmurHash3. */
function scramble(value: number): number {
  let h = value;
  h = Math.imul(h ^ (h >>> 16), 0x85eb_ca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2_ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
