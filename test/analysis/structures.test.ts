/** Compares structures that are joined from parts with a flood fill of the whole, on random sets and stretched axes. */
import { describe, expect, it } from "vitest";
import { fragmentsOf, type StructureOptions } from "../../src/analysis/fragments.js";
import { JoinedFragments } from "../../src/analysis/structures.js";

type Three = readonly [number, number, number];
interface Case {
  readonly extent: Three;
  readonly edge: Three;
  readonly wraps: readonly [boolean, boolean, boolean];
  readonly connectivity: 6 | 18 | 26;
  readonly share: number;
  /** Direction and length of a tube, in place of random values. */
  readonly tube?: readonly [Three, number];
}

let seed = 7;
function random(): number {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return seed / 2 ** 32;
}

/**
 * The nodes of each set, by a flood fill from every node that has none yet, with their places in the set made whole
 * across seams; null for a set that meets itself a period further.
 */
function flood(marked: readonly boolean[], { extent, wraps, connectivity }: Case) {
  const [nx, ny] = extent;
  const seen = new Map<number, readonly number[]>();
  const reach = { 6: 1, 18: 2, 26: 3 }[connectivity];
  const sets: { readonly nodes: readonly number[]; readonly places: readonly (readonly number[])[] | null }[] = [];
  marked.forEach((isMarked, start) => {
    if (!isMarked || seen.has(start)) return;
    const set = [start];
    let isEndless = false;
    seen.set(start, [start % nx, Math.floor(start / nx) % ny, Math.floor(start / (nx * ny))]);
    for (const node of set) {
      const place = seen.get(node) as readonly number[];
      for (let k = 0; k < 27; k++) {
        const step = [(k % 3) - 1, (Math.floor(k / 3) % 3) - 1, Math.floor(k / 9) - 1];
        if (step.some((one, a) => one !== 0 && extent[a as 0] === 1)) continue;
        if (step.reduce((sum, one) => sum + Math.abs(one), 0) > reach) continue;
        const next = place.map((at, a) => at + (step[a] as number));
        const to = next.map((at, a) => {
          const n = extent[a as 0];
          return wraps[a as 0] ? ((at % n) + n) % n : at;
        }) as unknown as Three;
        if (to.some((at, a) => at < 0 || at >= (extent[a as 0] as number))) continue;
        const other = (to[2] * ny + to[1]) * nx + to[0];
        if (!marked[other]) continue;
        if (!seen.has(other)) set.push(other);
        else if (seen.get(other)?.some((at, a) => at !== next[a])) isEndless = true;
        seen.set(other, seen.get(other) ?? next);
      }
    }
    sets.push({ nodes: set, places: isEndless ? null : set.map((node) => seen.get(node) as readonly number[]) });
  });
  return sets;
}

/** Values along a thin tube of `length` from a node on in a direction, around all seams, on the background 0. */
function tube({ extent }: Case, [dx, dy, dz]: Three, length: number): Float64Array {
  const values = new Float64Array(extent[0] * extent[1] * extent[2]);
  for (let s = 0; s < length; s += 0.1) {
    const [x, y, z] = [dx, dy, dz].map((d, a) => Math.floor(9 + s * d) % (extent[a as 0] as number)) as never as Three;
    values[(z * extent[1] + y) * extent[0] + x] = 1;
  }
  return values;
}

/** Joins the structures of values that are cut into parts of `edge` nodes. */
function joinParts(values: Float64Array, one: Case, coordinates: readonly [Float64Array, Float64Array, Float64Array]) {
  const { extent, edge, wraps, connectivity } = one;
  const periods = wraps.map((wrap, a) => (wrap ? (extent[a as 0] as number) : 0)) as unknown as Three;
  const options: StructureOptions = {
    ...{ of: 0, properties: [1], side: "above", threshold: 1 - one.share, connectivity, wraps },
    ...{ labels: true, most: 1e6 },
  };
  const joined = new JoinedFragments(options, extent, edge);
  const corners: Three[] = [];
  for (let z = 0; z < extent[2]; z += edge[2])
    for (let y = 0; y < extent[1]; y += edge[1]) for (let x = 0; x < extent[0]; x += edge[0]) corners.push([x, y, z]);
  const shuffled = corners.map((corner) => [random(), corner] as const).sort(([a], [b]) => a - b);
  for (const [, [x, y, z]] of shuffled) {
    const from = [x, y, z] as const;
    const shape = from.map((at, a) => Math.min(edge[a as 0], extent[a as 0] - at)) as unknown as Three;
    const nodes = Array.from({ length: shape[0] * shape[1] * shape[2] }, (_, i) => {
      const row = Math.floor(i / shape[0]);
      const k = z + Math.floor(row / shape[1]);
      return (k * extent[1] + y + (row % shape[1])) * extent[0] + x + (i % shape[0]);
    });
    const column = Float64Array.from(nodes, (node) => values[node] as number);
    const weights = column.map((_, i) => 1 + ((nodes[i] as number) % 3));
    const columns = [column, Float64Array.from(nodes, (node) => node)];
    joined.add(fragmentsOf(options, { columns, weights, cell: 0.5, from, shape, coordinates, periods }));
  }
  const work = joined.rank(1);
  let step = work.next();
  while (!step.done) step = work.next();
  const { listed, starts, members, ...counts } = step.value;
  const structures = Array.from(listed, (own, place) => ({
    ...joined.describe({ listed, starts, members, ...counts }, place, { coordinates, periods }),
    fragments: [...members.subarray(starts[own], starts[own + 1])],
  }));
  expect(counts).toEqual({ count: structures.length, nodes: structures.reduce((sum, { nodes }) => sum + nodes, 0) });
  return { structures, labels: joined.labels as Int32Array };
}

const OBLIQUE: Case = {
  extent: [24, 20, 16],
  edge: [7, 20, 5],
  wraps: [true, true, true],
  connectivity: 26,
  share: 0.5,
};
const CASES: readonly Case[] = [
  { extent: [12, 10, 8], edge: [5, 4, 3], wraps: [true, true, true], connectivity: 6, share: 0.3 },
  { extent: [12, 10, 8], edge: [12, 10, 8], wraps: [true, true, true], connectivity: 26, share: 0.08 },
  { extent: [12, 10, 8], edge: [4, 5, 8], wraps: [true, false, true], connectivity: 18, share: 0.15 },
  { extent: [9, 9, 9], edge: [2, 2, 2], wraps: [false, false, false], connectivity: 26, share: 0.1 },
  { extent: [7, 1, 2], edge: [3, 1, 1], wraps: [true, true, true], connectivity: 18, share: 0.5 },
  { extent: [6, 6, 6], edge: [3, 3, 3], wraps: [true, true, true], connectivity: 6, share: 1 },
  { ...OBLIQUE, tube: [[1, 0.3, 0.21], 70] },
  { ...OBLIQUE, edge: [24, 20, 16], tube: [[-0.13, -0.2, 0.9], 75] },
  { ...OBLIQUE, tube: [[0.5, 0.25, 0], 100] },
];

describe("structures joined from parts", () => {
  it.each(CASES)("are those of a flood fill: %j", (one) => {
    const [nx, ny, nz] = one.extent;
    const values = one.tube ? tube(one, ...one.tube) : Float64Array.from({ length: nx * ny * nz }, random);
    values[3] = Number.NaN;
    const coordinates = [nx, ny, nz].map((n) => Float64Array.from({ length: n }, (_, i) => i)) as never;
    const { structures, labels } = joinParts(values, one, coordinates);
    const sets = flood(
      [...values].map((value) => value > 1 - one.share),
      one,
    );
    const sum = (set: readonly number[], of: (node: number) => number) => set.reduce((all, node) => all + of(node), 0);
    const volumeOf = (set: readonly number[]) => 0.5 * sum(set, (node) => 1 + (node % 3));
    expect(structures.map(({ nodes }) => nodes).sort()).toEqual(sets.map(({ nodes }) => nodes.length).sort());
    const numbers = new Map(structures.flatMap(({ fragments }, i) => fragments.map((one) => [one + 1, i] as const)));
    for (const { nodes: set, places: whole } of sets) {
      const found = new Set(set.map((node) => numbers.get(labels[node] as number)));
      expect(found.size).toBe(1);
      const structure = structures[[...found][0] as number] as (typeof structures)[number];
      expect(structure.volume).toBeCloseTo(volumeOf(set), 12);
      const [volume, integral, min, max] = structure.properties[0] as readonly number[];
      expect(volume).toBe(structure.volume);
      expect(integral).toBeCloseTo(0.5 * sum(set, (node) => node * (1 + (node % 3))), 9);
      expect([min, max]).toEqual([Math.min(...set), Math.max(...set)]);
      const weight = sum(set, (node) => 1 + (node % 3));
      const mean = (of: (node: number) => number) => sum(set, (node) => (1 + (node % 3)) * of(node)) / weight;
      const along = [0, 1, 2].map((a) => (node: number) => whole?.[set.indexOf(node)]?.[a] as number);
      const middle = along.map(mean);
      const arms = along.map((place, a) => (node: number) => place(node) - (middle[a] as number));
      for (const [ab, moment] of structure.inertia.entries()) {
        const [one, other] = [arms[Math.floor(ab / 3)], arms[ab % 3]] as [(typeof arms)[0], (typeof arms)[0]];
        if (whole === null) expect(moment).toBeNaN();
        else
          expect(moment).toBeCloseTo(
            mean((node) => one(node) * other(node)),
            9,
          );
      }
      for (const a of [0, 1, 2] as const) {
        const n = one.extent[a] as number;
        const place = (node: number) =>
          [node % nx, Math.floor(node / nx) % ny, Math.floor(node / (nx * ny))][a] as number;
        const places = new Set(set.map(place));
        const [low, high] = [structure.low[a] as number, structure.high[a] as number];
        // The box holds the places of the structure and no others.
        expect(high - low + 1).toBe(places.size);
        for (let at = low; at <= high; at++) expect(places.has(at % n)).toBe(true);
        // The centre is a mean of places, or of directions in a period, of which a structure around it has none.
        const [cosine = 0, sine = 0] = [Math.cos, Math.sin].map((f) => mean((at) => f((2 * Math.PI * place(at)) / n)));
        if (!one.wraps[a]) expect(structure.centre[a]).toBeCloseTo(mean(place), 9);
        else if (Math.hypot(cosine, sine) > 1e-9) {
          const away = (structure.centre[a] as number) / n - Math.atan2(sine, cosine) / (2 * Math.PI);
          expect(Math.abs(away - Math.round(away))).toBeLessThan(1e-9);
        }
      }
    }
    expect([...labels].filter((label) => label > 0)).toHaveLength(sets.flatMap(({ nodes }) => nodes).length);
    const volumes = structures.map(({ volume }) => volume);
    expect(volumes).toEqual(volumes.toSorted((a, b) => b - a));
  });

  it("are ranked in steps, the largest volume first, with the same bits in whatever order their parts come", () => {
    const extent = [250, 100, 4] as const;
    const one: Case = { extent, edge: [64, 32, 4], wraps: [false, false, false], connectivity: 6, share: 0.2 };
    const values = Float64Array.from({ length: 100_000 }, random);
    const coordinates = extent.map((n) => Float64Array.from({ length: n }, (_, i) => i)) as never;
    const [structures, again] = [0, 1].map(() =>
      joinParts(values, one, coordinates).structures.map(({ fragments: _, ...structure }) => structure),
    );
    expect(structures?.length).toBeGreaterThan(8192);
    expect(structures).toEqual(again);
    const volumes = structures?.map(({ volume }) => volume);
    expect(volumes).toEqual(volumes?.toSorted((a, b) => b - a));
  });

  it("are refused when they have too many fragments", () => {
    const options: StructureOptions = {
      ...{ of: 0, properties: [], side: "below", threshold: 1, connectivity: 6, wraps: [false, false, false] },
      ...{ labels: false, most: 1 },
    };
    const coordinates = [Float64Array.of(0, 1, 2), Float64Array.of(0), Float64Array.of(0)] as const;
    const box = {
      columns: [Float64Array.of(0, 1, 0)],
      weights: null,
      cell: 1,
      from: [0, 0, 0],
      shape: [3, 1, 1],
    } as const;
    const fragments = fragmentsOf(options, { ...box, coordinates, periods: [0, 0, 0] });
    expect(() => new JoinedFragments(options, [3, 1, 1], [3, 1, 1]).add(fragments)).toThrow("more than 1 fragments");
  });
});
